"""What the log of a failed job says about the cause, by lines as the tools print them."""

import time

import pytest
from django.utils.translation import override

from toolreaders.causes import cann_codes
from workers.logs import diagnosis
from workers.logs.diagnosis import Part, find
from workers.models import Job

TRACEBACK = 'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n'
SHOWN = [
    (127, "sh: 1: npu-smi: not found", "tool_missing", {"name": "npu-smi"}),
    (127, "../command.4711: 3: exec: torchrun: not found", "tool_missing", {"name": "torchrun"}),
    (127, "../command.4711: line 3: exec: torchrun: not found", "tool_missing",
     {"name": "torchrun"}),
    (127, "bash: line 1: msprof: command not found", "tool_missing", {"name": "msprof"}),
    (127, "bash: 第 1 行: atc: 未找到命令", "tool_missing", {"name": "atc"}),
    (127, "/usr/bin/env: ‘python’: No such file or directory", "tool_missing", {"name": "python"}),
    (127, "bash: line 4: /opt/ascend/atc: No such file or directory", "tool_missing",
     {"name": "/opt/ascend/atc"}),
    (126, "sh: 1: ./train.sh: Permission denied", "not_executable", {"name": "./train.sh"}),
    (126, "bash: ./tool: cannot execute binary file: Exec format error", "other_architecture",
     {"name": "./tool"}),
    (2, "python3: can't open file '/root/p/train.py': [Errno 2] No such file or directory",
     "script_missing", {"path": "/root/p/train.py"}),
    (1, TRACEBACK + "ModuleNotFoundError: No module named 'torch_npu'", "module_missing",
     {"name": "torch_npu"}),
    (1, "[rank3]: ModuleNotFoundError: No module named 'apex'", "module_missing",
     {"name": "apex"}),
    (1, "/usr/bin/python3: No module named torch", "module_missing", {"name": "torch"}),
    (1, "/usr/bin/python3: Error while finding module specification for 'torch.distributed.run' "
     "(ModuleNotFoundError: No module named 'torch')", "module_missing", {"name": "torch"}),
    (1, "ImportError: cannot import name 'AdamW' from 'transformers' (/usr/lib/x.py)",
     "import_failed", {"name": "AdamW", "module": "transformers"}),
    (1, "ImportError: libhccl.so: cannot open shared object file: No such file or directory",
     "library_missing", {"name": "libhccl.so"}),
    (1, "OSError: [Errno 28] No space left on device: '/data/out/x.pt'", "disk_full", {}),
    (1, "RuntimeError: NPU out of memory. Tried to allocate 5.03 GiB (NPU 3; 60.96 GiB total "
     "capacity; 49.47 GiB already allocated; 1.32 GiB free; 57.55 GiB reserved in total by "
     "PyTorch)", "device_memory", {"wanted": "5.03 GiB", "card": "3", "total": "60.96 GiB"}),
    (1, "numpy.core._exceptions._ArrayMemoryError: x\nMemoryError", "host_memory", {}),
    (1, "RuntimeError: DataLoader worker (pid 77) is killed by signal: Bus error. It is possible "
     "that dataloader's workers are out of shared memory. Please try to raise your shared memory "
     "limit (shm)", "shared_memory", {}),
    (1, "AssertionError: Torch not compiled with CUDA enabled", "cuda_only", {}),
    (1, "dcmi module initialize failed. ret is -8005", "no_driver", {"ret": "-8005"}),
    (1, "dcmi model initialized failed, because the device is used. ret is -8020", "card_busy", {}),
    (1, "The driver version 23.0.0 does not match the CANN toolkit", "driver_mismatch", {}),
    (1, "torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. "
     "8/16 clients joined.", "rank_missing", {"seconds": "601", "joined": "8", "ranks": "16"}),
    (1, "torch.distributed.DistNetworkError: The server socket has failed to listen on any local "
     "network address. port: 29500, useIpv6: false, code: -98, name: EADDRINUSE, message: address "
     "already in use", "port_in_use", {"port": "29500"}),
    (1, "FileNotFoundError: [Errno 2] No such file or directory: '/data/ckpt/model.pt'",
     "checkpoint_missing", {"path": "/data/ckpt/model.pt"}),
    (1, "FileNotFoundError: [Errno 2] No such file or directory: '/data/train.json'",
     "file_missing", {"path": "/data/train.json"}),
    (2, "gpu2npu: error: argument -i/--input: /home/a/net does not exist or is not a directory",
     "file_missing", {"path": "/home/a/net"}),
    (78, "desk runtime: conda-missing", "runtime_conda_missing", {}),
    (78, "desk runtime: conda-missing /opt/c", "runtime_conda_missing", {"path": "/opt/c"}),
    (78, "desk runtime: modules-missing", "runtime_modules_missing", {}),
    (78, "desk runtime: engine-failed ", "runtime_engine_failed", {}),
    (1, "License check failed: no valid license for the tool", "licence", {}),
    (1, "  exitcode  : -9 (pid: 14750)\n  traceback : Signal 9 (SIGKILL) received by PID 14750",
     "killed", {"signal": "9", "name": "SIGKILL", "process": "14750"}),
    (1, "EI0002: [PID: 1] The wait execution of the Notify register times out.", "ascend_code",
     {"ascend": "EI0002", "text": "[PID: 1] The wait execution of the Notify register times out."}),
    (1, "[PID: 3448331] 2025-12-04-21:59:08.232.310 Execution Error ROCE CQE(EI0013): An error "
     "CQE occurred.", "ascend_code", {"ascend": "EI0013", "text": "An error CQE occurred."}),
    (1, "E10001: Value [x] for parameter [--soc_version] is invalid.", "ascend_code",
     {"ascend": "E10001", "module": "GE",
      "text": "Value [x] for parameter [--soc_version] is invalid."}),
    (1, "EZ9999: Inner Error!\nEZ9999: [PID: 1] Kernel task happen error", "ascend_code",
     {"ascend": "EZ9999", "module": "aclnn", "text": "[PID: 1] Kernel task happen error"}),
    (1, "RuntimeError: NPU function error: aclrtMemcpy, error code is 507018",
     "ascend_return_code", {"ascend": "507018"}),
    (1, "hccl: wait socket establish timeout, role[0] rank[0] timeout[120 s]", "hccl_timeout", {}),
    (1, TRACEBACK + "ValueError: batch must be positive", "python_error",
     {"type": "ValueError", "text": "batch must be positive"}),
]


@pytest.mark.parametrize(("status", "text", "code", "values"), SHOWN)
def test_the_cause_stands_in_the_log(status, text, code, values):
    found = find([Part(f"starting\n{text}\n")], status)
    assert (found.cause.code, found.values) == (code, values)
    assert found.line > 1
    assert found.quote
    assert found.quote in found.excerpt or "\n" in found.quote


def test_status_alone_never_blames_the_driver():
    with override("en"):
        found = find([Part("quiet\n")], 127)
        assert found.cause.headline == (
            "A command was not found (exit status 127); the log does not name it.")
        assert (found.line, found.excerpt) == (None, "quiet")


@pytest.mark.parametrize(("status", "values"), [
    (137, {"signal": 9, "name": "SIGKILL"}), (139, {"signal": 11, "name": "SIGSEGV"}),
    (143, {"signal": 15, "name": "SIGTERM"})])
def test_status_above_128_names_the_signal(status, values):
    assert find([], status).values == values


def test_memory_killer_is_named_only_when_the_kernel_counted_one():
    assert find([Part("Killed\n")], 137).cause.code == "killed"
    assert find([Part("Killed\n")], 137, oom_kills=2).cause.code == "oom_killer"
    rank = Part("  traceback : Signal 9 (SIGKILL) received by PID 3\n")
    assert find([rank], 1, oom_kills=1).cause.code == "oom_killer"
    assert find([Part("ValueError: x\n")], 1, oom_kills=1).cause.code == "python_error"


def test_the_cause_comes_before_what_follows_from_it():
    """One rank has no memory, the others wait for it, the launcher tells of it last."""
    log = ("EI0002: The wait execution of the Notify register times out.\n"
           "[rank3]: RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 3; 60.96 GiB "
           "total capacity)\n"
           "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n")
    assert find([Part(log)], 1).cause.code == "device_memory"


@pytest.mark.parametrize("text", [
    "WARNING: No module named 'apex', falling back to the native norm",
    "ldd: libfoo.so => not found", "step 3/10 loss 2.1", "Licensed under the Apache License",
    "E1119 20:57:27.620000 2606 site-packages/torch/distributed/api.py:869] starting",
    "the request returned 404: not found", "0x507018 allocated", "size mismatch for layer.weight"])
def test_lines_that_are_no_cause(text):
    assert find([Part(text + "\n")], 1) is None


def test_progress_bars_do_not_shift_the_line():
    text = " 10%|█\r 20%|██\r 30%|███\nMemoryError\n"
    assert find([Part(text)], 1).line == 2


@pytest.mark.slow
@pytest.mark.parametrize("line", [
    '{"a": "error b", ' * 60_000, "QUJD+/" * 200_000 + " error", "license " * 100_000,
    "x: " * 300_000 + "error", "driver " * 100_000 + "version error",
    "step 1 loss 2.0\n" * 300_000])
def test_long_lines_and_logs_are_looked_through_quickly(line):
    begun = time.process_time()
    assert find([Part(f"{line}\nMemoryError\n")], 1).cause.code == "host_memory"
    assert time.process_time() - begun < 5


def test_every_cause_has_remedy_and_source_and_is_found_again():
    for cause in diagnosis.ALL_CAUSES:
        assert cause.remedy or cause in (
            cann_codes.REASONED, cann_codes.UNKNOWN_CODE, cann_codes.UNKNOWN_RETURN)
        assert cause.source
        assert diagnosis.BY_CODE[cause.code, cause.headline].remedy == cause.remedy


HCCP = ("EJ0001: [PID: 35532] 2025-08-26-04:05:21.569.071 Failed to initialize the HCCP process. "
        "Reason: Maybe the last training process is running.\n")
WORKER = "(VllmWorker TP0 pid=35532) ERROR 08-26 04:05:22 [multiproc_executor.py:559] "
ADVICE = "        Solution: Wait for 10s after killing the last training process and try again.\n"
OWN = "Wait for 10s after killing the last training process and try again."
PORTS = "HCCL_NPU_SOCKET_PORT_RANGE"


@pytest.mark.parametrize(("text", "code", "headline", "remedy"), [
    ("RuntimeError: [ERROR] HCCL error in: torch_npu/x.cpp:64\n" + HCCP + ADVICE, "ascend_reason",
     "Failed to initialize the HCCP process. Reason: Maybe the last training process is running.",
     OWN),
    (WORKER + HCCP + WORKER + ADVICE, "ascend_reason", "Maybe the last training process", OWN),
    # the solution of another code is not this one's: the table's stands in its place
    (HCCP + "EZ9998: Something else\n" + ADVICE, "ascend_reason", "(EJ0001)",
     "npu-smi info lists the processes"),
    ("EE1001: [PID: 1] The argument is invalid.Reason: Set visible device failed, invalid "
     "device=8\n        Solution: 1.Check the input parameter range of the function.\n",
     "ascend_reason", "invalid device=8", "Check the input parameter range"),
    ("EF4000: Queue is full.\n        Possible Cause: 1. The reader is slow.\n"
     "        Solution: 1. Enlarge the queue.\n", "ascend_reason",
     "Queue is full. Possible cause: 1. The reader is slow.", "Enlarge the queue."),
    ("E40021: [PID: 1] 2024-05-21-11:57:54.167.645 Failed to compile Op [Add0]. (optype: [Add])\n"
     "        Solution: See the host log for details.\n", "ascend_reason",
     "(E40021): Failed to compile Op [Add0]. (optype: [Add])", "See the host log for details."),
    ("EE1002: Stream synchronize timeout.\n        Solution: 1. Check the interval.\n",
     "ascend_code", "one rank waits for another", "ddp_timeout"),
    ("EJ0003: [PID: 159] Failed to bind the IP port. Reason: The IP address and port have been "
     "bound already.\n        TraceBack (most recent call last):\n"
     "        host nic listen start failed, port[60000], return[11][FUNC:StartListenSocket]\n",
     "port_in_use", "port 60000", PORTS),
    ("EJ0003: Failed to bind the IP port. Reason: The IP address and port have been bound already.",
     "port_in_use", "port that the job needs is in use", "ss -ltnp"),
    ("[ERROR] HCCL(60570,): [HcclSocket][Listen] socket type[0], listen on ip[10.2.2.195] and "
     "specific port[16666] fail. Please check whether the port is being used by other process.",
     "port_in_use", "port 16666", PORTS),
    ("EZ9999: Inner Error!\nEZ9999: [PID: 1] there is an fftsplus aicore error exception\n"
     "   The extend info: errcode:(0x800000, 0x4000, 0) errorStr: The DDR address of the MTE "
     "instruction is out of range.CCU instruction address check error.\n"
     "RuntimeError: call failed, error code is 507035\n",
     "ascend_reason", "The DDR address of the MTE instruction is out of range.",
     "ASCEND_LAUNCH_BLOCKING=1"),
    ("error code is 507046\nEE1002: Stream synchronize timeout.\n        Possible Cause: 1. The "
     "timeout interval may be improperly set.\n        Solution: 1. Check the interval.\n",
     "ascend_code", "one rank waits for another", "ddp_timeout"),
    (TRACEBACK + "RuntimeError: [6] is setting up NCCL communicator and retrieving ncclUniqueId "
     "from [0] via c10d key-value store by key '0', but store->get('0') got error: Socket Timeout",
     "rank_missing", "longer than its time limit", "ddp_timeout"),
    ("EM0001: The queue went away.", "ascend_code",
     "No cause is known for EM0001 (Queue Schedule). The log says: The queue went away.", None),
    ("RuntimeError: call failed, error code is 507999", "ascend_return_code",
     "No cause is known for 507999", None),
])
def test_what_the_log_says_of_itself_comes_before_a_class_of_codes(text, code, headline, remedy):
    found = find([Part(text + "\n")], 1)
    assert found.cause.code == code
    assert headline in found.cause.headline % found.values
    if remedy is None:
        assert found.cause.remedy == ""
    else:
        assert remedy in found.cause.remedy % found.values


def test_a_cause_without_a_remedy_says_none():
    found = find([Part("EM0001: The queue went away.\n")], 1)
    job = Job(results={"diagnosis": {**found.as_json(), "judged": {
        "message": "It failed.", "values": {}}}})
    shown = diagnosis.presented(job)
    assert (shown["remedy"], shown["quote"]) == ("", "EM0001: The queue went away.")


def test_every_code_of_the_table_is_found_again_with_its_table():
    for code, row in cann_codes.code_rows().items():
        line = f"{code}: x" if code.startswith("E") else f"call failed, error code is {code}"
        found = find([Part(line + "\n")], 1)
        assert found.values["ascend"] == code
        assert found.cause.source == cann_codes.TABLES[row.table]
        assert found.cause.versions == row.versions
        assert found.cause.remedy
