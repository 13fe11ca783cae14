"""The arithmetic of the verdicts, without rounding. Relative values are fractions."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from fractions import Fraction
from math import isclose, isfinite
from operator import sub
from statistics import median
from typing import Any

from toolreaders.columns import finite_pairs
from toolreaders.curves.alignment import Aligned
from toolreaders.curves.differences import differences, learning_rates
from toolreaders.verdicts.calculation_steps import working
from toolreaders.verdicts.curve_figures import LEFT_OUT, curve_figures
from toolreaders.verdicts.exact import exact_figure

# Raised where the same raw files may give another verdict; why: ENGINE_CHANGES.
ENGINE_VERSION = "5"
# Version, and the reasons for which a verdict of before may not be provable any more.
ENGINE_CHANGES: dict[str, frozenset[str]] = {
    # Steps of a curve are no longer guessed, runs and ranks of one file no longer mixed.
    "3": frozenset({"steps_unproven", "records_mixed"}),
    # Equal losses beside gradients that are not finite, or zero throughout, prove nothing.
    # A run that by its own log used no NPU is no verdict on the NPU.
    "4": frozenset({"nonfinite_grad_norm", "no_update_shown", "no_npu_used"}),
}

# Version, and the reasons for which a verdict of before was not provable and now may be computed.
ENGINE_GAINS: dict[str, frozenset[str]] = {
    # Records without steps are brought together by samples, tokens, or epochs and learning rates.
    "5": frozenset({"steps_unproven", "no_common_steps"}),
}

AMOUNTS = ("ratio", "reduction", "scaling")  # of rates, times and sizes: never zero or below

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


RULE_FIELDS = tuple(entry.name for entry in fields(Rule))


@dataclass(frozen=True)
class Outcome:
    """A computed verdict: outcome, judged figure, reason code, and everything beside it.

    `exact` is the judged figure before it became a float: what a rule over several runs counts.
    """

    outcome: str
    figure: float | None
    reason: str
    figures: dict[str, float | None] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    exact: Fraction | None = None


def compare(figure: float | Decimal | Fraction, threshold: Decimal | float, comparison: str
            ) -> bool:
    """Whether the unrounded figure meets the threshold; a float counts as it is printed."""
    left, right = _fraction(figure), _fraction(threshold)
    return {"lt": left < right, "le": left <= right,
            "gt": left > right, "ge": left >= right}[comparison]


def _fraction(value: float | Decimal | Fraction) -> Fraction | float:
    """Exact; an infinity stays a float, which compares with fractions as it should."""
    if isinstance(value, Fraction):
        return value
    number = value if isinstance(value, Decimal) else Decimal(repr(float(value)))
    return Fraction(number) if number.is_finite() else float(number)


def judge_curve(aligned: Aligned | None, threshold: Decimal, rule: Rule) -> Outcome:
    """The verdict on a loss curve against its baseline.

    Non-finite values inside the window fail it, whatever the rest says; too little coverage, no
    common step or step numbers that a log does not prove make it not provable. Gradients that are
    not finite for no reason that the log tells, or never above zero, let nothing pass.
    """
    if aligned is None:
        return Outcome(NOT_MEASURED, None, "no_measurement")
    inside = aligned.window(rule.first_step, rule.last_step)
    figures = curve_figures(inside, rule.epsilon)
    absolute = rule.figure == "mean_absolute_error"
    facts = {"common_points": len(inside.steps), "coverage": inside.coverage,
             "nonfinite": inside.nonfinite, "first_nonfinite_step": inside.first_nonfinite_step,
             "first_step": inside.first_step, "last_step": inside.last_step,
             "baseline_points": inside.baseline_points,
             "warnings": [vars(warning) for warning in inside.warnings],
             "bad_norms": len(inside.bad_norms),
             "first_bad_norm": inside.bad_norms[0] if inside.bad_norms else None,
             "alignment": inside.method, "learning_rates": learning_rates(inside),
             "differences": differences(inside, float(threshold), is_absolute=absolute,
                                     largest=figures["max_relative_error"]),
             "minimum_points": rule.minimum_points, "minimum_coverage": rule.minimum_coverage,
             "working": working(inside, rule.figure, rule.epsilon)}
    exact = _near_threshold(inside, figures.get(rule.figure), threshold, rule)
    if exact is not None:
        figures[rule.figure] = float(exact)
    figure = figures.get(rule.figure)
    problem = _curve_problem(inside, figure, rule)
    if problem:
        outcome, reason = problem
        is_number = figure is not None and isfinite(figure)
        return Outcome(outcome, figure if is_number else None, reason, figures, facts)
    decided = _decided(
        figure if exact is None else exact, threshold, rule.comparison, figures, facts)
    doubt = _gradient_doubt(inside)
    if doubt and decided.outcome == PASSED:
        return replace(decided, outcome=NOT_PROVABLE, reason=doubt)
    return decided


def _gradient_doubt(inside: Aligned) -> str | None:
    """Why equal losses do not show that both runs trained alike; None where nothing says so."""
    if len(inside.bad_norms):
        return "nonfinite_grad_norm"
    return None if inside.shows_update else "no_update_shown"


def unread(code: str) -> Outcome:
    """The outcome for a file that cannot be read, or that contradicts itself."""
    return Outcome(NOT_PROVABLE, None,
                   code if code == "contradictory_values" else "file_unreadable")


def _curve_problem(inside: Aligned, figure: float | None, rule: Rule) -> tuple[str, str] | None:
    """Outcome and reason where the figure does not decide."""
    has_window = rule.first_step is not None or rule.last_step is not None
    checks = (
        (inside.unprovable and (has_window or not inside.nonfinite),
         (NOT_PROVABLE, inside.unprovable)),
        (inside.nonfinite > 0, (FAILED, "nonfinite")),
        (len(inside.steps) == 0, (NOT_PROVABLE, "no_common_steps")),
        (len(inside.steps) < rule.minimum_points, (NOT_PROVABLE, "too_few_points")),
        (not _reaches(inside.baseline_steps, rule), (NOT_PROVABLE, "window_not_reached")),
        (inside.coverage < rule.minimum_coverage, (NOT_PROVABLE, "too_little_coverage")),
        (rule.figure == "relative_error_first_step" and _lacks_first(inside),
         (NOT_PROVABLE, "first_step_missing")),
        (figure is None or not isfinite(figure), (NOT_PROVABLE, "figure_undefined")),
    )
    return next((answer for is_so, answer in checks if is_so), None)


def _reaches(steps: Sequence[int], rule: Rule) -> bool:
    """Whether the baseline's records fill the agreed window: none is missing at its two ends."""
    if not len(steps):
        return True  # another reason says so
    interval = int(median(map(sub, steps[1:], steps))) if len(steps) > 1 else 1
    return ((rule.first_step is None or steps[0] - interval < rule.first_step)
            and (rule.last_step is None or steps[-1] + interval > rule.last_step))


def _lacks_first(inside: Aligned) -> bool:
    """Whether the first common step is a later one than the baseline's first."""
    return len(inside.steps) > 0 and inside.steps[0] != inside.baseline_steps[0]


def _near_threshold(inside: Aligned, figure: float | None, threshold: Decimal, rule: Rule
                    ) -> Decimal | None:
    """The judged figure in decimal where binary rounding could decide; None elsewhere."""
    if figure is None or not isclose(figure, threshold, rel_tol=1e-9):
        return None
    first = LEFT_OUT.get(rule.figure, 0)
    b, n = finite_pairs(inside.baseline[first:], inside.candidate[first:])
    return exact_figure(rule.figure, b, n, rule.epsilon)


def judge_values(
    calculator: str, candidate: float | None, baseline: float | None, *, threshold: Decimal,
    rule: Rule, cards: int | None = None,
) -> Outcome:
    """The verdict on a single value.

    Args:
        calculator: relative_error |c − b|/|b| · degradation (b − c)/|b| · points b − c ·
            ratio c/b · reduction (b − c)/b · value c ·
            scaling c/(cards·b), the throughput of `cards` cards against one.
    """
    facts: dict[str, Any] = {"candidate": candidate, "baseline": baseline, "cards": cards}
    problem = _value_problem(calculator, candidate, baseline, cards)
    if problem:
        outcome, reason = problem
        return Outcome(outcome, None, reason, {}, facts)
    figure = _value_figure(calculator, *(None if v is None else _fraction(v)
                                         for v in (candidate, baseline)), cards)
    if calculator == "scaling" and figure > 1:
        return Outcome(NOT_PROVABLE, float(figure), "implausible_scaling",
                       {"figure": float(figure)}, facts)
    return _decided(figure, threshold, rule.comparison, {"figure": float(figure)}, facts)


def _value_problem(calculator: str, candidate: float | None, baseline: float | None,
                   cards: int | None) -> tuple[str, str] | None:
    """Outcome and reason where no figure can be computed."""
    is_alone = calculator == "value"
    values = [candidate] if is_alone else [candidate, baseline]
    checks = (
        (candidate is None, (NOT_MEASURED, "no_measurement")),
        (None in values, (NOT_PROVABLE, "no_baseline")),
        (any(v is not None and not isfinite(v) for v in values), (FAILED, "nonfinite")),
        (calculator not in ("value", "points") and baseline == 0,
         (NOT_PROVABLE, "baseline_zero")),
        (calculator in AMOUNTS and not all(v > 0 for v in values if v is not None),
         (NOT_PROVABLE, "not_positive")),
        (calculator == "scaling" and not cards, (NOT_PROVABLE, "cards_unknown")),
    )
    return next((answer for is_so, answer in checks if is_so), None)


def _value_figure(calculator: str, c: Fraction, b: Fraction | None, cards: int | None
                  ) -> Fraction:
    return {
        "relative_error": lambda: abs(c - b) / abs(b),
        "degradation": lambda: (b - c) / abs(b),
        "points": lambda: b - c,
        "ratio": lambda: c / b,
        "reduction": lambda: (b - c) / b,
        "scaling": lambda: c / (cards * b),
        "value": lambda: c,
    }[calculator]()


def _decided(figure: float | Decimal | Fraction, threshold: Decimal, comparison: str,
             figures: dict, facts: dict) -> Outcome:
    is_met = compare(figure, threshold, comparison)
    return Outcome(PASSED if is_met else FAILED, float(figure),
                   "threshold_met" if is_met else "threshold_missed", figures, facts,
                   Fraction(_fraction(figure)))
