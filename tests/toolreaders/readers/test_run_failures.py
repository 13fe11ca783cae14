"""Why a run stopped: memory, libraries, error codes of the run time, in any training log."""

from pathlib import Path

import pytest

from toolreaders import ReadError, read_file
from toolreaders.training.series import read_series

OOM_GPU = ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a "
           "total capacity of 79.15 GiB of which 5.00 MiB is free.\n")
OOM_NPU = ("RuntimeError: NPU out of memory. Tried to allocate 1.16 GiB (NPU 0; 60.97 GiB total "
           "capacity; 58.1 GiB already allocated; 800 MiB free)\n")
IMPORT = ("ImportError: libhccl.so: cannot open shared object file: No such file or directory. "
          "Please check that the cann package is installed.\n")
MODULE = "ModuleNotFoundError: No module named 'torch_npu'\n"
AICPU = "E39999: Inner Error!\nE39999  Aicpu kernel execute failed, device_id=0, stream_id=2\n"
HCCL = "[PID: 77] 2026-01-02-03:04:05.678.901 EI0002: The wait execution of the Notify times out.\n"
TORCH_NPU = ("[ERROR] 2026-01-02-03:04:05 (PID:77, Device:0, RankID:-1) ERR99999 UNKNOWN "
             "application exception\n")
STACK = "Traceback (most recent call last):\n  File \"train.py\", line 3, in <module>\n"

LOSSES = {
    "text": "".join(f"step {n}: loss = 2.{n}\n" for n in range(1, 5)),
    "Megatron": "".join(f"iteration {n}/ 9 | lm loss: 2.{n} |\n" for n in range(1, 5)),
    "nanoGPT": "".join(f"iter {n}: loss 2.{n}000, time 5.00ms\n" for n in range(1, 5)),
    "Trainer": "".join(f"{{'loss': 2.{n}, 'epoch': 0.{n}, 'step': {n}}}\n" for n in range(1, 5)),
}
KINDS = {OOM_GPU: "out_of_memory", OOM_NPU: "out_of_memory", IMPORT: "import_failed",
         MODULE: "import_failed", AICPU: "runtime_error_code", HCCL: "runtime_error_code",
         TORCH_NPU: "runtime_error_code", STACK: "traceback"}


@pytest.mark.parametrize("form", LOSSES)
@pytest.mark.parametrize("text", KINDS)
def test_a_training_log_tells_why_it_ends(written, form, text):
    reading = read_file(written(LOSSES[form] + text))
    assert reading.kind == "training_log"
    assert reading.values["failures"][0]["kind"] == KINDS[text]
    assert [(w.code, w.line) for w in reading.warnings if w.code == KINDS[text]] == [
        (KINDS[text], 5)]
    assert KINDS[text] in [w.code for w in read_series(written(LOSSES[form] + text)).warnings]


@pytest.mark.parametrize(("text", "codes"), [
    (AICPU, ["E39999"]), (TORCH_NPU, ["ERR99999"]), (HCCL, ["EI0002"]),
    (STACK + "RuntimeError: ACL stream synchronize failed\n" + AICPU, ["E39999"])])
def test_a_run_that_failed_before_its_first_loss_is_no_conversion(written, text, codes):
    reading = read_file(written(text))
    assert (reading.reader, reading.kind) == ("run_failure", "tool_log")
    assert reading.values["codes"] == codes
    assert reading.values["succeeded"] is False


@pytest.mark.parametrize("text", [
    "E10001: Value [-1] for parameter [input_2] is invalid.\n",
    "EZ3003: No supported Ops kernel and engine are found for [Conv_1], optype [Convx].\n"])
def test_codes_of_a_conversion_stay_one(written, text):
    assert read_file(written(text)).kind == "conversion_log"


def test_memory_that_ran_out_before_the_first_loss_keeps_its_sizes(written):
    reading = read_file(written("INFO start\n" + OOM_NPU))
    assert (reading.kind, reading.values["ooms"]) == ("memory", 1)
    assert [warning.code for warning in reading.warnings] == ["out_of_memory"]


@pytest.mark.parametrize("text", [
    STACK + "KeyboardInterrupt\n", STACK + "ModuleNotFoundError: No module named 'flask'\n",
    "try:\n    import torch_npu\nexcept ImportError: pass\nprint(1)\n",
    "The code E39999 is explained below; out of memory means that nothing is left.\n" * 3])
def test_programs_and_prose_are_no_failures(written, text):
    with pytest.raises(ReadError, match="unknown_format"):
        read_file(written(text))


def test_a_log_without_failures_has_none(written):
    for text in LOSSES.values():
        reading = read_file(written(text))
        assert (reading.values["failures"], reading.warnings) == (None, [])


SAMPLES = Path(__file__).parents[2] / "samples" / "failures"
GENUINE = {
    "cuda_oom_without_figures": ([], "script", "The memory of a GPU was not enough"),
    "ee1002_507046": (["EE1002", "ERR00100", "507046"], "cluster", "one rank waits for another"),
    "ej0001": (["ERR02200", "EJ0001"], "environment", "Maybe the last training process is running"),
    "ej0003": (["ERR02200", "EJ0003"], "environment", "HCCL cannot listen on port 60000"),
    "mte_address": (["EZ9999"], "script", "The DDR address of the MTE instruction is out of range"),
    "nccl_watchdog": ([], "cluster", "NCCL (_REDUCE_SCATTER_BASE) timed out after 600 s"),
    "opp_path_missing": ([], "environment", "ASCEND_OPP_PATH is not set"),
    "port_16666": ([], "environment", "HCCL cannot listen on port 16666"),
    "runtime_507035": (["507035", "ERR00100"], "script", "on the vector core failed (507035)"),
    "runtime_ez9999_new_layout": (["EZ9999", "507035"], "script", "ub address out of bounds"),
    "store_timeout": ([], "cluster", "it was still preparing data"),
}


@pytest.mark.parametrize("name", GENUINE)
def test_a_genuine_log_of_a_failure_names_its_codes_and_its_cause(name):
    codes, fault, sentence = GENUINE[name]
    reading = read_file(SAMPLES / f"{name}.txt")
    cause = reading.values["cause"]
    assert (reading.kind, set(reading.values["codes"])) == ("tool_log", set(codes))
    assert (cause["fault"], sentence in cause["sentence"]) == (fault, True)
    assert cause["remedy"]
    assert cause["source"].startswith("http")
    lines = (SAMPLES / f"{name}.txt").read_text("utf-8").splitlines()
    assert cause["quote"][:60] in lines[cause["line"] - 1]


def test_a_training_log_names_the_cause_beside_its_losses(written):
    end = "slurmstepd: error: *** STEP 1.0 ON n CANCELLED AT 2021-05-23T08:45 ***\n"
    cause = read_file(written(LOSSES["text"] + end)).values["cause"]
    assert (cause["cause"], cause["line"], cause["values"]) == (
        "cancelled", 5, {"time": "2021-05-23T08:45"})


@pytest.mark.parametrize("text", [
    "tests failed: 507035 of 600000\nstep done\n", "E12345: not a code of CANN\n" * 3,
    "result = 507035\n", "ranks: Xid 3\n"])
def test_numbers_and_words_of_others_are_no_codes(written, text):
    assert read_file(written(LOSSES["text"] + "run: " + text)).values["failures"] is None


@pytest.mark.parametrize(("below", "kind"), [
    ("   Kernel task happen error, retCode=0x26, [aicore exception].[FUNC:PreCheckTaskErr]\n",
     "tool_log"),
    ("   build graph failed, graph id:0, ret:-1[FUNC:BuildModel]\n", "conversion_log")])
def test_what_stands_beside_ez9999_tells_a_run_from_a_conversion(written, below, kind):
    text = "EZ9999: Inner Error!\n        TraceBack (most recent call last):\n" + below
    assert read_file(written(text)).kind == kind
