"""The first steps, the worst steps and the sums that a figure can be followed with."""

import numpy as np
import pytest

from tests.assessments.conftest import curve
from toolreaders.curves.alignment import align
from toolreaders.verdicts.calculation_steps import SHOWN, working


def known(baseline, candidate, figure="mean_relative_error", epsilon=0.0):
    return working(align(curve(baseline), curve(candidate)), figure, epsilon)


def steps(rows) -> list[int]:
    return [row["step"] for row in rows]


def test_a_working_by_hand():
    found = known([4.0, 2.0, -1.0, 5.0], [5.0, 1.0, -1.0, 10.0])
    assert found["first"] == [
        {"step": 1, "baseline": 4.0, "candidate": 5.0, "error": 1.0, "relative": 0.25},
        {"step": 2, "baseline": 2.0, "candidate": 1.0, "error": 1.0, "relative": 0.5},
        {"step": 3, "baseline": -1.0, "candidate": -1.0, "error": 0.0, "relative": 0.0}]
    assert steps(found["worst"]) == [4, 2, 1]
    assert {name: found[name] for name in (
        "figure", "points", "sum_error", "sum_relative", "sum_baseline", "sum_candidate")} == {
        "figure": "mean_relative_error", "points": 4, "sum_error": 7.0, "sum_relative": 1.75,
        "sum_baseline": 10.0, "sum_candidate": 15.0}


@pytest.mark.parametrize(("figure", "counted"), [
    ("mean_relative_error", range(1, 131)), ("mean_relative_error_from_step_21", range(21, 131)),
    ("relative_error_last_100", range(31, 131)), ("max_relative_error", range(1, 131))])
def test_which_steps_a_figure_counts(figure, counted):
    found = known([1.0] * 130, np.arange(1.0, 131.0), figure)
    assert (found["points"], steps(found["first"])) == (len(counted), list(counted[:3]))
    assert found["sum_candidate"] == sum(counted)
    assert steps(found["worst"]) == [130, 129, 128]


def test_steps_that_are_not_finite_are_left_out():
    found = known([1.0, np.inf, 1.0], [np.nan, 1.0, 3.0])
    assert (found["points"], steps(found["first"]), found["sum_error"]) == (1, [3], 2.0)
    assert known([np.nan], [1.0])["worst"] == []


@pytest.mark.parametrize(("figure", "epsilon", "relative"), [
    ("mean_relative_error", 0.0, np.inf), ("mean_relative_error", 0.5, 2e-9),
    ("mean_relative_error_epsilon_added", 0.5, 1.0)])
def test_the_divisor_of_a_step(figure, epsilon, relative):
    found = known([0.0, 0.0], [1e-9, 0.0], figure, epsilon)
    assert [row["relative"] for row in found["first"]] == [relative, 0.0]


def test_an_added_epsilon_adds_to_the_size():
    [row] = known([-1e-9], [-3e-9], "mean_relative_error_epsilon_added")["first"]
    assert row["relative"] == pytest.approx(1.0)


@pytest.mark.parametrize(("errors", "worst"), [
    ([], []), ([5], [1]), ([1, 2], [2, 1]), ([3, 1, 2], [1, 3, 2]), ([1, 1, 1, 1], [1, 2, 3]),
    ([1, 9, 1, 9, 1], [2, 4, 1]), ([0, 1, 2, 3, 4], [5, 4, 3]), ([4, 3, 2, 2, 2], [1, 2, 3])])
def test_the_worst_steps_the_earlier_of_equals_first(errors, worst):
    found = known([1.0] * len(errors), [1.0 + error for error in errors])
    assert steps(found["worst"]) == worst
    assert steps(found["first"]) == list(range(1, len(errors) + 1))[:SHOWN]
