"""Verdicts as sentences, with enough digits never to contradict themselves (AR-18)."""

from decimal import ROUND_HALF_EVEN, Decimal

from django.utils.translation import gettext as _

SIGNS = {"lt": "<", "le": "≤", "gt": ">", "ge": "≥"}
NEGATED = {"lt": "≥", "le": ">", "gt": "≤", "ge": "<"}

REASONS = {
    "no_measurement": lambda: _("Nothing has been measured yet."),
    "no_baseline": lambda: _("There is no baseline to compare with."),
    "baseline_zero": lambda: _("The baseline is zero; a relative figure is not defined."),
    "criteria_unsigned": lambda: _("The criteria are not signed by both sides yet."),
    "baseline_unsigned": lambda: _("The baseline is not signed by both sides yet."),
    "units_differ": lambda: _("Baseline and measurement are in different units."),
    "environment_unreviewed": lambda: _(
        "The environments of baseline and NPU run differ in items that nobody has accepted yet."),
    "no_common_steps": lambda: _("The two curves have no step in common."),
    "steps_unproven": lambda: _(
        "A log does not say to which step its losses belong; they cannot be compared step by "
        "step."),
    "records_mixed": lambda: _(
        "A log mixes the losses of several processes or runs; they cannot be compared step by "
        "step."),
    "figure_undefined": lambda: _("The judged figure is not defined for these curves."),
    "cards_unknown": lambda: _("The number of cards is not recorded."),
    "not_positive": lambda: _(
        "A rate, time or size is zero or below; no ratio can be formed with it."),
    "same_file": lambda: _("The measured file is the baseline's own file."),
    "contradictory_values": lambda: _("The file holds several values of this quantity."),
    "window_not_reached": lambda: _("The baseline's records do not fill the agreed window."),
    "first_step_missing": lambda: _("The baseline's first step has no counterpart."),
    "file_changed": lambda: _("The stored raw file no longer has its recorded checksum."),
    "file_unreadable": lambda: _("The stored raw file cannot be read as a training log."),
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
        text = exact.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_EVEN)
        if _side(text, limit) == _side(exact, limit):
            return f"{text:f}{suffix}", limit_text + suffix
    return f"{exact:f}{suffix}", limit_text + suffix


def scale_of(unit: str) -> int:
    """What a stored figure is multiplied by to be read: fractions are shown per hundred."""
    return 100 if unit in ("%", "pp") else 1


def in_unit(threshold: Decimal, unit: str) -> str:
    """A threshold in the unit that people read: 0.02 is "2 %"."""
    value = Decimal(threshold) * scale_of(unit)
    return f"{value.normalize():f}{_suffix(unit)}"


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
    unit: str, facts: dict,
) -> str:
    """The verdict in one sentence of the active language."""
    if reason in REASONS:
        return REASONS[reason]()
    if reason in _WITH_FACTS:
        return _WITH_FACTS[reason](facts)
    if figure is None:
        return _("No figure could be computed.")
    text, limit = shown(figure, threshold, unit)
    if reason == "implausible_scaling":
        return _("A scaling efficiency of %(figure)s is not plausible; the configurations "
                 "probably differ.") % {"figure": text}
    signs = SIGNS if outcome == "passed" else NEGATED
    values = {"figure": text, "sign": signs[comparison], "limit": limit,
              "outcome": _outcome(outcome), "points": facts.get("common_points")}
    if values["points"] is not None:
        return _("%(figure)s %(sign)s %(limit)s over %(points)s common steps: "
                 "%(outcome)s.") % values
    return _("%(figure)s %(sign)s %(limit)s: %(outcome)s.") % values


def _nonfinite(facts: dict) -> str:
    step = facts.get("first_nonfinite_step")
    if step is None:
        return _("A value is not finite: not passed.")
    return _("%(n)s steps hold a value that is not finite, the first is step %(step)s: "
             "not passed.") % {"n": facts.get("nonfinite"), "step": step}


def _too_little_coverage(facts: dict) -> str:
    return _("Only %(points)s of %(of)s baseline steps have a counterpart (%(coverage)s): "
             "not enough to judge.") % {
        "points": facts.get("common_points"), "of": facts.get("baseline_points"),
        "coverage": f"{100 * facts.get('coverage', 0):.1f} %"}


def _too_few_points(facts: dict) -> str:
    return _("Only %(points)s common steps; the definition asks for %(minimum)s.") % {
        "points": facts.get("common_points"), "minimum": facts.get("minimum_points")}


def _too_few_runs(facts: dict) -> str:
    return _("Only %(runs)s runs are measured; the definition judges %(wanted)s.") % {
        "runs": facts.get("runs_judged"), "wanted": facts.get("runs_wanted")}


_WITH_FACTS = {"too_few_runs": _too_few_runs, "nonfinite": _nonfinite,
               "too_little_coverage": _too_little_coverage,
               "too_few_points": _too_few_points}


def _outcome(outcome: str) -> str:
    return _("passed") if outcome == "passed" else _("failed")
