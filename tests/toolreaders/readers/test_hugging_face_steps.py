"""Steps that Trainer does not print are inferred in bounded time, and only where they follow."""

import numpy as np
import pytest

from toolreaders import ReadError, read_file
from toolreaders.columns import Column
from toolreaders.training.hf_steps import Known, agreed_total, proven_steps
from toolreaders.training.series import read_series


def test_far_totals_are_not_searched_through(written):
    text = "{'loss': 1.0}\n{'loss': 0.5}\n 50%|#| 5/1000000000000 [00:01<00:01, 1it/s]\n"
    reading = read_file(written(text + "{'train_runtime': 9.0}\n"))
    assert reading.values["step_unit"] == "record"
    assert [warning.code for warning in reading.warnings] == ["steps_unknown"]


def proven(epochs, total, final_epoch=1.0):
    known = Known(Column(epochs), total, is_whole=True, final_epoch=final_epoch)
    found = proven_steps(len(epochs), known)
    return None if found is None else found.tolist()


def test_steps_follow_from_the_run_and_its_epochs():
    assert proven([0.02, 0.33, 0.67, 1.0], 30) == [1, 10, 20, 30]
    assert proven([0.33, 0.67, 1.0], 30) == [10, 20, 30]
    assert proven([0.33, 0.67, 1.0], 2) is None


def test_several_answers_are_none():
    assert proven([0.33, 0.67, 1.0], 30, final_epoch=None) is None  # 9, 18, 27 fits as well


def test_a_resumed_run_does_not_begin_at_its_first_interval():
    assert proven([1.2, 1.4, 1.6, 1.8, 2.0], 100, final_epoch=2.0) == [60, 70, 80, 90, 100]


@pytest.mark.parametrize(("stated", "bar", "rate", "seconds", "total"), [
    (None, None, 12.129, 206.123, 2500), (None, None, 12.13, 206.1, None),
    (None, 2500, 12.13, 206.1, 2500), (None, 2500, 12.129, 106.123, None),
    (100, 100, None, None, 100), (100, 200, None, None, None), (None, None, None, None, None),
    (None, None, 0.123, 81_300.5, None)])
def test_totals_have_to_agree_within_their_digits(stated, bar, rate, seconds, total):
    assert agreed_total(stated, bar, rate, seconds) == total


def console(steps, per_epoch, *, end="", bar=0, label=""):
    """Trainer's console: records of these steps, after each of them a bar with this end."""
    return "".join(
        f"{label}{{'loss': {5 - step / 1000:.4f}, 'grad_norm': 1.0, 'learning_rate': "
        f"{0.0 if step == bar else 1e-05}, 'epoch': {round(step / per_epoch, 2)}}}\n"
        + (f"\r 1%|  | {step}/{bar} [00:01<00:01, 1it/s]\n" if bar else "")
        for step in steps) + end


def summary(rate, seconds, epoch):
    return (f"{{'train_runtime': {seconds}, 'train_steps_per_second': {rate}, "
            f"'train_loss': 2.0, 'epoch': {epoch}}}\n")


RUNS = {
    "whole with a bar": (console(range(10, 401, 10), 100, bar=400, end=summary(5.0, 80.0, 4.0)),
                         list(range(10, 401, 10))),
    "resumed with a bar": (console(range(210, 401, 10), 100, bar=400, end=summary(5.0, 80.0, 4.0)),
                           list(range(210, 401, 10))),
    "cut at both ends": (console(range(110, 251, 10), 100, bar=400), list(range(110, 251, 10))),
    "whole without a bar": (
        console([1, *range(25, 101, 25)], 50).replace("1e-05", "0.0", -1)
        + summary(2.0, 50.0, 2.0), [1, 25, 50, 75, 100]),
}
PREPARED = "".join(
    f"\rRunning tokenizer (num_proc=16):  8%|▏  | {n}000/66440 [00:15<00:04, 2271.16 examples/s]\n"
    for n in range(1, 66))
LOADED = "".join(f"\rLoading checkpoint shards: {n}%|█ | {n}/90 [00:14<00:47]\n" for n in range(90))
RUNS["bars of data and weights"] = (PREPARED + RUNS["resumed with a bar"][0],
                                    RUNS["resumed with a bar"][1])
RUNS["stated total"] = (
    "[INFO|trainer.py:2316] >>   Total optimization steps = 400\n" + 3 * LOADED
    + RUNS["cut at both ends"][0], RUNS["cut at both ends"][1])
UNPROVEN = {
    "cut without a bar": console(range(110, 251, 10), 100),
    "stopped early without a bar": console(range(10, 101, 10), 100, end=summary(5.0, 80.0, 1.0)),
    "bar and rate disagree": console(
        range(10, 401, 10), 100, bar=400, end=summary(5.0, 100.0, 4.0)),
    "epochs that do not grow with the steps": console(
        range(10, 401, 10), 100, bar=400, end=summary(5.0, 80.0, 4.0)).replace(
            "'epoch': 2.0}", "'epoch': 2.6}").replace("'epoch': 2.5}", "'epoch': 2.6}"),
}


@pytest.mark.parametrize("name", RUNS)
def test_steps_that_are_proven(written, name):
    text, steps = RUNS[name]
    series = read_series(written(text))
    assert (series.steps.tolist(), series.step_unit, series.unprovable) == (steps, "step", None)


@pytest.mark.parametrize("name", UNPROVEN)
def test_steps_that_are_not_proven_are_ordinal(written, name):
    reading = read_file(written(UNPROVEN[name]))
    values = reading.values
    assert (values["step_unit"], values["steps_proven"]) == ("record", False)
    assert values["loss"]["first_step"] == 1
    assert "steps_unknown" in [warning.code for warning in reading.warnings]


def test_the_last_of_several_runs_counts(written):
    first = console(range(10, 401, 10), 100, bar=400, end=summary(5.0, 80.0, 4.0))
    second = console(range(10, 201, 10), 100, bar=200, end=summary(5.0, 40.0, 2.0))
    series = read_series(written(first + second.replace("'loss': 4", "'loss': 3")))
    assert (series.steps.tolist(), series.unprovable) == (list(range(10, 201, 10)), None)
    assert max(series.losses) < 4
    assert "several_runs" in [warning.code for warning in series.warnings]


def test_records_of_one_container_count(written):
    lines = [console([step], 100, label=f"npu-{rank}  | ").replace("': 4", f"': {rank}")
             for step in range(10, 60, 10) for rank in (1, 2)]
    series = read_series(written("".join(lines)))
    assert series.losses.tolist() == pytest.approx([1.99, 1.98, 1.97, 1.96, 1.95])
    assert "interleaved_ranks" in [warning.code for warning in series.warnings]


@pytest.mark.parametrize("text", [
    summary(5.0, 80.0, 4.0),
    "***** train metrics *****\n  epoch          =        2.0\n  train_loss               "
    "=     1.5\n  train_runtime            = 0:03:26.12\n  train_samples_per_second =     97.5\n"])
def test_a_run_with_its_summary_alone(written, text):
    reading = read_file(written(text))
    assert (reading.reader, reading.values["loss"]) == ("hf_trainer_console", None)
    assert reading.values["train_loss"] in (2.0, 1.5)
    assert [warning.code for warning in reading.warnings] == ["no_loss_points"]
    with pytest.raises(ReadError, match="no_loss_points"):
        read_series(written(text))


@pytest.mark.slow
def test_runs_that_were_resumed_often_take_linear_time(written):
    epochs = [1] * 5000 + [2, 3] * 20_000
    records = [f"{{'loss': {n}.5, 'epoch': {epoch}}}\n" for n, epoch in enumerate(epochs)]
    reading = read_file(written("".join(records)))
    assert reading.values["loss"]["points"] == 5002
    assert reading.values["loss"]["last"] == 44999.5
    [warning] = [w for w in reading.warnings if w.code == "repeated_steps"]
    assert (warning.line, "39998 earlier records" in warning.message) == (44_999, True)


def test_a_record_without_a_number_is_told_with_its_line(written):
    text = "".join(f"{{'loss': {loss}, 'step': {n}}}\n" for n, loss in enumerate("13x2", 1))
    reading = read_file(written(text))
    assert reading.values["loss"]["points"] == 3
    assert [(w.code, w.line) for w in reading.warnings] == [("damaged_lines", 3)]


def test_a_column_costs_nothing_before_its_first_number():
    column = Column([None, None, 1.5, None, float("nan")])
    assert np.array_equal(column.values, [np.nan, np.nan, 1.5, np.nan, np.nan], equal_nan=True)
    assert list(column.has_value) == [False, False, True, False, True]
    assert column.keep(np.array([1, 2])).known.tolist() == [1.5]
    assert Column([None]).keep(np.array([], dtype=int)).known.tolist() == []
    column.pop()
    column.append(2.5)
    assert column.known.tolist() == [1.5, 2.5]
