"""Pure arithmetic of the verdicts: no database, no Django, no rounding.

Definitions: DOMAIN 3.4 and the definitions in use that stand in the catalogue
(`assessments/definitions.py`). Relative values are fractions.
"""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np

from assessments.alignment import Aligned

ENGINE_VERSION = "1"

PASSED, FAILED = "passed", "failed"
NOT_MEASURED, NOT_PROVABLE = "not_measured", "not_provable"


@dataclass(frozen=True)
class Rule:
    """What of a metric definition the arithmetic needs.

    `figure` names the judged figure; `comparison` is lt, le, gt or ge; `epsilon` guards the
    divisor; the window bounds are inclusive steps.
    """

    figure: str = "mean_relative_error"
    comparison: str = "lt"
    epsilon: float = 0.0
    first_step: int | None = None
    last_step: int | None = None
    minimum_coverage: float = 0.95
    minimum_points: int = 1


@dataclass(frozen=True)
class Outcome:
    """A computed verdict: outcome, judged figure, reason code, and everything beside it."""

    outcome: str
    figure: float | None
    reason: str
    figures: dict[str, float | None] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)


def compare(figure: float, threshold: Decimal | float, comparison: str) -> bool:
    """Whether the unrounded figure meets the threshold. Exact: a float is its own fraction."""
    left, right = Decimal(figure), Decimal(threshold)
    return {"lt": left < right, "le": left <= right,
            "gt": left > right, "ge": left >= right}[comparison]


def curve_figures(aligned: Aligned, epsilon: float = 0.0) -> dict[str, float | None]:
    """All figures in use for two aligned curves; pairs with a non-finite value are left out.

    Returns fractions; None where nothing finite is left.
    """
    finite = np.isfinite(aligned.baseline) & np.isfinite(aligned.candidate)
    b, n = aligned.baseline[finite], aligned.candidate[finite]
    later = finite.copy()
    later[:20] = False
    error, relative = np.abs(n - b), relative_errors(b, n, epsilon)
    from_21 = relative_errors(aligned.baseline[later], aligned.candidate[later], epsilon)
    return {
        "mean_relative_error": _mean(relative),
        "mean_relative_error_from_step_21": _mean(from_21),
        "max_relative_error": float(relative.max()) if len(relative) else None,
        "mean_absolute_error": _mean(error),
        "relative_error_of_means": _of_means(b, n),
        "mean_relative_error_smoothed_100": _smoothed(b, n, 100),
        "relative_error_last_100": _of_means(b[-100:], n[-100:]),
        "fraction_over_2_percent": _mean((relative > 0.02).astype(float)),
    }


def relative_errors(b: np.ndarray, n: np.ndarray, epsilon: float = 0.0) -> np.ndarray:
    """|n − b| / max(|b|, ε) per step; equal zeros are 0, an unequal zero baseline is infinite."""
    divisor = np.maximum(np.abs(b), epsilon)
    difference = np.abs(n - b)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(difference == 0, 0.0, difference / divisor)


def _mean(values: np.ndarray) -> float | None:
    return float(values.mean()) if len(values) else None


def _of_means(b: np.ndarray, n: np.ndarray) -> float | None:
    if not len(b) or b.mean() == 0:
        return None
    return float(abs(n.mean() - b.mean()) / abs(b.mean()))


def _smoothed(b: np.ndarray, n: np.ndarray, width: int) -> float | None:
    if len(b) < width:
        return None
    kernel = np.ones(width) / width
    return _mean(relative_errors(np.convolve(b, kernel, "valid"), np.convolve(n, kernel, "valid")))


def judge_curve(aligned: Aligned | None, threshold: Decimal, rule: Rule) -> Outcome:
    """The verdict on a loss curve against its baseline.

    Non-finite values inside the window fail it, whatever the rest says; too little coverage or
    no common step makes it not provable.
    """
    if aligned is None:
        return Outcome(NOT_MEASURED, None, "no_measurement")
    inside = aligned.window(rule.first_step, rule.last_step)
    figures = curve_figures(inside, rule.epsilon)
    facts = {"common_points": len(inside.steps), "coverage": inside.coverage,
             "nonfinite": inside.nonfinite, "first_nonfinite_step": inside.first_nonfinite_step,
             "first_step": inside.first_step, "last_step": inside.last_step,
             "baseline_points": inside.baseline_points}
    figure = figures.get(rule.figure)
    if len(inside.steps) == 0:
        return Outcome(NOT_PROVABLE, None, "no_common_steps", figures, facts)
    if inside.nonfinite:
        return Outcome(FAILED, figure, "nonfinite", figures, facts)
    if inside.coverage < rule.minimum_coverage or len(inside.steps) < rule.minimum_points:
        return Outcome(NOT_PROVABLE, figure, "too_little_coverage", figures, facts)
    if figure is None:
        return Outcome(NOT_PROVABLE, None, "figure_undefined", figures, facts)
    return _decided(figure, threshold, rule.comparison, figures, facts)


def judge_values(
    calculator: str, candidate: float | None, baseline: float | None, threshold: Decimal,
    rule: Rule, cards: int | None = None,
) -> Outcome:
    """The verdict on a single value.

    Args:
        calculator: relative_error |c − b|/|b| · ratio c/b · reduction (b − c)/b ·
            scaling c/(cards·b), the throughput of `cards` cards against one · value c.
    """
    if candidate is None:
        return Outcome(NOT_MEASURED, None, "no_measurement")
    if calculator != "value" and baseline is None:
        return Outcome(NOT_PROVABLE, None, "no_baseline", {}, {"candidate": candidate})
    facts = {"candidate": candidate, "baseline": baseline, "cards": cards}
    if not np.isfinite(candidate) or (baseline is not None and not np.isfinite(baseline)):
        return Outcome(FAILED, None, "nonfinite", {}, facts)
    if calculator != "value" and baseline == 0:
        return Outcome(NOT_PROVABLE, None, "baseline_zero", {}, facts)
    if calculator == "scaling" and not cards:
        return Outcome(NOT_PROVABLE, None, "cards_unknown", {}, facts)
    figure = _value_figure(calculator, candidate, baseline, cards)
    if calculator == "scaling" and figure > 1:
        return Outcome(NOT_PROVABLE, figure, "implausible_scaling", {"figure": figure}, facts)
    return _decided(figure, threshold, rule.comparison, {"figure": figure}, facts)


def _value_figure(calculator: str, c: float, b: float | None, cards: int | None) -> float:
    if calculator == "relative_error":
        return abs(c - b) / abs(b)
    if calculator == "ratio":
        return c / b
    if calculator == "reduction":
        return (b - c) / b
    if calculator == "scaling":
        return c / (cards * b)
    return c


def _decided(figure, threshold, comparison, figures, facts) -> Outcome:
    is_met = compare(figure, threshold, comparison)
    return Outcome(PASSED if is_met else FAILED, figure,
                   "threshold_met" if is_met else "threshold_missed", figures, facts)
