"""The lines of a verdict's calculation, in the active language."""

from decimal import Decimal

from django.utils.translation import gettext as _

from assessments.models import Criterion, MetricDefinition, Verdict
from toolreaders.verdicts.sentences import NEGATED, SIGNS, in_unit, shown
from toolreaders.verdicts.verdict import compare
from workers.labels.number_text import figure_text

OF_MEANS = ("relative_error_of_means", "relative_error_last_100")
DIGITS = 12


def number(value) -> str:
    """Twelve significant digits, without an exponent where it stays readable."""
    if not isinstance(value, (int, float)):
        return str(value if value is not None else "--")
    return f"{Decimal(f'{value:.{DIGITS}g}').normalize():f}" if 1e-6 <= abs(value) < 1e12 or (
        value == 0) else f"{value:.{DIGITS}g}"


def step_rows(verdict: Verdict | None) -> list[dict]:
    """The first and the worst steps, as text; empty for figures that are no curve."""
    known = (verdict.facts.get("working") if verdict else None) or {}
    return [{"label": label, "step": row["step"],
             **{key: number(row[key]) for key in ("baseline", "candidate", "error")},
             "relative": f"{figure_text(100 * row['relative'])} %"
             if isinstance(row["relative"], float) else str(row["relative"])}
            for label, key in ((_("First steps"), "first"), (_("Worst steps"), "worst"))
            for row in known.get(key, [])]


def lines(criterion: Criterion, verdict: Verdict | None) -> list[str]:
    """Sum, division and comparison, each in one line; empty where nothing was computed."""
    if verdict is None or verdict.figure is None:
        return []
    known = verdict.facts.get("working")
    found = _curve_lines(known) if known else _value_lines(criterion, verdict.facts)
    if criterion.run_rule[0] != MetricDefinition.Selection.LAST:
        found = [_runs_line(criterion, verdict)]
    return [*found, _comparison(criterion, verdict)] if found else []


def _curve_lines(known: dict) -> list[str]:
    points, figure = known["points"], known["figure"]
    if figure in OF_MEANS:
        b, n = known["sum_baseline"], known["sum_candidate"]
        return [f"Σ L_ref = {number(b)};  Σ L_npu = {number(n)};  n = {points}",
                f"|{number(n)} − {number(b)}| ÷ |{number(b)}| = {number(abs(n - b) / abs(b))}"]
    if figure == "mean_absolute_error":
        total = known["sum_error"]
        return [f"Σ |L_npu − L_ref| = {number(total)}",
                f"{number(total)} ÷ {points} = {number(total / points)}"]
    if figure == "max_relative_error":
        return [_of_row(known["worst"][0])]
    if figure == "relative_error_first_step":
        return [_of_row(known["first"][0])]
    total = known["sum_relative"]
    return [f"Σ |L_npu − L_ref| / |L_ref| = {number(total)}",
            f"{number(total)} ÷ {points} = {number(total / points)}"]


def _of_row(row: dict) -> str:
    return (f"|{number(row['candidate'])} − {number(row['baseline'])}| ÷ "
            f"|{number(row['baseline'])}| = {number(row['relative'])}")


def _value_lines(criterion: Criterion, facts: dict) -> list[str]:
    c, b, cards = (facts.get(key) for key in ("candidate", "baseline", "cards"))
    if not isinstance(c, (int, float)):
        return []
    if criterion.definition.calculator == MetricDefinition.Calculator.VALUE:
        return [_("measured value = %(value)s") % {"value": number(c)}]
    if not isinstance(b, (int, float)) or not b:
        return []
    x, y = number(c), number(b)
    return {
        "relative_error": lambda: [f"|{x} − {y}| ÷ |{y}| = {number(abs(c - b) / abs(b))}"],
        "degradation": lambda: [f"({y} − {x}) ÷ |{y}| = {number((b - c) / abs(b))}"],
        "points": lambda: [f"{y} − {x} = {number(b - c)}"],
        "ratio": lambda: [f"{x} ÷ {y} = {number(c / b)}"],
        "reduction": lambda: [f"({y} − {x}) ÷ {y} = {number((b - c) / b)}"],
        "scaling": lambda: [f"{x} ÷ ({cards} × {y}) = {number(c / (cards * b))}"],
    }[criterion.definition.calculator]()


def _runs_line(criterion: Criterion, verdict: Verdict) -> str:
    figures = [number(run.get("figure")) for run in verdict.facts.get("runs", [])]
    rule = MetricDefinition.Selection(criterion.run_rule[0]).label
    return _("%(rule)s (%(figures)s) = %(result)s") % {
        "rule": rule, "figures": "; ".join(figures), "result": number(verdict.figure)}


def _comparison(criterion: Criterion, verdict: Verdict) -> str:
    definition = criterion.definition
    text, limit = shown(verdict.figure, criterion.threshold, definition.unit)
    is_met = compare(verdict.figure, criterion.threshold, definition.comparison)
    sign = (SIGNS if is_met else NEGATED)[definition.comparison]
    threshold = f"{SIGNS[definition.comparison]} {in_unit(criterion.threshold, definition.unit)}"
    return _("%(figure)s %(sign)s %(limit)s, required: %(threshold)s") % {
        "figure": text, "sign": sign, "limit": limit, "threshold": threshold}
