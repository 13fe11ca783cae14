"""Windows, counts and sentences of an alignment, by hand."""

import numpy as np
import pytest

from tests.assessments.conftest import curve
from toolreaders.base import ReadingWarning
from toolreaders.curves.alignment import align

NAN, INF = np.nan, np.inf


def pair(baseline, candidate, **other):
    return align(curve(baseline), curve(candidate, **other))


def windows(losses, interval, **more):
    return curve(losses, first=interval, interval=interval, meaning="window_mean", **more)


def test_a_pair_without_steps_covers_nothing():
    aligned = pair([], [])
    assert (aligned.coverage, aligned.baseline_points, aligned.nonfinite,
            aligned.first_nonfinite_step, aligned.first_step, aligned.last_step) == (
        0.0, 0, 0, None, None, None)


def test_counts_of_a_whole_pair():
    aligned = pair([1.0, NAN, 3.0, 4.0], [1.0, 2.0, INF])
    assert (aligned.coverage, aligned.baseline_points, aligned.nonfinite,
            aligned.first_nonfinite_step, aligned.first_step, aligned.last_step) == (
        0.75, 4, 2, 2, 1, 3)


def test_values_that_are_not_finite_in_one_log_only_are_counted_once_each():
    aligned = pair([1.0, 2.0, NAN, NAN], [5.0, INF, INF, INF], first=3)
    assert aligned.steps.tolist() == [3, 4]
    assert aligned.lone_nonfinite.tolist() == [5, 6]
    assert (aligned.nonfinite, aligned.first_nonfinite_step) == (4, 3)


@pytest.mark.parametrize(("first", "last", "steps", "baseline_points", "bad"), [
    (None, None, [3, 4], 4, 4), (4, None, [4], 1, 3), (None, 3, [3], 3, 1), (4, 4, [4], 1, 1),
    (5, 5, [], 0, 1), (6, 9, [], 0, 1), (7, None, [], 0, 0), (None, 0, [], 0, 0),
    (3, 4, [3, 4], 2, 2)])
def test_a_window_takes_both_its_ends(first, last, steps, baseline_points, bad):
    inside = pair([1.0, 2.0, NAN, NAN], [5.0, INF, INF, INF], first=3).window(first, last)
    assert inside.steps.tolist() == steps
    assert (inside.first_step, inside.last_step) == (
        (steps[0], steps[-1]) if steps else (None, None))
    assert (inside.baseline_points, inside.nonfinite) == (baseline_points, bad)
    assert len(inside.baseline) == len(inside.candidate) == len(steps)


def test_losses_stay_with_their_steps():
    aligned = align(curve([1.0, 2.0, 3.0]), curve([30.0, 20.0], first=2))
    assert (aligned.steps.tolist(), aligned.baseline.tolist(), aligned.candidate.tolist()) == (
        [2, 3], [2.0, 3.0], [30.0, 20.0])
    assert aligned.baseline_steps.tolist() == [1, 2, 3]


def messages(aligned) -> dict[str, str]:
    return {warning.code: warning.message for warning in aligned.warnings}


@pytest.mark.parametrize(("base", "other", "shift"), [(1, 0, "+1"), (0, 1, "-1"), (5, 2, "+3")])
def test_the_move_of_the_candidates_steps_is_told(base, other, shift):
    aligned = align(curve([2.0] * 100, first=base, base=base),
                    curve([2.0] * 100, first=other, base=other))
    assert messages(aligned) == {"step_base": (
        f"One log counts from {base}, the other from {other}: the candidate's steps were moved "
        f"by {shift}.")}
    assert aligned.steps.tolist() == list(range(base, base + 100))


def test_another_axis_is_neither_moved_nor_compared():
    aligned = align(curve([2.0] * 9), curve([2.0] * 9, base=0, first=0, unit="epoch"))
    assert messages(aligned) == {"step_unit": (
        "The baseline counts steps, the candidate epochs: the curves have no common axis.")}
    assert (len(aligned.steps), aligned.baseline_points) == (0, 9)
    swapped = align(curve([2.0] * 9, unit="epoch"), curve([2.0] * 9))
    assert list(messages(swapped)) == ["step_unit"]


def test_warnings_of_the_logs_stand_first_and_name_their_log():
    baseline, candidate = curve([2.0] * 100, first=0, base=0), curve([2.0] * 100)
    for series in (baseline, candidate):
        series.warnings = [ReadingWarning("cut", "The log was cut.")]
    assert [found.message for found in align(baseline, candidate).warnings][:2] == [
        "Baseline: The log was cut.", "Candidate: The log was cut."]


@pytest.mark.parametrize("is_swapped", [False, True])
def test_points_become_means_of_the_other_logs_windows(is_swapped):
    pair = [curve([1.0, 2.0, 4.0, 8.0, 3.0, 7.0]), windows([1.5, 6.0, 5.0], 2)]
    aligned = align(*(pair[::-1] if is_swapped else pair))
    assert aligned.baseline.tolist() == aligned.candidate.tolist() == [1.5, 6.0, 5.0]
    which = "candidate" if is_swapped else "baseline"
    assert messages(aligned)["interval_meaning"] == (
        f"The {which}'s points were averaged into the windows of 2 steps of the other log, which "
        "prints means.")


def test_means_of_twos_become_means_of_fours():
    aligned = align(windows([3.0, 5.0], 4), windows([1.0, 5.0, 2.0, 8.0], 2))
    assert (aligned.steps.tolist(), aligned.candidate.tolist()) == ([4, 8], [3.0, 5.0])
    assert messages(aligned)["interval_meaning"].startswith(
        "The candidate's means over 2 steps were averaged into the windows of 4 steps")


@pytest.mark.parametrize(("bad", "values"), [
    ([], [1.5, 6.0, 5.0]), ([0], [NAN, 6.0, 5.0]), ([1], [NAN, 6.0, 5.0]), ([2], [1.5, NAN, 5.0]),
    ([3], [1.5, NAN, 5.0]), ([4], [1.5, 6.0, NAN]), ([5], [1.5, 6.0, NAN]),
    ([0, 5], [NAN, 6.0, NAN]), ([2, 3], [1.5, NAN, 5.0])])
@pytest.mark.parametrize("value", [NAN, INF])
def test_a_bad_value_spoils_its_window_and_no_other(bad, values, value):
    losses = np.array([1.0, 2.0, 4.0, 8.0, 3.0, 7.0])
    losses[bad] = value
    aligned = align(windows([1.5, 6.0, 5.0], 2), curve(losses))
    assert aligned.candidate.tolist() == pytest.approx(values, nan_ok=True)


@pytest.mark.parametrize("missing", [0, 1, 2, 5])
def test_a_window_counts_only_with_all_its_records(missing):
    holed = curve([1.0, 2.0, 4.0, 8.0, 3.0, 7.0])
    holed.steps, holed.losses = (np.delete(a, missing) for a in (holed.steps, holed.losses))
    aligned = align(windows([1.5, 6.0, 5.0], 2), holed)
    assert aligned.steps.tolist() == [n for n in (2, 4, 6) if n != 2 * (missing // 2 + 1)]


def test_a_spoiled_window_after_an_incomplete_one_is_still_its_own():
    holed = curve([1.0, 2.0, NAN, 8.0, 3.0, 7.0])
    holed.steps, holed.losses = holed.steps[1:], holed.losses[1:]
    aligned = align(windows([1.5, 6.0, 5.0], 2), holed)
    assert (aligned.steps.tolist(), aligned.nonfinite, aligned.first_nonfinite_step) == (
        [4, 6], 1, 4)
    assert aligned.candidate[1] == 5.0


@pytest.mark.parametrize(("base", "steps"), [(1, [4, 8]), (0, [3, 7])])
def test_windows_begin_at_the_tools_first_step(base, steps):
    points = curve([1.0, 3.0, 5.0, 7.0, 2.0, 2.0, 4.0, 4.0], first=base, base=base)
    means = windows([4.0, 3.0], 4, base=base)
    means.steps = np.array(steps)
    aligned = align(means, points)
    assert (aligned.steps.tolist(), aligned.candidate.tolist()) == (steps, [4.0, 3.0])


@pytest.mark.parametrize(("base", "end"), [(1, 4), (0, 3)])
def test_a_single_window_reaches_back_to_the_tools_first_step(base, end):
    mean = windows([4.0], 4, base=base)
    mean.steps = np.array([end])
    aligned = align(mean, curve([1.0, 3.0, 5.0, 7.0, 9.0], first=base, base=base))
    assert (aligned.steps.tolist(), aligned.candidate.tolist()) == ([end], [4.0])


def test_a_log_that_begins_late_has_a_first_window_of_the_usual_length():
    means = windows([4.0, 3.0], 4)
    means.steps = np.array([12, 16])
    aligned = align(means, curve([1.0, 3.0, 5.0, 7.0, 2.0, 2.0, 4.0, 4.0], first=9))
    assert (aligned.steps.tolist(), aligned.candidate.tolist()) == ([12, 16], [4.0, 3.0])


@pytest.mark.parametrize("empty", ["baseline", "candidate"])
def test_no_record_on_one_side_leaves_nothing(empty):
    logs = {"baseline": windows([4.0, 3.0], 4), "candidate": curve([1.0] * 8)}
    logs[empty].steps, logs[empty].losses = np.empty(0, np.int64), np.empty(0)
    aligned = align(*logs.values())
    assert (len(aligned.steps), aligned.coverage) == (0, 0.0)


def test_other_kinds_of_values_are_told():
    aligned = align(curve([2.0] * 100, interval=10, first=10, meaning="smoothed"),
                    curve([2.0] * 100, interval=10, first=10, meaning="window_mean"))
    assert messages(aligned) == {"interval_meaning": (
        "The baseline records smoothed, the candidate window_mean: the values are not of the same "
        "kind.")}


@pytest.mark.parametrize("meaning", ["smoothed", "zone"])
def test_values_of_other_kinds_are_not_averaged(meaning):
    aligned = align(curve([2.0] * 100, meaning=meaning),
                    curve([2.0] * 50, first=2, interval=2, meaning=meaning))
    assert list(messages(aligned)) == ["interval_differs", "few_points"]
    assert aligned.baseline_points == 100


def test_other_intervals_of_points_are_told():
    aligned = align(curve([2.0] * 100), curve([2.0] * 100, interval=2, first=2))
    assert messages(aligned)["interval_differs"] == (
        "The baseline is logged every 1 steps, the candidate every 2: only steps that both logs "
        "hold are compared.")
    assert aligned.steps.tolist() == list(range(2, 101, 2))


def test_equal_windows_are_compared_as_they_are():
    aligned = align(windows([1.0] * 100, 5), windows([2.0] * 100, 5))
    assert (messages(aligned), aligned.candidate.tolist()) == ({}, [2.0] * 100)


def test_equal_intervals_are_told_by_their_value():
    rare, same = int("1000"), int("1000")  # two objects
    aligned = align(curve([2.0] * 20, interval=rare), curve([2.0] * 20, interval=same))
    assert "interval_differs" not in messages(aligned)
