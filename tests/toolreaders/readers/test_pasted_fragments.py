"""Fragments as people paste them: without head or tail, a single record, of the newest releases."""

import pytest

from toolreaders import ReadError, read_file


@pytest.fixture
def values(sample):
    return lambda name: read_file(sample(f"pasted/{name}.txt")).values


def test_rows_of_npu_smi_without_a_head(sample):
    reading = read_file(sample("pasted/npu_smi_without_head.txt"))
    assert [chip["hbm_used_mb"] for chip in reading.values["chips"]] == [3389, 3380, 3379, 3380]
    assert reading.values["all_healthy"] is None
    assert {w.code for w in reading.warnings} >= {"truncated_record", "version_missing"}


def test_a_chip_whose_first_row_is_cut_is_not_healthy(sample, written):
    text = sample("pasted/npu_smi_without_head.txt").read_text()
    cut = text[: text.index("45                0")] + "45                0\n"
    reading = read_file(written(cut))
    assert (len(reading.values["chips"]), reading.values["all_healthy"]) == (4, None)
    assert "truncated_record" in {w.code for w in reading.warnings}


def test_the_head_of_nvidia_smi_610(values):
    found = values("nvidia_smi_b200")
    assert (found["driver_version"], found["cuda_version"]) == ("610.43.02", "13.3")
    assert [gpu["name"] for gpu in found["gpus"]] == ["NVIDIA B200"]


def test_nccl_tests_stand_beside_hccl_test(values):
    found = values("nccl_tests")
    row = found["rows"][-1]
    assert (found["largest_bytes"], found["bandwidth_gb_s"], found["operation"]) == (
        65536, 0.96, "all_reduce_perf")
    assert (row["time_us"], row["bus_bandwidth_gb_s"], row["check"]) == (67.93, 0.96, "success")
    assert row["in_place"] == {"time_us": 64.71, "bandwidth_gb_s": 1.01, "bus_bandwidth_gb_s": 1.01}
    assert (found["asked_bytes"], found["iterations"]) == ([8192, 8589934592], 100)


GATHER = """\
#       size         count    type   redop    root     time   algbw   busbw   error     time   algbw
#        (B)    (elements)                             (us)  (GB/s)  (GB/s)             (us)  (GB/s)
     1048576        262144   float     sum            95.50   10.98   19.21   5e-07    94.10   11.14   19.50   5e-07
     1048576        262144   float     sum            91.25   11.49   20.11   5e-07    90.75   11.55   20.22   5e-07
# Avg bus bandwidth    : 19.76
"""  # noqa: E501


def test_nccl_tests_of_old_releases_print_an_error_and_judge_nothing(written):
    reading = read_file(written(GATHER))
    assert (reading.values["bandwidth_gb_s"], reading.values["unchecked"]) == (11.49, 2)
    assert reading.values["average_bus_bandwidth_gb_s"] == 19.76
    assert [(w.code, w.line) for w in reading.warnings] == [("several_results", 4)]


def test_a_wrong_result_of_nccl_is_told(sample, written):
    text = sample("pasted/nccl_tests.txt").read_text().replace("0    64.71", "3    64.71")
    reading = read_file(written(text))
    assert (reading.values["failed"], reading.warnings[0].code) == (1, "wrong_result")


def test_one_record_is_a_training_log(values, written):
    found = values("mindspore_one_point")
    assert (found["loss"]["points"], found["loss"]["first"]) == (1, 2.301417112350464)
    assert found["iteration_time_ms"]["mean"] == 1648.795
    found = values("loss_in_one_line")
    assert (found["loss"]["last"], found["step_unit"]) == (0.3585, "epoch")
    assert found["evaluation"]["accuracy"] == 0.8235294117647058
    for text in ("starting\nstep 3/10, loss: 2.25\n", "[INFO] [Rank 0] step: 8, loss: 2.25\n"):
        assert read_file(written(text)).values["loss"]["last"] == 2.25


@pytest.mark.parametrize("text", [
    "In step 3 the loss of 0.5 dB is added.\n", "step 1: loss weights are read\n",
    "the loss at epoch 3 was 0.5\n"])
def test_a_sentence_is_no_record(text, written):
    with pytest.raises(ReadError, match="unknown_format"):
        read_file(written(text))


def test_evaluations_of_paddlenlp(values):
    found = values("paddle_record_over_lines")
    assert (found["loss"]["last_step"], found["loss"]["last"]) == (10, 1.5980545)
    assert found["evaluation"]["eval_loss"] == 0.030200611799955368


def test_the_end_of_a_comparison_names_operators(values):
    found = values("compare_analyse_table")
    assert (found["first_deviating"], found["min_cosine"]) == ("Mul_6", 0.6722)
    assert (found["deviating"], found["min_cosine_name"]) == (1, "Mul_6")


def test_a_tutorial_of_hccn_tool_is_no_measurement(sample):
    with pytest.raises(ReadError, match="unknown_format"):
        read_file(sample("pasted/hccn_tutorial.txt"))
