"""Logs whose step numbers prove nothing are brought together by what else they print."""

from array import array

import pytest

from toolreaders.columns import Column
from toolreaders.curves.alignment import align
from toolreaders.curves.matching import matched, relative_tolerance
from toolreaders.training.run_conditions import RunConditions
from toolreaders.training.series import LossSeries, read_series


def trainer(count, *, first=0, epoch=lambda n: 0.25 * n, rate=lambda n: 5e-5 - 1e-6 * n,
            factor=1.0) -> str:
    return "".join(
        f"{{'loss': {factor * (4 - 0.1 * n):.4f}, 'grad_norm': 1.5, 'learning_rate': {rate(n)!r}, "
        f"'epoch': {epoch(n):.4g}}}\n" for n in range(first + 1, first + count + 1))


@pytest.fixture
def series(written):
    return lambda text: read_series(written(text, "log"))


def test_a_candidate_that_was_cut_covers_a_part(series):
    aligned = align(series(trainer(10)), series(trainer(6)))
    assert (aligned.method, aligned.steps.tolist(), aligned.coverage) == (
        "epoch_and_learning_rate", [1, 2, 3, 4, 5, 6], 0.6)
    assert "aligned_by_epoch_and_learning_rate" in {w.code for w in aligned.warnings}


def test_a_later_start_is_found_by_its_epoch(series):
    aligned = align(series(trainer(10)), series(trainer(7, first=3)))
    assert (aligned.steps.tolist(), aligned.is_start) == ([4, 5, 6, 7, 8, 9, 10], False)
    assert aligned.baseline == aligned.candidate


@pytest.mark.parametrize("other", [
    {"rate": lambda n: 5e-5 - 1e-6 * n if n < 7 else 1e-5},  # part at the seventh record
    {"epoch": lambda n: 0.2 * n},
    {"rate": lambda n: 1e-4},
])
def test_records_that_part_are_not_brought_together(series, other):
    aligned = align(series(trainer(10)), series(trainer(10, **other)))
    assert (aligned.unprovable, len(aligned.steps)) == ("steps_unproven", 0)


def test_equal_keys_of_two_records_prove_nothing(series):
    logs = [series(trainer(10, epoch=lambda n: n // 2, rate=lambda n: 1e-4)) for _log in "ab"]
    assert matched(*logs) is None


def test_a_nan_of_a_record_without_counterpart_counts(series):
    aligned = align(series(trainer(6)), series(trainer(7) + "{'loss': nan, 'grad_norm': 1.0, "
                                               "'learning_rate': 1e-09, 'epoch': 2.0}\n"))
    assert (aligned.nonfinite, aligned.lone_nonfinite.tolist()) == (1, [8])


def unnumbered(samples, losses, meaning="point") -> LossSeries:
    return LossSeries(
        array("q", range(1, len(losses) + 1)), array("d", losses), 1, meaning, 1,
        step_unit="record", unprovable="steps_unproven",
        conditions=RunConditions({"consumed_samples": array("d", samples)}))


def test_consumed_samples_go_before_epochs():
    aligned = align(unnumbered([8, 16, 24, 32], [4, 3, 2, 1]),
                    unnumbered([16, 24, 32, 40], [3, 2, 1, 0.5]))
    assert (aligned.method, aligned.steps.tolist(), aligned.candidate.tolist()) == (
        "consumed_samples", [2, 3, 4], [3, 2, 1])


def test_means_over_other_windows_are_not_compared():
    one = unnumbered([8, 16, 24, 32], [4, 3, 2, 1], "window_mean")
    assert matched(one, unnumbered([16, 32, 48, 64], [3, 2, 1, 0.5], "window_mean")) is None
    assert matched(one, one).method == "consumed_samples"


def test_a_log_that_counts_samples_meets_one_that_prints_them():
    samples = LossSeries(array("q", [8, 16, 24]), array("d", [3, 2, 1]), 8, "point", 0,
                         step_unit="sample")
    steps = LossSeries(array("q", [1, 2, 3]), array("d", [3, 2, 1]), 1, "point", 1,
                       conditions=RunConditions({"consumed_samples": array("d", [8, 16, 24])}))
    aligned = align(samples, steps)
    assert (aligned.method, aligned.steps.tolist(), aligned.unprovable) == (
        "consumed_samples", [8, 16, 24], None)


@pytest.mark.parametrize(("values", "digits"), [
    ([1e-4] * 20, 4), ([1.0 + n / 100 for n in range(50)], 3),
    ([1.0 + n / 7000 for n in range(50)], 9)])
def test_the_printed_digits_bound_a_difference(values, digits):
    assert relative_tolerance(values) == pytest.approx(10.0 ** (1 - digits))


def test_a_column_of_nothing_is_kept_as_nothing():
    assert len(Column.lacking(3).keep([0, 2])) == 2
