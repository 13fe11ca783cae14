"""Which cause of a log counts: what explains itself, what came first, who failed by itself."""

import pytest

from toolreaders.causes import cann_codes
from toolreaders.causes.log_parts import Part
from toolreaders.causes.search import LogSearch

WATCHDOG = ("[rank4]:[E1206 18:44:16.020255024 ProcessGroupNCCL.cpp:1515] [PG 1 Rank 4] Process "
            "group watchdog thread terminated with exception: [Rank 4] Watchdog caught collective "
            "operation timeout: WorkNCCL(SeqNum=7753, OpType=_REDUCE_SCATTER_BASE, NumelIn=5, "
            "NumelOut=6, Timeout(ms)=600000) ran for 600099 milliseconds before timing out.\n")
WAIT_0 = ("[rank0]: EI0002: [PID: 7] 2025-01-02-03:04:09.000.000 The wait execution of the Notify "
          "register times out. Reason: The Notify register has not received the Notify record.\n"
          "[rank0]:        Solution: 1. Check other ranks.\n")


def found(text):
    diagnosis = LogSearch([Part(text)]).cause()
    return diagnosis.cause, diagnosis.values


@pytest.mark.parametrize(("text", "code", "values"), [
    (WATCHDOG, "nccl_timeout", {"operation": "_REDUCE_SCATTER_BASE", "seconds": "600"}),
    ("[Rank 1] Timeout at NCCL work: 12, last enqueued NCCL work: 15.\n", "nccl_timeout", {}),
    ("torch.distributed.DistBackendError: NCCL error in: ../x.cpp:1, ncclRemoteError: A call "
     "failed possibly due to a network error or a remote process exiting prematurely.\n",
     "nccl_broken", {}),
    ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total "
     "capacity of 79.15 GiB of which 5.00 MiB is free.\n", "device_memory",
     {"wanted": "20.00 MiB", "card": "0", "total": "79.15 GiB"}),
    ("RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 3; 31.75 GiB total "
     "capacity; 29.0 GiB already allocated)\n", "device_memory",
     {"wanted": "2.00 GiB", "card": "3", "total": "31.75 GiB"}),
    ("RuntimeError: CUDA error: out of memory\n", "device_memory", {}),
    ("Last error:\nCuda failure 'out of memory'\n", "device_memory", {}),
    ("[1] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value "
     "store by key '0', but store->get('0') got error: Connection reset by peer\n", "nccl_broken",
     {}),
    ("RuntimeError: [../gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 1800000ms for "
     "recv operation to complete\n", "rank_missing", {}),
    ("RuntimeError: CUDA error: an illegal memory access was encountered\n", "illegal_access", {}),
    ("RuntimeError: CUDA error: device-side assert triggered\n", "device_assert", {}),
    ("Exception: Current loss scale already at minimum - cannot decrease scale anymore. Exiting "
     "run.\n", "loss_scale", {}),
    ("[ERROR] HCCL(7,python3):2025-07-23-03:47:57 [hccl_socket.cc:100] socket type[1], listen on "
     "ip[10.0.0.1] and specific port[16666] fail. Please check the port status and whether the "
     "port is been using by other process.\n[ERROR] HCCL(7,python3):2025-07-23-03:49:57 wait "
     "socket establish timeout, role[1] rank[12] timeout[120]\n", "port_in_use",
     {"port": "16666"}),
    ("[ 12.3] NVRM: Xid (PCI:0000:3b:00): 79, pid=77, GPU has fallen off the bus.\n", "xid",
     {"device": "PCI:0000:3b:00", "xid": "79", "text": "pid=77, GPU has fallen off the bus."}),
    ("torch.distributed.DistStoreError: wait timeout after 600000ms, keys: /default_pg/0\n",
     "rank_missing", {}),
    ("Exception: ASCEND_OPP_PATH environment variable is not set. Please check it.\n",
     "operator_path", {}),
    ("slurmstepd: error: *** STEP 9.0 ON n1 CANCELLED AT 2021-05-23T08:45:57 ***\n", "cancelled",
     {"time": "2021-05-23T08:45:57"}),
    ("slurmstepd: error: *** JOB 9 ON n1 CANCELLED AT 2021-05-23T08:45:57 DUE TO TIME LIMIT ***\n",
     "cancelled", {"time": "2021-05-23T08:45:57", "why": "TIME LIMIT"}),
])
def test_causes_of_the_gpu_side_and_of_the_environment(text, code, values):
    cause, shown = found(text)
    assert (cause.code, shown) == (code, values)
    assert cause.headline % shown


@pytest.mark.parametrize(("text", "code"), [
    ("NPU function error: aclrtSynchronizeStream, error code is 507035\n", "507035"),
    ("[ERROR] aclrtSynchronizeStream(stream) failed: 507035 (main.cpp:134)\n", "507035"),
    ("wait for compute device failed, runtime result = 507046.[FUNC:ReportCallError]\n", "507046"),
    ("[Error]: The vector core execution is abnormal.\n", "507035"),
    ("RuntimeError: ACL stream synchronize failed, error code:507018\n", "507018"),
    ("rtKernelLaunchWithHandleV2 failed: 507899\n", "507899"),
    ("EZ9999[PID: 347675] 2026-06-09-10:08:04.123.676 (EZ9999):  Kernel task happen error\n",
     "EZ9999"),
    ("[rank3]: EE1016: aclrtMallocAsync failed. Reason: The pool is closed.\n", "EE1016"),
])
def test_a_code_is_known_in_each_of_its_prints(text, code):
    assert found(text)[1]["ascend"] == code


def test_the_innermost_cause_comes_before_its_envelope():
    text = ("EZ9999: Inner Error!\nEZ9999: [PID: 1] there is an aicore error exception\n"
            "[rank0]:  The extend info: errcode:(0x800000, 0, 0) errorStr: The DDR address of the "
            "MTE instruction is out of range.CCU error.\n")
    cause, values = found(text)
    assert cause.headline % values == (
        "An operator was stopped on the card: The DDR address of the MTE instruction is out of "
        "range.")


def test_of_codes_that_failed_by_themselves_the_earlier_one_counts():
    later = "E40021: [PID: 1] 2025-01-02-03:04:09.000.000 Failed to compile Op [A].\n"
    earlier = "EE1012: [PID: 2] 2025-01-02-03:04:05.000.000 aclrtX failed. It is not valid.\n"
    plain = "EE1012: aclrtX failed. It is not valid.\n"
    assert found(later + earlier)[1]["ascend"] == "EE1012"
    assert found(later + plain)[1]["ascend"] == "E40021"


@pytest.mark.parametrize("own", [
    "[rank3]: ValueError: batch must be positive\n", "[rank3]: EZ9999: Something broke\n",
    "[rank3]: EE1012: aclrtX failed. It is not valid.\n",
    "[rank3]: ModuleNotFoundError: No module named 'apex'\n"])
def test_the_rank_that_failed_by_itself_comes_before_those_that_waited(own):
    cause, _values = found(WAIT_0 + own)
    assert not cause.waits
    assert found(WAIT_0)[0].waits


@pytest.mark.parametrize("wait", [WAIT_0, WATCHDOG, "hccl: wait socket establish timeout\n"])
def test_an_error_before_the_wait_is_its_cause_and_one_after_it_follows(wait):
    error = "ValueError: batch must be positive\n"
    assert found(error + wait)[0].code == "python_error"
    assert found(wait + error)[0].waits


def test_what_python_says_of_the_wait_is_no_cause_of_it():
    text = ("[rank3]: RuntimeError: call failed:x.cpp:1 NPU function error: aclrtX, error code is "
            "507046\n" + WAIT_0)
    assert found(text)[0].waits


def test_the_table_holds_every_class_of_codes_with_known_causes():
    rows = cann_codes.code_rows().values()
    assert {row.code[:2] for row in rows if row.code.startswith("E")} >= {
        "E1", "E2", "E3", "E4", "E8", "EE", "EH", "EI", "EJ", "EK", "EL", "EZ"}
    assert {row.code[:3] for row in rows if row.is_return} >= {"107", "207", "507"}
    shown_by_lines = {"card_alarm", "card_busy", "device_memory", "host_memory", "no_npu",
                      "operator_path", "port_in_use"}
    assert {row.cause for row in rows} - cann_codes.MEANINGS.keys() == shown_by_lines
    assert {row.table for row in rows} == cann_codes.TABLES.keys()
