"""Two curves on common steps: shifted, averaged into windows, and what is warned about."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.assessments.conftest import curve
from toolreaders.curves.alignment import align
from toolreaders.verdicts.verdict import curve_figures

WAVY = 3 + np.sin(np.arange(100) / 3) / 2


def codes(aligned) -> list[str]:
    return [warning.code for warning in aligned.warnings]


def test_equal_curves_have_full_coverage_and_no_warning():
    aligned = align(curve(WAVY), curve(WAVY))
    assert (aligned.coverage, aligned.nonfinite, codes(aligned)) == (1.0, 0, [])


def test_a_tool_that_counts_from_zero_is_moved_and_said_so():
    aligned = align(curve(WAVY, first=1, base=1), curve(WAVY, first=0, base=0))
    assert aligned.steps.tolist() == list(range(1, 101))
    assert np.array_equal(aligned.baseline, aligned.candidate)
    assert codes(aligned) == ["step_base"]


def test_steps_shifted_without_the_tools_saying_so_are_suspected():
    aligned = align(curve(WAVY, first=1), curve(WAVY, first=2))
    assert "steps_may_be_shifted" in codes(aligned)


def test_points_are_averaged_into_the_windows_of_the_other_log():
    windows = WAVY.reshape(10, 10).mean(axis=1)
    aligned = align(curve(WAVY), curve(windows, first=10, interval=10, meaning="window_mean"))
    assert aligned.steps.tolist() == list(range(10, 101, 10))
    assert aligned.baseline == pytest.approx(windows, rel=1e-12)
    assert (aligned.coverage, codes(aligned)) == (1.0, ["interval_meaning", "few_points"])


def test_means_of_short_windows_are_averaged_into_long_ones():
    fives = curve(WAVY.reshape(20, 5).mean(axis=1), first=5, interval=5, meaning="window_mean")
    tens = curve(WAVY.reshape(10, 10).mean(axis=1), first=10, interval=10, meaning="window_mean")
    aligned = align(tens, fives)
    assert aligned.candidate == pytest.approx(aligned.baseline, rel=1e-12)
    assert len(aligned.steps) == 10


def test_a_first_record_after_one_step_is_a_window_of_one_step():
    """HF Trainer prints step 1, then every tenth."""
    series = curve([WAVY[0], WAVY[1:10].mean(), WAVY[10:20].mean()])
    series.steps, series.interval, series.meaning = np.array([1, 10, 20]), 10, "window_mean"
    aligned = align(series, curve(WAVY))
    assert aligned.candidate == pytest.approx(series.losses, rel=1e-12)


def test_a_window_with_a_missing_point_is_left_out():
    holed = curve(WAVY)
    holed.steps, holed.losses = np.delete(holed.steps, 14), np.delete(holed.losses, 14)
    tens = curve(WAVY.reshape(10, 10).mean(axis=1), first=10, interval=10, meaning="window_mean")
    assert 20 not in align(tens, holed).steps


def test_a_nan_spoils_its_own_window_only():
    losses = WAVY.copy()
    losses[14] = np.nan
    tens = curve(WAVY.reshape(10, 10).mean(axis=1), first=10, interval=10, meaning="window_mean")
    aligned = align(tens, curve(losses))
    assert (aligned.nonfinite, aligned.first_nonfinite_step) == (1, 20)


def test_a_nan_between_the_common_steps_counts():
    losses = WAVY.copy()
    losses[14] = np.inf
    aligned = align(curve(WAVY[9::10], first=10, interval=10), curve(losses))
    assert (len(aligned.steps), aligned.nonfinite, aligned.first_nonfinite_step) == (10, 1, 15)


def test_steps_and_epochs_have_no_common_axis():
    aligned = align(curve(WAVY), curve(WAVY, unit="epoch"))
    assert (len(aligned.steps), codes(aligned)) == (0, ["step_unit"])


@pytest.mark.parametrize("code", ["steps_unproven", "records_mixed"])
@pytest.mark.parametrize("side", [0, 1])
def test_steps_that_a_log_does_not_prove_are_not_compared(code, side):
    pair = [curve(WAVY), curve(WAVY)]
    pair[side].unprovable = code
    aligned = align(*pair)
    assert (len(aligned.steps), aligned.unprovable, codes(aligned)) == (0, code, [code])


def test_another_data_order_is_suspected():
    rng = np.random.default_rng(7)
    noise = rng.normal(0, 0.1, (2, 500))
    aligned = align(curve(3 + noise[0]), curve(3 + noise[1]))
    assert codes(aligned) == ["data_order_differs"]


def test_a_loss_near_zero_is_warned_about():
    assert "loss_near_zero" in codes(align(curve(WAVY - 2.5), curve(WAVY - 2.5)))


def test_the_window_is_inclusive_on_both_sides():
    inside = align(curve(WAVY), curve(WAVY)).window(11, 20)
    assert (inside.steps.tolist(), inside.baseline_points) == (list(range(11, 21)), 10)


@given(first=st.lists(st.integers(0, 60), unique=True, max_size=40),
       second=st.lists(st.integers(0, 60), unique=True, max_size=40))
def test_common_steps_are_the_intersection(first, second):
    series = []
    for steps in (first, second):
        found = curve(np.ones(len(steps)))
        found.steps = np.array(sorted(steps), dtype=int)
        series.append(found)
    aligned = align(*series)
    assert aligned.steps.tolist() == sorted(set(first) & set(second))
    assert aligned.coverage == (len(aligned.steps) / len(first) if first else 0)


@given(st.lists(st.floats(0.5, 20), min_size=1, max_size=60))
def test_a_curve_never_differs_from_itself(losses):
    figures = curve_figures(align(curve(losses), curve(losses)))
    assert {value for value in figures.values() if value is not None} == {0.0}
