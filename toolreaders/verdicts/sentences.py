"""Verdicts as sentences, with enough digits never to contradict themselves (AR-18).

Sentences are message ids with their values; who has catalogues translates them.
"""

from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Any

from toolreaders.curves.matching import STEP
from toolreaders.sentences import gettext_noop
from toolreaders.verdicts.difference_sentences import (
    METHODS,
    difference_sentence,
    is_condition,
    joined,
)

ANY_DOUBLE = Context(prec=400)  # digits of the largest one and of its fraction
SIGNS = {"lt": "<", "le": "≤", "gt": ">", "ge": "≥"}
NEGATED = {"lt": "≥", "le": ">", "gt": "≤", "ge": "<"}
LIMITS = {"lt": gettext_noop("below"), "le": gettext_noop("at most"),
          "gt": gettext_noop("above"), "ge": gettext_noop("at least")}
OUTCOMES = {True: gettext_noop("Passed"), False: gettext_noop("Failed")}

NOT_OF_THE_CURVES = ("criteria_unsigned", "baseline_unsigned", "environment_unreviewed")
REASONS = {
    "no_measurement": gettext_noop("Nothing has been measured yet."),
    "no_baseline": gettext_noop("No baseline to compare with."),
    "baseline_zero": gettext_noop("The baseline is zero; a relative figure is not defined."),
    "criteria_unsigned": gettext_noop("The criteria are not signed by both sides yet."),
    "baseline_unsigned": gettext_noop("The baseline is not signed by both sides yet."),
    "units_differ": gettext_noop("Baseline and measurement are in different units."),
    "environment_unreviewed": gettext_noop(
        "The environments of baseline and NPU run differ in items that nobody has accepted yet."),
    "agreed_after_run": gettext_noop(
        "The criterion was frozen after the judged run had begun, so what it asks for may follow "
        "what was measured: not proven. Run again under the frozen criterion, or let the "
        "customer's reviewer accept this order with a reason."),
    "no_common_steps": gettext_noop(
        "The two curves have no step in common. Print the step with each loss, in both runs at the "
        "same interval."),
    "steps_unproven": gettext_noop(
        "A log does not say to which step its losses belong, and samples, tokens, or epochs with "
        "learning rates do not bring the two logs together: they cannot be compared step by step. "
        "Print the step or the consumed samples with each loss next time."),
    "records_mixed": gettext_noop(
        "A log mixes the losses of several processes or runs; they cannot be compared step by "
        "step."),
    "figure_undefined": gettext_noop("The judged figure is not defined for these curves."),
    "cards_unknown": gettext_noop("The number of cards is not recorded."),
    "not_positive": gettext_noop(
        "A rate, time or size is zero or below; no ratio can be formed with it."),
    "agent_declared": gettext_noop(
        "An agent declares this file: no job made it, and no person stored it. It is no evidence; "
        "run the job that makes it."),
    "same_file": gettext_noop("The measured file is the baseline's own file."),
    "contradictory_values": gettext_noop("The file holds several values of this quantity."),
    "window_not_reached": gettext_noop("The baseline's records do not fill the agreed window."),
    "first_step_missing": gettext_noop("The baseline's first step has no counterpart."),
    "file_changed": gettext_noop("The stored raw file no longer has its recorded checksum."),
    "file_unreadable": gettext_noop("The stored raw file cannot be read as a training log."),
    "nonfinite": gettext_noop("%(n)s steps hold a value that is not finite, the first is step "
                              "%(step)s: not passed."),
    "nonfinite_grad_norm": gettext_noop(
        "The losses meet the threshold, but gradient norms are not finite at %(norms)s steps, the "
        "first is step %(norm_step)s, and no log says why: not proven. Find the cause of the "
        "non-finite gradients and run again."),
    "no_npu_used": gettext_noop(
        "The log says that this run used no NPU (line %(line)s: “%(quote)s”): its figures say "
        "nothing of the NPU. Run it on an NPU and take the file of that run."),
    "no_update_shown": gettext_noop(
        "The losses meet the threshold, but a log prints no gradient norm that is finite and above "
        "zero: it does not show that anything was trained. Find out why and run again."),
    "too_little_coverage": gettext_noop(
        "Only %(points)s of %(of)s baseline steps have a counterpart (%(coverage)s): "
        "not enough to judge."),
    "too_few_points": gettext_noop(
        "Only %(points)s common steps; the definition requires %(minimum)s."),
    "too_few_runs": gettext_noop(
        "Only %(runs)s runs were measured; the definition requires %(wanted)s."),
}


def shown(figure: float, threshold: Decimal, unit: str) -> tuple[str, str]:
    """Figure and threshold as text that compare as the exact values do.

    Digits are added until the rounded figure stands on the same side of the threshold.
    """
    scale = scale_of(unit)
    exact, limit = Decimal(repr(float(figure))) * scale, Decimal(threshold) * scale
    suffix = _suffix(unit)
    limit_text = f"{limit.normalize():f}"
    if not exact.is_finite():
        return f"{figure}", limit_text + suffix
    for digits in range(_first_digits(exact), 60):
        text = exact.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_EVEN, ANY_DOUBLE)
        if _side(text, limit) == _side(exact, limit):
            return f"{text:f}{suffix}", limit_text + suffix
    return f"{exact:f}{suffix}", limit_text + suffix


def scale_of(unit: str) -> int:
    """What a stored figure is multiplied by to be read: fractions are shown per hundred."""
    return 100 if unit in ("%", "pp") else 1


def in_unit(value: Decimal, unit: str) -> str:
    """A stored threshold or value in the unit that people read: 0.02 is "2 %"."""
    return f"{(Decimal(value) * scale_of(unit)).normalize():f}{_suffix(unit)}"


def _suffix(unit: str) -> str:
    return " %" if unit == "%" else f" {unit}" if unit and not unit.startswith("/") else unit


def _first_digits(value: Decimal) -> int:
    """Three decimals, more for small values, fewer for large ones."""
    if value == 0:
        return 3
    return max(1, min(12, 3 - min(0, value.adjusted() + 1))) if abs(value) < 1000 else 1


def _side(value: Decimal, limit: Decimal) -> int:
    return (value > limit) - (value < limit)


def sentence(
    outcome: str, reason: str, figure: float | None, threshold: Decimal, comparison: str,
    unit: str, facts: dict, translate: Callable[[str], str] = str,
) -> str:
    """The verdict in one sentence, and behind it where the runs do not train alike and, if it did
    not pass, what the curves differ in; ``translate`` finds message ids in a catalogue."""
    message, values = reason_message(reason, facts) or _judged(
        outcome, reason, figure, threshold, comparison, unit, facts)
    for name in {"outcome", "method", "side"} & values.keys():
        values[name] = translate(values[name])
    tells_why = outcome != "passed" and reason not in NOT_OF_THE_CURVES
    return joined([translate(message) % values, *(
        difference_sentence(finding, translate) for finding in facts.get("differences") or []
        if tells_why or is_condition(finding))])


def _judged(
    outcome: str, reason: str, figure: float | None, threshold: Decimal, comparison: str,
    unit: str, facts: dict,
) -> tuple[str, dict[str, Any]]:
    """Message id and values of a comparison with the threshold; `outcome` is a message id too."""
    if figure is None:
        return gettext_noop("No figure could be computed."), {}
    text, limit = shown(figure, threshold, unit)
    if reason == "implausible_scaling":
        return gettext_noop("A scaling efficiency of %(figure)s is not plausible; the "
                            "configurations probably differ."), {"figure": text}
    values = {"figure": text, "side": LIMITS[comparison], "limit": limit,
              "outcome": OUTCOMES[outcome == "passed"]}
    if (points := facts.get("common_points")) is not None:
        if (method := facts.get("alignment", STEP)) != STEP:
            return gettext_noop(
                "%(outcome)s: %(figure)s over %(points)s records, aligned by %(method)s; limit is "
                "%(side)s %(limit)s."), {**values, "points": points, "method": METHODS[method]}
        return gettext_noop("%(outcome)s: %(figure)s over %(points)s steps; limit is %(side)s "
                            "%(limit)s."), {**values, "points": points}
    return gettext_noop("%(outcome)s: %(figure)s; limit is %(side)s %(limit)s."), values


def reason_message(reason: str, facts: dict) -> tuple[str, dict] | None:
    """Message id and values of a reason that is not the comparison with the threshold."""
    if reason == "nonfinite" and facts.get("first_nonfinite_step") is None:
        return gettext_noop("A value is not finite: not passed."), {}
    if reason == "no_npu_used" and facts.get("no_npu_line") is None:
        return gettext_noop(
            "The job that made this file used no NPU, as far as its log, npu-smi and the open "
            "files of its processes show: its figures say nothing of the NPU. Run it on an NPU "
            "and take the file of that run."), {}
    if reason not in REASONS:
        return None
    return REASONS[reason], {
        "n": facts.get("nonfinite"), "step": facts.get("first_nonfinite_step"),
        "line": facts.get("no_npu_line"), "quote": facts.get("no_npu_quote"),
        "norms": facts.get("bad_norms"), "norm_step": facts.get("first_bad_norm"),
        "points": facts.get("common_points"), "of": facts.get("baseline_points"),
        "coverage": f"{100 * facts.get('coverage', 0):.1f} %",
        "minimum": facts.get("minimum_points"), "runs": facts.get("runs_judged"),
        "wanted": facts.get("runs_wanted")}
