"""Several runs and several processes in one training log: their losses are never mixed."""

import numpy as np
import pytest

from toolreaders import read_file
from toolreaders.training.line_prefixes import label_of, without_prefix
from toolreaders.training.run_selection import Labels, select
from toolreaders.training.series import read_series

MEGATRON = (" iteration {i:8d}/     100 | consumed samples: {i} | elapsed time per iteration (ms): "
            "{t}.0 | lm loss: {loss:.6E} | loss scale: 1.0 | grad norm: 1.000 |\n")
NANOGPT = "iter {i}: loss {loss:.4f}, time {t}.00ms, mfu 1.00%\n"
VERL = "step:{i} - actor/pg_loss:{loss:.3f} - timing_s/step:0.0{t}\n"
TORCHTITAN = "step: {i:2}  loss: {loss:7.4f}  grad_norm:  1.0  memory:  1GiB\n"
MINDFORMERS = ("INFO - {{ Epoch:[  1/  2], step:[ {i:4d}/ 1000], loss: {loss:.3f}, per_step_time: "
               "{t}ms, lr: 0.0 }}\n")
KERAS = "Epoch 1/2\n{label}{i}/90 [==>...] - ETA: 1s - {t}ms/step - loss: {loss:.3f}\n"
SCRIPT = "epoch 1 step {i} loss {loss:.3f} step_time: {t} ms\n"
BARE = "step {i}: loss = {loss:.3f}\n"


def lines(form, steps, loss=2.0, time=10, label=""):
    return [label + form.format(i=i, loss=loss, t=time) for i in steps]


def codes(series):
    return [warning.code for warning in series.warnings]


@pytest.mark.parametrize("form", [MEGATRON, NANOGPT, VERL, TORCHTITAN])
def test_the_last_of_several_runs_is_a_curve_of_its_own(written, form):
    text = lines(form, range(1, 21), 2.0, 90) + lines(form, range(1, 13), 1.5, 10)
    reading = read_file(written("".join(text)))
    series = read_series(written("".join(text)))
    assert (series.steps.tolist(), set(series.losses)) == (list(range(1, 13)), {1.5})
    assert (codes(series), series.unprovable) == (["several_runs"], None)
    assert [(run["run"], run["points"], run["last"]) for run in reading.values["runs"]] == [
        (1, 20, 2.0), (2, 12, 1.5)]
    if form is not TORCHTITAN:
        assert reading.values["iteration_time_ms"]["mean"] == 10


@pytest.mark.parametrize("form", [BARE, "\r 5%|#| {i}/40 [00:01<00:01, loss={loss}]\n"])
def test_a_counter_that_starts_again_without_an_epoch_proves_nothing(written, form):
    series = read_series(written("".join(lines(form, range(5, 41, 5)) * 2)))
    assert series.unprovable == "steps_unproven"


@pytest.mark.parametrize("form", [MEGATRON, NANOGPT, MINDFORMERS])
def test_what_a_resumption_abandoned_is_of_no_run(written, form):
    text = lines(form, range(1, 31)) + lines(form, range(11, 21), 1.5)
    series = read_series(written("".join(text)))
    assert series.steps.tolist() == list(range(1, 21))
    assert series.losses.tolist() == [2.0] * 10 + [1.5] * 10
    assert codes(series) == ["abandoned_steps", "repeated_steps"]


LABELS = {
    "Megatron with a time": "[2026-01-02 03:04:05,678] [INFO] [RANK {rank}] ",
    "torchrun": "[default{rank}]: ", "rank": "[rank{rank}]:", "Megatron": "[RANK {rank}] ",
    "MindSpeed-MM": "[Rank {rank} | Local Rank 0] ", "mpirun": "[1,{rank}]<stdout>:",
    "srun": "{rank}: ", "compose": "npu-{rank}  | ", "Ray": "(Worker pid=10{rank}) ",
    "Ray on nodes": "(Worker pid=10{rank}, ip=10.0.0.{rank}) ", "pod": "[pod/train-{rank}/main] ",
}


@pytest.mark.parametrize("form", [MEGATRON, NANOGPT, MINDFORMERS, SCRIPT, VERL])
@pytest.mark.parametrize("name", LABELS)
def test_one_process_makes_the_curve(written, name, form):
    every = [line for step in range(1, 13) for rank in (3, 1, 2)
             for line in lines(form, [step], rank, rank, LABELS[name].format(rank=rank))]
    reading = read_file(written("".join(every)))
    series = read_series(written("".join(every)))
    assert (series.steps.tolist(), set(series.losses)) == (list(range(1, 13)), {1.0})
    assert codes(series) == ["interleaved_ranks"]
    assert [run["last"] for run in reading.values["runs"]] == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("label", ["npu-{rank}  | ", "{rank}: ", "[pod/train-{rank}/main] "])
def test_patterns_of_whole_lines_find_what_stands_behind_a_label(written, label):
    text = "".join(
        label.format(rank=rank)
        + KERAS.format(i=i, t=rank, loss=rank, label=label.format(rank=rank))
        for i in range(10, 91, 10) for rank in (1, 2))
    series = read_series(written(text))
    assert (series.steps.tolist(), set(series.losses)) == (list(range(10, 91, 10)), {1.0})


@pytest.mark.parametrize("form", [
    "epoch: 1 step: {i}, loss is {loss}\n", "Epoch: 0, Step: {i}, Rank: {rank}, loss = {loss}\n"])
def test_counters_of_epochs_are_kept_for_each_process(written, form):
    """Ranks that are in different epochs do not move each other's steps on."""
    text = "".join(
        (f"npu-{rank}  | " + form.format(i=step, loss=rank, rank=rank)).replace(
            "poch: 1", f"poch: {epoch}").replace("poch: 0", f"poch: {epoch}")
        for epoch, step in ((1, 1), (1, 2), (2, 1), (2, 2)) for rank in (1, 2))
    assert read_series(written(text)).steps.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("form", [MEGATRON, BARE])
def test_processes_without_labels_are_not_mixed(written, form):
    text = [lines(form, [step], loss)[0] for step in range(1, 21) for loss in (2.0, 1.5)]
    series = read_series(written("".join(text)))
    assert (series.unprovable, codes(series)[0]) == ("records_mixed", "records_mixed")
    for loss in (2.0, np.nan):
        again = [lines(form, [step], loss)[0] for step in range(1, 21) for _handler in (1, 2)]
        assert read_series(written("".join(again))).unprovable is None


def test_numbers_before_a_line_are_no_ranks():
    labels = Labels()
    for number in range(1, 9):
        labels.append(str(number))
    found = select(np.arange(8), np.ones(8), labels)
    assert (list(found.selected), found.runs) == (list(range(8)), [])


@pytest.mark.parametrize(("line", "label", "own"), [
    ("trainer-0  | text", "trainer-0", "text"),
    ("iteration-12 | loss 2", "", "iteration-12 | loss 2"),
    ("2026-01-01 | INFO | text", "", "2026-01-01 | INFO | text"),
    ("lora_rank: 8, step 3", "", "lora_rank: 8, step 3"),
    ("step 3 rank: 8 loss", "8", "step 3 rank: 8 loss"), ("12: text", "12", "text")])
def test_labels_of_lines(line, label, own):
    assert (label_of(line), without_prefix(line)) == (label, own)
