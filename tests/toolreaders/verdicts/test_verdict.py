"""The arithmetic: figures, thresholds, and every outcome."""

import json
import math
import os
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.assessments.conftest import SAMPLES, curve
from toolreaders.curves.alignment import align
from toolreaders.training.series import read_series
from toolreaders.verdicts.verdict import Rule, compare, curve_figures, judge_curve, judge_values

TWO_PERCENT = Decimal("0.02")
RULE = Rule()
NAMES = {
    "MRE": "mean_relative_error", "MRE_from21": "mean_relative_error_from_step_21",
    "MaxRE": "max_relative_error", "MAE": "mean_absolute_error",
    "RE_of_means": "relative_error_of_means", "MRE_sma100": "mean_relative_error_smoothed_100",
    "RE_last100": "relative_error_last_100", "frac_steps_over_2pct": "fraction_over_2_percent",
}
PAIRS = json.loads((SAMPLES / "truth.json").read_text())


def outcome(baseline, candidate, threshold=TWO_PERCENT, rule=RULE):
    return judge_curve(align(curve(baseline), curve(candidate)), threshold, rule)


@pytest.mark.parametrize("truth", PAIRS, ids=lambda pair: pair["candidate"])
def test_figures_agree_with_independent_ones(truth):
    aligned = align(*(read_series(SAMPLES / truth[side]) for side in ("baseline", "candidate")))
    figures = curve_figures(aligned)
    assert (len(aligned.steps), aligned.nonfinite) == (truth["n_common"], truth["n_nonfinite"])
    assert {short: figures[name] for short, name in NAMES.items()} == pytest.approx(
        {short: truth[short] for short in NAMES}, rel=1e-9, abs=1e-15)


@pytest.mark.skipif("DESK_SAMPLES" not in os.environ, reason="DESK_SAMPLES is not set")
@pytest.mark.parametrize(("baseline", "candidate"), [
    ("megatron/megatron_fmt_fp32.log", "megatron/megatron_fmt_bf16.log"),
    ("llamafactory/lfS_fp32.trainer_log.jsonl", "llamafactory/lfS_bf16.trainer_log.jsonl"),
    ("imagenet_style/S_fp32.log", "imagenet_style/S_bf16.log"),
    ("csv/S_fp32.metrics.csv", "csv/S_bf16.metrics.csv"),
    ("megatron_golden/bert__bert_release_sm.h100.json",
     "megatron_golden/bert__bert_release_sm.gb200.json"),
    ("modelzoo_tf/InsightFace_if_gpu.log.gz", "modelzoo_tf/InsightFace_if_npu.log.gz"),
])
def test_figures_of_the_other_formats(baseline, candidate):
    folder = Path(os.environ["DESK_SAMPLES"]) / "training-and-performance"
    truth = json.loads((folder / "truth.json").read_text())[f"train/{candidate}"]["pair"]
    aligned = align(*(read_series(folder / "train" / name) for name in (baseline, candidate)))
    figures = curve_figures(aligned)
    assert {short: figures[name] for short, name in NAMES.items()} == pytest.approx(
        {short: truth[short] for short in NAMES}, rel=1e-9, abs=1e-15)


def test_the_definition_decides():
    """One genuine pair: 1.992 % over all steps, 2.006 % from step 21."""
    aligned = align(*(read_series(SAMPLES / name)
                      for name in ("ng_fp32.log.gz", "ng_crash_resume.log.gz")))
    flagperf = Rule(figure="mean_relative_error_from_step_21")
    assert judge_curve(aligned, TWO_PERCENT, RULE).outcome == "passed"
    assert judge_curve(aligned, TWO_PERCENT, flagperf).outcome == "failed"


def test_half_high_half_low_flips_with_the_definition():
    """DOMAIN 3.4: 3 % high, then 3 % low."""
    steps = np.arange(1000)
    reference = 2 + 2 * np.exp(-steps / 200)
    candidate = np.where(steps < 500, 1.03, 0.97) * reference
    by_step = outcome(reference, candidate)
    by_means = outcome(reference, candidate, rule=Rule(figure="relative_error_of_means"))
    assert by_step.figure == pytest.approx(0.03, rel=1e-9)
    assert (by_step.outcome, by_means.outcome) == ("failed", "passed")
    assert by_means.figure < 0.01


@pytest.mark.parametrize(("comparison", "expected"),
                         [("lt", "failed"), ("le", "passed"), ("gt", "failed"), ("ge", "passed")])
@pytest.mark.parametrize("loss", [1.0, 5.0, 0.7, 3.3])
def test_exactly_the_threshold(loss, comparison, expected):
    """In binary 5.1 against 5.0 is a little less than 2 %; strict < must still fail."""
    found = outcome([loss] * 50, [float(Decimal(str(loss)) * Decimal("1.02"))] * 50,
                    rule=Rule(comparison=comparison))
    assert (found.outcome, found.figure) == (expected, 0.02)


@pytest.mark.parametrize("figure", [
    "mean_relative_error", "mean_relative_error_from_step_21", "max_relative_error",
    "relative_error_of_means", "relative_error_last_100"])
def test_exactly_the_threshold_under_every_relative_definition(figure):
    found = outcome([5.0] * 150, [5.1] * 150, rule=Rule(figure=figure))
    assert (found.outcome, found.figure) == ("failed", 0.02)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("side", ["baseline", "candidate"])
def test_one_value_that_is_not_finite_is_never_passed(value, side):
    curves = {"baseline": [2.0] * 200, "candidate": [2.0] * 200}
    curves[side][150] = value
    found = outcome(**curves)
    assert (found.outcome, found.reason) == ("failed", "nonfinite")
    assert (found.facts["nonfinite"], found.facts["first_nonfinite_step"]) == (1, 151)


def test_a_run_that_goes_nan_after_the_baseline_ends_is_not_passed():
    found = outcome([2.0] * 100, [2.0] * 110 + [math.nan] * 5)
    assert (found.outcome, found.reason) == ("failed", "nonfinite")


def test_nan_outside_the_agreed_window_does_not_count():
    found = outcome([2.0] * 100, [2.0] * 80 + [math.nan] * 20, rule=Rule(last_step=80))
    assert found.outcome == "passed"


def test_too_little_coverage_is_not_provable():
    found = outcome([2.0] * 100, [2.0] * 94)
    assert (found.outcome, found.reason) == ("not_provable", "too_little_coverage")
    assert found.facts["coverage"] == 0.94


def test_no_common_step_is_not_provable():
    found = judge_curve(align(curve([2.0] * 10), curve([2.0] * 10, first=100)), TWO_PERCENT, RULE)
    assert (found.outcome, found.reason) == ("not_provable", "no_common_steps")


@pytest.mark.parametrize(("losses", "rule", "outcome"), [
    ([2.0] * 100, RULE, ("not_provable", "steps_unproven")),
    ([2.0] * 99 + [math.nan], RULE, ("failed", "nonfinite")),
    ([2.0] * 99 + [math.nan], Rule(last_step=80), ("not_provable", "steps_unproven")),
])
def test_assumed_step_numbers_prove_nothing_but_a_nan_of_the_run(losses, rule, outcome):
    candidate = curve(losses)
    candidate.unprovable = "steps_unproven"
    found = judge_curve(align(curve([2.0] * 100), candidate), TWO_PERCENT, rule)
    assert (found.outcome, found.reason) == outcome


def test_fewer_points_than_the_definition_asks_for():
    found = outcome([2.0] * 20, [2.0] * 20,
                    rule=Rule(figure="mean_relative_error_from_step_21", minimum_points=21))
    assert (found.outcome, found.reason) == ("not_provable", "too_few_points")


def test_nothing_measured():
    assert judge_curve(None, TWO_PERCENT, RULE).outcome == "not_measured"


def test_a_relative_error_against_zero_is_not_defined():
    found = outcome([0.0, 1.0], [0.1, 1.0])
    assert (found.outcome, found.reason, found.figure) == (
        "not_provable", "figure_undefined", None)


def test_epsilon_guards_a_zero_baseline():
    found = outcome([0.0, 1.0], [1e-9, 1.0], rule=Rule(epsilon=1e-7))
    assert (found.outcome, found.figure) == ("passed", pytest.approx(0.005))


@pytest.mark.parametrize("case", [
    ("relative_error", 90.3, 91.2, "lt", "0.02", "passed"),   # 0.9 points, 0.99 %
    ("relative_error", 39.0, 40.0, "lt", "0.02", "failed"),   # 1.0 points, 2.5 %
    ("relative_error", 49.0, 50.0, "le", "0.02", "passed"),   # exactly 2 %
    ("relative_error", 49.0, 50.0, "lt", "0.02", "failed"),
    ("relative_error", 95.0, 91.2, "lt", "0.02", "failed"),   # a gain counts when two-sided
    ("degradation", 95.0, 91.2, "lt", "0.02", "passed"),
    ("reduction", 19.1, 28.5, "ge", "0.3", "passed"),
    ("reduction", 19.95, 28.5, "ge", "0.3", "passed"),        # exactly 30 %
    ("ratio", 18200.0, 12500.0, "ge", "1.456", "passed"),     # exactly
    ("value", 9.9, None, "le", "9.9", "passed"),
])
def test_single_values(case):
    calculator, candidate, baseline, comparison, limit, expected = case
    found = judge_values(calculator, candidate, baseline, threshold=Decimal(limit),
                         rule=Rule(comparison=comparison))
    assert found.outcome == expected


@pytest.mark.parametrize(("arguments", "cards", "expected"), [
    (("scaling", 25.6, 1.0), 32, ("passed", "threshold_met")),  # exactly 80 %
    (("scaling", 25.5, 1.0), 32, ("failed", "threshold_missed")),
    (("scaling", 32.1, 1.0), 32, ("not_provable", "implausible_scaling")),
    (("scaling", 25.6, 1.0), None, ("not_provable", "cards_unknown")),
    (("ratio", 1.0, None), None, ("not_provable", "no_baseline")),
    (("ratio", 1.0, 0.0), None, ("not_provable", "baseline_zero")),
    (("ratio", None, 1.0), None, ("not_measured", "no_measurement")),
    (("value", math.nan, None), None, ("failed", "nonfinite")),
    (("ratio", 1.0, math.inf), None, ("failed", "nonfinite")),
])
def test_reasons(arguments, cards, expected):
    found = judge_values(*arguments, threshold=Decimal("0.8"), rule=Rule(comparison="ge"),
                         cards=cards)
    assert (found.outcome, found.reason) == expected


@given(figure=st.floats(allow_nan=False, allow_infinity=False), limit=st.decimals(-1000, 1000))
def test_exactly_one_of_less_and_at_least(figure, limit):
    assert compare(figure, limit, "lt") is not compare(figure, limit, "ge")
    assert compare(figure, limit, "gt") is not compare(figure, limit, "le")


@given(st.lists(st.tuples(st.floats(0.5, 20), st.floats(0.5, 20)), min_size=1, max_size=80))
def test_relations_between_the_figures(pairs):
    baseline, candidate = zip(*pairs, strict=True)
    figures = curve_figures(align(curve(baseline), curve(candidate)))
    assert figures["mean_relative_error"] <= figures["max_relative_error"] * (1 + 1e-12)
    assert 0 <= figures["fraction_over_2_percent"] <= 1
    mean_error = figures["relative_error_of_means"] * np.mean(baseline)
    assert mean_error <= figures["mean_absolute_error"] * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize(("figure", "baseline", "candidate", "limit"), [
    ("relative_error_first_step", [1.0] * 50, [1.005] * 50, "0.005"),
    ("mean_relative_error_smoothed_100", [5.0] * 150, [5.1] * 150, "0.02"),
    ("mean_relative_error_epsilon_added", [0.3] * 3, [0.1] * 3, str(Decimal("0.2") / Decimal(
        "0.300000001"))[:12])])
def test_every_figure_that_can_be_judged_is_exact(figure, baseline, candidate, limit):
    """1.005 against 1 is 0.4999…893 % in binary, which a strict < 0.5 % would let pass."""
    found = judge_curve(align(curve(baseline), curve(candidate)), Decimal(limit),
                        Rule(figure=figure))
    assert found.outcome == "failed"
    assert found.exact >= Decimal(limit)


def test_steps_that_are_exactly_two_per_cent_off_are_not_over_it():
    baseline = [0.7, 1.0, 3.3, 5.0]
    exactly = [float(Decimal(str(b)) * Decimal("1.02")) for b in baseline]
    assert curve_figures(align(curve(baseline), curve(exactly)))["fraction_over_2_percent"] == 0
    above = [b * 1.0201 for b in baseline]
    assert curve_figures(align(curve(baseline), curve(above)))["fraction_over_2_percent"] == 1


@pytest.mark.parametrize(("rule", "expected"), [
    (Rule(last_step=100), "threshold_met"), (Rule(last_step=1000), "window_not_reached"),
    (Rule(first_step=1, last_step=100), "threshold_met"),
    (Rule(first_step=10), "threshold_met")])
def test_a_baseline_that_ends_before_the_window_proves_nothing(rule, expected):
    assert outcome([2.0] * 100, [2.0] * 100, rule=rule).reason == expected


def test_a_baseline_that_begins_after_the_window_proves_nothing():
    later = curve([2.0] * 100, first=51)
    found = judge_curve(align(later, later), TWO_PERCENT, Rule(first_step=1))
    assert found.reason == "window_not_reached"


def test_the_first_step_is_that_of_the_baseline():
    """A resumed log that begins at step 3 says nothing on the first loss."""
    both = align(curve([2.0] * 100), curve([2.0] * 98, first=3))
    found = judge_curve(both, TWO_PERCENT, Rule(figure="relative_error_first_step"))
    assert (found.outcome, found.reason) == ("not_provable", "first_step_missing")
    assert judge_curve(both, TWO_PERCENT, Rule()).outcome == "passed"


@pytest.mark.parametrize("calculator", ["ratio", "reduction", "scaling"])
@pytest.mark.parametrize(("candidate", "baseline"), [(-5.0, 10.0), (5.0, -10.0), (0.0, 10.0)])
def test_no_ratio_of_amounts_that_are_not_positive(calculator, candidate, baseline):
    """A latency of 0 or −5 ms is no reduction by 100 or 150 %."""
    found = judge_values(calculator, candidate, baseline, threshold=Decimal("0.2"),
                         rule=Rule(comparison="ge"), cards=8)
    assert (found.outcome, found.reason) == ("not_provable", "not_positive")


@pytest.mark.parametrize(("candidate", "expected"), [(-10.1, "passed"), (-10.3, "failed")])
def test_a_negative_baseline_is_taken_by_its_size(candidate, expected):
    for calculator in ("relative_error", "degradation"):
        assert judge_values(calculator, candidate, -10.0, threshold=Decimal("0.02"),
                            rule=Rule()).outcome == expected


AMOUNT = st.integers(1, 10**6).map(lambda n: n / 1000)


@given(st.sampled_from(["ratio", "reduction"]), AMOUNT, AMOUNT, st.integers(0, 3000))
def test_values_are_judged_as_by_hand(calculator, candidate, baseline, thousandths):
    c, b, limit = Fraction(str(candidate)), Fraction(str(baseline)), Fraction(thousandths, 1000)
    by_hand = c / b if calculator == "ratio" else (b - c) / b
    found = judge_values(calculator, candidate, baseline, threshold=Decimal(thousandths) / 1000,
                         rule=Rule(comparison="ge"))
    assert (found.outcome == "passed") is (by_hand >= limit)


LOSS = st.integers(1, 20_000).map(lambda n: n / 1000)


@given(st.lists(st.tuples(LOSS, LOSS), min_size=1, max_size=40), st.integers(1, 400),
       st.sampled_from(["lt", "le"]))
def test_curves_are_judged_as_by_hand(pairs, thousandths, comparison):
    """Also where the mean meets the threshold exactly, as any decimals may."""
    baseline, candidate = zip(*pairs, strict=True)
    errors = [abs(Fraction(str(n)) - Fraction(str(b))) / Fraction(str(b)) for b, n in pairs]
    mean, limit = sum(errors) / len(errors), Fraction(thousandths, 1000)
    found = judge_curve(align(curve(baseline), curve(candidate)), Decimal(thousandths) / 1000,
                        Rule(comparison=comparison))
    assert (found.outcome == "passed") is (mean < limit if comparison == "lt" else mean <= limit)


@given(st.lists(LOSS, min_size=2, max_size=60), st.data())
def test_one_bad_value_fails_every_curve(losses, data):
    place = data.draw(st.integers(0, len(losses) - 1))
    broken = [*losses[:place], data.draw(st.sampled_from([math.nan, math.inf, -math.inf])),
              *losses[place + 1:]]
    for pair in ((losses, broken), (broken, losses)):
        assert outcome(*pair, rule=Rule(figure="relative_error_of_means")).reason == "nonfinite"
