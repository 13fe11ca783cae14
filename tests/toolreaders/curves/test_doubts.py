"""What is suspected of two curves, on both sides of every limit."""

import numpy as np
import pytest

from toolreaders.curves.doubts import suspicions

WAVY = 3 + np.sin(np.arange(400) / 3) / 2


def codes(baseline, candidate) -> list[str]:
    return [found.code for found in suspicions(np.asarray(baseline, float),
                                               np.asarray(candidate, float))]


@pytest.mark.parametrize(("points", "expected"), [
    (0, []), (1, ["few_points"]), (99, ["few_points"]), (100, []), (101, [])])
def test_few_points(points, expected):
    assert codes([2.0] * points, [2.0] * points) == expected


def test_few_points_counts_finite_pairs():
    [found] = suspicions(np.full(100, 2.0), np.r_[np.nan, np.full(99, 2.0)])
    assert found.message == "Only 99 common steps: agreed windows have 1,000 steps as a rule."
    assert codes([np.inf] * 200, [1.0] * 200) == []


@pytest.mark.parametrize(("smallest", "expected"), [
    (0.0100, []), (0.0099, ["loss_near_zero"]), (-0.0099, ["loss_near_zero"]), (-0.02, [])])
def test_a_loss_near_zero(smallest, expected):
    baseline = [2.0] * 150 + [smallest]
    assert codes(baseline, baseline) == expected


def test_the_smallest_loss_is_named():
    losses = np.array([2.0] * 150 + [0.00123456])
    [found] = suspicions(losses, losses)
    assert "falls to 0.00123:" in found.message


@pytest.mark.parametrize(("points", "expected"), [
    (19, ["few_points"]), (20, ["few_points", "steps_may_be_shifted"])])
def test_a_shift_is_looked_for_from_twenty_points(points, expected):
    baseline = WAVY[:points]
    assert codes(baseline, np.r_[1.0, baseline[:-1]]) == expected


@pytest.mark.parametrize(("candidate", "sign"), [
    (WAVY[1:-1], "+1"), (np.r_[3.0, WAVY[:-3]], "-1")])
def test_which_way_the_candidate_is_shifted(candidate, sign):
    baseline = WAVY[:-2]
    found = {entry.code: entry.message for entry in suspicions(baseline, candidate)}
    assert found["steps_may_be_shifted"].startswith(f"Moved by {sign} record the candidate fits ")


@pytest.mark.parametrize(("rest", "is_suspected"), [(0.3, True), (0.4, False)])
def test_a_shifted_fit_has_to_be_three_times_as_good(rest, is_suspected):
    """Errors as they stand: 9.7 %; moved by one 2.9 % of 0.3 and 3.8 % of 0.4."""
    baseline = np.tile([10.0, 11.0], 100)
    found = codes(baseline, np.tile([11.0, 10.0], 100) + rest)
    assert ("steps_may_be_shifted" in found) is is_suspected


def test_the_factor_of_a_better_fit_is_named():
    """A hundred 10s and 11s in turn, moved by one and 0.1 higher: 9.59 % against 0.954 %."""
    baseline = np.tile([10.0, 11.0], 50)
    [found] = suspicions(baseline, np.tile([11.0, 10.0], 50) + 0.1)
    assert found.message.startswith("Moved by +1 record the candidate fits 10.1 times better:")


@pytest.mark.parametrize(("error", "means", "expected"), [
    (0.02, 0.0, True), (0.01, 0.0, True), (0.0099, 0.0, False), (0.02, 0.0039, True),
    (0.02, 0.0041, False), (0.0, 0.0, False)])
def test_another_data_order(error, means, expected):
    """Half of the steps are higher, half lower; means of equal steps differ by the rest."""
    signs = np.tile([1, 1, -1, -1], 50)
    baseline = np.full(200, 2.0)
    candidate = baseline * (1 + signs * error) + 2.0 * means
    assert ("data_order_differs" in codes(baseline, candidate)) is expected


def test_a_zero_in_the_baseline_ends_the_search():
    baseline = np.r_[0.0, WAVY[:199]]
    assert codes(baseline, np.r_[1.0, baseline[:-1]]) == ["loss_near_zero"]


def test_the_percentages_are_named():
    signs = np.tile([1, 1, -1, -1], 50)
    [found] = suspicions(np.full(200, 2.0), 2.0 + 0.06 * signs + 0.01)
    assert found.message.startswith(
        "The steps differ by 3.00% on average, the means by 0.50% only")
