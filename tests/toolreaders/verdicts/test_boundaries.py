"""The arithmetic of verdicts on both sides of every limit, by hand."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from tests.assessments.conftest import curve
from toolreaders.curves import alignment
from toolreaders.curves.alignment import Aligned, align
from toolreaders.verdicts.curve_figures import relative_errors
from toolreaders.verdicts.quantities import Quantity
from toolreaders.verdicts.spread import Spread
from toolreaders.verdicts.verdict import (
    ENGINE_CHANGES,
    ENGINE_GAINS,
    ENGINE_VERSION,
    Outcome,
    Rule,
    compare,
    curve_figures,
    judge_curve,
    judge_values,
    unread,
)

LIMIT = Decimal("0.02")


def judged(baseline, candidate, threshold=LIMIT, **rule) -> Outcome:
    return judge_curve(align(curve(baseline), curve(candidate)), threshold, Rule(**rule))


def figures(baseline, candidate, epsilon=0.0) -> dict:
    return curve_figures(align(curve(baseline), curve(candidate)), epsilon)


def test_every_figure_of_a_short_pair():
    found = figures([4.0, 2.0, 0.5], [4.02, 1.0, 0.5])
    assert [name for name, figure in found.items() if figure is None] == [
        "mean_relative_error_from_step_21", "mean_relative_error_smoothed_100"]
    assert {name: figure for name, figure in found.items() if figure is not None} == pytest.approx({
        "mean_relative_error": 0.505 / 3, "max_relative_error": 0.5, "mean_absolute_error": 0.34,
        "relative_error_of_means": 0.98 / 6.5, "relative_error_last_100": 0.98 / 6.5,
        "fraction_over_2_percent": 1 / 3, "mean_relative_error_epsilon_added": 0.505 / 3,
        "relative_error_first_step": 0.005}, rel=1e-8)


def test_the_added_epsilon_is_a_billionth():
    found = figures([-1e-9, 0.0], [-3e-9, 1e-9])
    assert found["mean_relative_error_epsilon_added"] == pytest.approx(1.0)


def test_nothing_finite_has_no_figure():
    assert set(figures([np.nan, np.inf], [1.0, 2.0]).values()) == {None}


def test_the_first_twenty_steps_are_left_out_of_what_begins_at_step_21():
    candidate = [3.0] * 20 + [1.01] + [1.0] * 3
    assert figures([1.0] * 24, candidate)["mean_relative_error_from_step_21"] == pytest.approx(
        0.0025)
    assert figures([1.0] * 20, [2.0] * 20)["mean_relative_error_from_step_21"] is None


def test_pairs_that_are_not_finite_are_left_out_after_the_twenty():
    candidate = [np.nan, *[3.0] * 19, 1.01, np.inf, 1.0]
    found = figures([1.0] * 23, candidate)
    assert found["mean_relative_error_from_step_21"] == pytest.approx(0.005)
    assert found["mean_relative_error"] == pytest.approx((19 * 2 + 0.01) / 21)


def test_the_last_hundred_and_running_hundreds():
    baseline, candidate = [1.0] * 120, [5.0] * 20 + [1.0] * 99 + [2.0]
    found = figures(baseline, candidate)
    assert found["relative_error_last_100"] == pytest.approx(0.01)
    by_hand = [(20 - n) * 4 / 100 for n in range(20)] + [0.01]
    assert found["mean_relative_error_smoothed_100"] == pytest.approx(sum(by_hand) / 21)
    hundred = figures([1.0] * 100, [1.0] * 99 + [2.0])
    assert hundred["mean_relative_error_smoothed_100"] == pytest.approx(0.01)
    assert figures([1.0] * 99, [1.0] * 99)["mean_relative_error_smoothed_100"] is None


@pytest.mark.parametrize(("baseline", "expected"), [
    ([1.0, -1.0], None), ([-2.0, -2.0], 0.5), ([1.0, 3.0], 2.5)])
def test_the_error_of_the_means_of_a_baseline_of_mean_zero_is_not_defined(baseline, expected):
    assert figures(baseline, [-3.0, -3.0])["relative_error_of_means"] == expected


def test_a_baseline_of_mean_zero_proves_nothing():
    found = judged([1.0, -1.0], [1.0, 2.0], figure="relative_error_of_means")
    assert (found.outcome, found.reason) == ("not_provable", "figure_undefined")


@pytest.mark.parametrize(("b", "n", "epsilon", "expected"), [
    (0.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, np.inf), (0.0, 1.0, 0.5, 2.0), (0.25, 0.5, 0.5, 0.5),
    (-2.0, -3.0, 0.0, 0.5), (1.0, 1.5, 0.5, 0.5)])
def test_relative_errors(b, n, epsilon, expected):
    assert relative_errors(np.array([b]), np.array([n]), epsilon).tolist() == [expected]


@pytest.mark.parametrize(("excess", "share"), [
    (0.0199999999, 0), (0.02, 0), (0.0200000000001, 1), (0.0200000001, 1)])
def test_the_share_of_steps_over_two_per_cent(excess, share):
    assert figures([1.0, 5.0], [1.0, 5.0 + 5 * excess])["fraction_over_2_percent"] == share / 2


def test_steps_exactly_on_two_per_cent_are_told_each_by_itself():
    baseline = [5.0, 1.0, 0.7, 5.0]
    candidate = [5.1, 1.5, 0.714, 5.1]
    assert figures(baseline, candidate)["fraction_over_2_percent"] == 0.25


@pytest.mark.parametrize("comparison", ["lt", "le", "gt", "ge"])
def test_an_infinite_figure_compares_as_it_should(comparison):
    assert compare(np.inf, LIMIT, comparison) is (comparison in ("gt", "ge"))
    assert compare(Decimal("-Infinity"), LIMIT, comparison) is (comparison in ("lt", "le"))
    assert compare(Fraction(1, 50), 0.02, comparison) is (comparison in ("le", "ge"))


@pytest.mark.parametrize(("points", "minimum", "reason"), [
    (94, 0.95, "too_little_coverage"), (95, 0.95, "threshold_met"), (96, 0.95, "threshold_met"),
    (99, 1.0, "too_little_coverage"), (100, 1.0, "threshold_met"), (50, 0.5, "threshold_met")])
def test_coverage_of_exactly_the_minimum_is_enough(points, minimum, reason):
    found = judged([2.0] * 100, [2.0] * points, minimum_coverage=minimum)
    assert (found.reason, found.facts["minimum_coverage"]) == (reason, minimum)


def test_the_usual_minimum_is_95_per_cent_and_one_point():
    assert (Rule().minimum_coverage, Rule().minimum_points) == (0.95, 1)
    assert judged([2.0], [2.0]).reason == "threshold_met"


@pytest.mark.parametrize(("points", "reason"), [
    (9, "too_few_points"), (10, "threshold_met"), (11, "threshold_met")])
def test_as_many_points_as_the_definition_asks_for(points, reason):
    found = judged([2.0] * points, [2.0] * points, minimum_points=10)
    assert (found.reason, found.facts["minimum_points"]) == (reason, 10)


@pytest.mark.parametrize(("first", "last", "reason"), [
    (10, 100, "threshold_met"), (1, 109, "threshold_met"), (0, 100, "window_not_reached"),
    (10, 110, "window_not_reached"), (11, None, "threshold_met"), (None, 90, "threshold_met")])
def test_a_window_is_reached_when_no_record_is_missing_at_its_ends(first, last, reason):
    """Records at 10, 20 … 100: the next ones would be 0 and 110."""
    series = curve([2.0] * 10, first=10, interval=10)
    found = judge_curve(align(series, series), LIMIT, Rule(first_step=first, last_step=last))
    assert found.reason == reason


@pytest.mark.parametrize(("first", "last", "reason"), [
    (7, 7, "threshold_met"), (6, 7, "window_not_reached"), (7, 8, "window_not_reached")])
def test_a_single_record_stands_for_one_step(first, last, reason):
    series = curve([2.0], first=7)
    found = judge_curve(align(series, series), LIMIT, Rule(first_step=first, last_step=last))
    assert found.reason == reason


def test_the_interval_of_a_window_is_the_usual_one():
    """Records at 1, 11, 21 … 91 and 92: nine tens and a one."""
    series = curve([2.0] * 11, first=1, interval=10)
    series.steps[-1] = 92
    for last, reason in ((101, "threshold_met"), (102, "window_not_reached")):
        found = judge_curve(align(series, series), LIMIT, Rule(last_step=last))
        assert found.reason == reason


def test_reasons_come_in_this_order():
    """The first true one is told: not finite, no step, too few, window, coverage, first, figure."""
    rule = {"minimum_points": 3, "last_step": 9, "figure": "relative_error_first_step"}
    base = [0.0] * 4
    assert judged(base, [np.nan, 1.0], **rule).reason == "nonfinite"
    assert judged(base, [1.0] * 2, **rule).reason == "too_few_points"
    assert judged(base, [1.0] * 3, **rule).reason == "window_not_reached"
    rule["last_step"] = 4
    assert judged(base, [1.0] * 3, **rule).reason == "too_little_coverage"
    late = align(curve(base), curve([1.0] * 3, first=2))
    lenient = Rule(**rule, minimum_coverage=0.5)
    assert judge_curve(late, LIMIT, lenient).reason == "first_step_missing"
    assert judged(base, [1.0] * 3, **rule, minimum_coverage=0.5).reason == "figure_undefined"
    assert judge_curve(align(curve(base), curve([1.0] * 3, first=50)), LIMIT,
                       lenient).reason == "no_common_steps"


def test_a_single_later_step_is_not_the_first():
    late = align(curve([2.0, 2.0]), curve([2.0], first=2))
    rule = Rule(figure="relative_error_first_step", minimum_coverage=0.5)
    assert judge_curve(late, LIMIT, rule).reason == "first_step_missing"


def test_a_finite_figure_is_told_even_where_it_does_not_decide():
    found = judged([2.0] * 100, [2.02] * 50)
    assert (found.reason, found.figure) == ("too_little_coverage", pytest.approx(0.01))
    assert judged([0.0] * 100, [2.02] * 50).figure is None


def test_facts_of_a_window():
    found = judged([2.0] * 10, [2.0] * 10, first_step=3, last_step=8)
    assert {name: found.facts[name] for name in (
        "common_points", "coverage", "nonfinite", "first_nonfinite_step", "first_step",
        "last_step", "baseline_points", "minimum_points", "minimum_coverage")} == {
        "common_points": 6, "coverage": 1.0, "nonfinite": 0, "first_nonfinite_step": None,
        "first_step": 3, "last_step": 8, "baseline_points": 6, "minimum_points": 1,
        "minimum_coverage": 0.95}
    assert [warning["code"] for warning in found.facts["warnings"]] == ["few_points"]


@pytest.mark.parametrize(("excess", "is_exact"), [
    ("1.9e-11", True), ("-1.9e-11", True), ("2.1e-11", False), ("-2.1e-11", False)])
def test_only_near_the_threshold_the_figure_is_taken_in_decimal(excess, is_exact):
    """Within a billionth of the threshold the mean keeps 45 digits; elsewhere it is a double's."""
    share = LIMIT + Decimal(excess)
    found = judged([3.0] * 50, [float(3 + 3 * share)] * 50)
    assert (found.exact == Fraction(3 * share) / 3) is is_exact
    assert found.outcome == ("passed" if share < LIMIT else "failed")


def test_a_threshold_of_zero_is_met_exactly_only():
    assert judged([3.0] * 5, [3.0] * 5, Decimal(0), comparison="le").outcome == "passed"
    assert judged([3.0] * 5, [3.0] * 5, Decimal(0)).outcome == "failed"
    assert judged([3.0] * 5, [3.0 + 1e-15] * 5, Decimal(0), comparison="le").outcome == "failed"


def test_from_step_21_is_exact_without_the_twenty():
    candidate = [9.0] * 20 + [5.1] * 30
    found = judged([5.0] * 50, candidate, figure="mean_relative_error_from_step_21")
    assert (found.outcome, found.figure) == ("failed", 0.02)
    assert found.exact == Fraction(1, 50)


def test_a_pair_that_is_not_finite_does_not_spoil_the_exact_figure():
    found = judged([5.0] * 30, [np.nan, *[5.1] * 29])
    assert (found.reason, found.figures["mean_relative_error"]) == ("nonfinite", 0.02)


@pytest.mark.parametrize(("calculator", "figure"), [
    ("relative_error", "0.25"), ("degradation", "0.25"), ("points", "1"), ("ratio", "0.75"),
    ("reduction", "0.25"), ("value", "3"), ("scaling", "0.375")])
@pytest.mark.parametrize("direction", [1, -1])
def test_each_figure_of_two_values(calculator, figure, direction):
    """3 against 4 on two cards; a gain of one is the same the other way round."""
    candidate = 4 - direction
    expected = {1: Decimal(figure), -1: {
        "relative_error": Decimal("0.25"), "degradation": Decimal("-0.25"), "points": Decimal(-1),
        "ratio": Decimal("1.25"), "reduction": Decimal("-0.25"), "value": Decimal(5),
        "scaling": Decimal("0.625")}[calculator]}[direction]
    found = judge_values(calculator, float(candidate), 4.0, threshold=expected,
                         rule=Rule(comparison="le"), cards=2)
    assert (found.exact, found.figure, found.outcome) == (Fraction(expected), expected, "passed")
    assert found.figures == {"figure": float(expected)}
    assert found.facts == {"candidate": float(candidate), "baseline": 4.0, "cards": 2}
    below = judge_values(calculator, float(candidate), 4.0, threshold=expected,
                         rule=Rule(comparison="lt"), cards=2)
    assert (below.outcome, below.reason) == ("failed", "threshold_missed")


@pytest.mark.parametrize(("candidate", "reason"), [
    (8.0, "threshold_met"), (8.0001, "implausible_scaling"), (7.9, "threshold_met")])
def test_scaling_of_more_than_one_is_not_plausible(candidate, reason):
    found = judge_values("scaling", candidate, 4.0, threshold=Decimal("0.9"),
                         rule=Rule(comparison="ge"), cards=2)
    assert (found.reason, found.figure) == (reason, candidate / 8)
    assert found.figures == {"figure": candidate / 8}


@pytest.mark.parametrize(("calculator", "candidate", "baseline", "reason"), [
    ("points", 1.0, 0.0, "threshold_met"), ("value", 0.0, 0.0, "threshold_met"),
    ("value", 1.0, None, "threshold_met"), ("value", 1.0, np.nan, "threshold_met"),
    ("relative_error", 1.0, 0.0, "baseline_zero"), ("degradation", 1.0, 0.0, "baseline_zero"),
    ("relative_error", 1.0, None, "no_baseline"), ("relative_error", None, 1.0, "no_measurement"),
    ("value", None, None, "no_measurement"), ("points", np.nan, None, "no_baseline"),
    ("points", -np.inf, 1.0, "nonfinite"), ("degradation", -5.0, 5.0, "threshold_met"),
    ("degradation", 1e-9, 1.0, "threshold_met"), ("ratio", 1e-9, 1.0, "threshold_met"),
    ("ratio", -1.0, 1.0, "not_positive"), ("scaling", -1.0, 1.0, "not_positive")])
def test_where_no_figure_can_be_computed(calculator, candidate, baseline, reason):
    found = judge_values(calculator, candidate, baseline, threshold=Decimal(9),
                         rule=Rule(comparison="le"))
    assert found.reason == reason
    assert (found.figure is None) is (reason != "threshold_met")


@pytest.mark.parametrize(("code", "reason"), [
    ("contradictory_values", "contradictory_values"), ("anything", "file_unreadable"),
    ("zzz", "file_unreadable")])
def test_what_cannot_be_read_is_not_provable(code, reason):
    assert unread(code) == Outcome("not_provable", None, reason)


def test_outcomes_and_rules_are_frozen_values():
    assert ENGINE_VERSION == "5"
    assert int(ENGINE_VERSION) == max(map(int, {**ENGINE_CHANGES, **ENGINE_GAINS}))
    assert replace(Rule(), epsilon=1.0) != Rule() == Rule()
    for kind in (Rule, Outcome, Aligned, Spread, Quantity, alignment._Curve):
        assert kind.__dataclass_params__.frozen
