"""A file that holds two things gives both, or names the lines that were not read."""

import json

import pytest

from toolreaders import read_file
from toolreaders.command_line import main

NANOGPT = "".join(f"iter {n}: loss {4 - n / 10:.4f}, time 90.00ms, mfu 1.00%\n" for n in range(9))
SCORES = """\
|Tasks|Version|Filter|n-shot|Metric|   |Value |   |Stderr|
|-----|------:|------|-----:|------|---|-----:|---|-----:|
|gsm8k|      3|strict|     5|exact_match|↑|0.8036|±|0.0109|
"""


def told(part):
    return part.kind, part.first_line, part.last_line


def test_two_training_logs_are_told_apart(sample):
    reading = read_file(sample("mixed/two_tools_in_one_file.txt"))
    (part,) = reading.parts
    assert (reading.reader, reading.values["loss"]["points"]) == ("nanogpt_log", 11)
    assert (part.reader, *told(part)) == ("openmmlab_text_log", "training_log", 1, 6)
    assert (part.values["loss"]["first"], part.values["loss"]["last"]) == (2.7522, 2.4566)
    assert [(w.code, w.line) for w in reading.warnings] == [("other_part", 1)]


def test_the_state_of_the_machine_stands_beside_the_training(sample):
    reading = read_file(sample("mixed/nvidia_smi_then_training.txt"))
    (part,) = reading.parts
    validation = reading.values["evaluation"]["val_loss"]
    assert (validation["first"], validation["last"]) == (10.8258, 2.9193)
    assert (reading.values["loss"]["points"], reading.values["total_steps"]) == (0, 7050)
    assert reading.values["iteration_time_ms"]["median"] == pytest.approx(223, abs=25)
    assert (part.kind, part.values["driver_version"], len(part.values["gpus"])) == (
        "nvidia_smi", "550.90.07", 8)  # fmt: skip


def test_a_version_file_behind_a_failed_query(sample):
    reading = read_file(sample("mixed/npu_smi_failure_and_cann.txt"))
    (part,) = reading.parts
    assert reading.values["error"]["ret"] == -8020
    assert (told(part), part.values["version"]) == (("version_info", 4, 11), "8.0.0")
    assert part.values["lines"]["version"] == 6


@pytest.mark.slow
def test_parts_of_a_long_log(sample, written):
    noise = 9_000
    table = sample("node/24.1.rc1.b030_910B3_8cards.txt").read_text()
    more = "".join(f"iter {n}: loss 2.5, time 90.00ms, mfu 1.00%\n" for n in range(9, 9 + noise))
    count = (table + NANOGPT + more).count("\n")
    reading = read_file(written(table + NANOGPT + more + SCORES))
    assert (reading.kind, reading.values["loss"]["points"]) == ("training_log", 9 + noise)
    state, scores = reading.parts
    assert (state.kind, state.values) == ("npu_smi", read_file(
        sample("node/24.1.rc1.b030_910B3_8cards.txt")).values)
    assert (told(scores), scores.values["scores"][0]["value"]) == (
        ("evaluation", count + 1, count + 3), 0.8036)


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_part_amid_a_long_log(written, encoding):
    more = [f"iter {n}: loss 2.5, time 90.00ms, mfu 1.00%\n" for n in range(30_000)]
    more.insert(20_000, "\n" + SCORES + "\n")
    reading = read_file(written("".join(more).encode(encoding)))
    (scores,) = reading.parts
    assert (reading.values["loss"]["points"], *told(scores)) == (
        30_000, "evaluation", 20_002, 20_004)


def test_a_part_that_is_damaged_is_named_with_its_lines(written):
    table = "| NVIDIA-SMI 550.90.07    Driver Version: 550.90.07    CUDA Version: 12.4 |\n| GPU |\n"
    reading = read_file(written(NANOGPT + table + NANOGPT.replace("iter ", "iter 1")))
    (part,) = reading.parts
    assert (part.values, part.error["code"], part.first_line) == (None, "damaged_file", 10)
    assert ("part_not_read", 10) in [(w.code, w.line) for w in reading.warnings]


@pytest.mark.parametrize("name", [
    "training/v4_gpt2_fp32.stdout.log", "training/imagenet_S_bf16.log", "node/pip_frameworks.txt",
    "performance/ascend_qwen3-8b_serve.console.txt", "performance/ceval_md.txt"])
def test_a_file_of_one_thing_has_no_parts(name, sample):
    assert read_file(sample(name)).parts == []


def test_parts_are_printed(sample, capsys):
    main(["read", "--json", str(sample("mixed/two_tools_in_one_file.txt"))])
    (part,) = json.loads(capsys.readouterr().out)["parts"]
    assert {"kind", "reader", "first_line", "last_line", "values", "error"} == part.keys()
    main(["read", str(sample("mixed/two_tools_in_one_file.txt"))])
    assert "part training_log (lines 1 to 6):" in capsys.readouterr().out


def test_experiments_of_one_file_keep_their_own_losses_and_times(sample):
    values = read_file(sample("mixed/hf_several_experiments.txt")).values
    first, second = values["runs"]
    assert (first["points"], first["first"], first["last"]) == (48, 1.2208, 0.3466)
    assert (first["train_runtime_s"], second["train_runtime_s"]) == (2871.3103, 2779.2046)
    assert (second["first"], second["last"], second["last_epoch"]) == (1.2122, 0.4729, 40.0)
    assert values["train_runtime_s"] == 2779.2046


def test_a_run_that_broke_off_has_no_time_of_the_run_before(sample, written):
    lines = sample("mixed/hf_several_experiments.txt").read_text().splitlines(keepends=True)
    values = read_file(written("".join(lines[:80]))).values
    assert [run["train_runtime_s"] for run in values["runs"]] == [2871.3103, None]
    assert not {"throughput", "train_runtime_s"} & values.keys()


def test_rates_are_those_of_the_run_that_counts(sample):
    values = read_file(sample("mixed/two_runs_interleaved.txt")).values
    assert [run["points"] for run in values["runs"]] == [5, 4]
    assert values["throughput"] == {"tokens_per_second": 10028.0, "tflops": 314.02}
