"""Steps that Trainer does not print are inferred in bounded time, and only where they follow."""

import numpy as np

from workers.readers import read_file
from workers.readers.columns import Column
from workers.readers.training.hf_records import infer_steps


def test_far_totals_are_not_searched_through(written):
    text = "{'loss': 1.0}\n{'loss': 0.5}\n 50%|#| 5/1000000000000 [00:01<00:01, 1it/s]\n"
    reading = read_file(written(text + "{'train_runtime': 9.0}\n"))
    assert reading.values["step_unit"] == "record"
    assert [warning.code for warning in reading.warnings] == ["steps_unknown"]


def test_steps_follow_from_the_run_and_its_epochs():
    epochs = Column([0.02, 0.33, 0.67, 1.0])
    assert infer_steps(4, 30, epochs).tolist() == [1, 10, 20, 30]
    assert infer_steps(3, 30, Column([0.33, 0.67, 1.0])).tolist() == [10, 20, 30]
    assert infer_steps(3, 2, epochs) is None


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
    assert column.is_told.tolist() == [False, False, True, False, True]
    assert column.keep(np.array([1, 2])).known.tolist() == [1.5]
    assert Column([None]).keep(np.array([], dtype=int)).known.tolist() == []
    column.pop()
    column.append(2.5)
    assert column.known.tolist() == [1.5, 2.5]
