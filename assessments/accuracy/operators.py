"""Reads of indexed operator comparisons: filter, order, explanation, history."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from operator import or_

from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext as _

from assessments.models import Comparison, Deviation, OperatorRow
from engagements.models import MigratedModel
from toolreaders.accuracy.msprobe_rows import COSINE_LIMIT, NOISE_FLOOR, RELATIVE_LIMIT
from toolreaders.verdicts.sentences import shown
from workers.models import Artifact

SHOW = {
    "deviating": ~Q(reason=""),
    "nonfinite": Q(is_nonfinite=True),
    "unmatched": ~Q(missing_on=""),
}
SORTS = ("position", "op", "cosine", "relative_error", "max_abs_error")
ROLES = ("input", "output", "parameters", "parameters_grad")
RUNS_SHOWN = 50


def filtered_rows(comparison: Comparison, params: Mapping[str, str]) -> QuerySet[OperatorRow]:
    """Rows by `show`, `reason`, `role` and the text `q`, ordered by `sort` (`-` turns it).

    Unknown values count as none. Missing figures come last either way.
    """
    rows = comparison.operators.all()
    if params.get("show") in SHOW:
        rows = rows.filter(SHOW[params["show"]])
    if params.get("reason") in Deviation.values:
        rows = rows.filter(reason=params["reason"])
    if params.get("role"):
        rows = rows.filter(role=params["role"])
    text = params.get("q", "").strip()
    if text:
        rows = rows.filter(name__icontains=text)
    return rows.order_by(*_order(params.get("sort", "")))


def _order(sort: str) -> list:
    name = sort.removeprefix("-")
    if name not in SORTS or name == "position":
        return ["-position" if sort == "-position" else "position"]
    field = F(name)
    first = field.desc(nulls_last=True) if sort[0] == "-" else field.asc(nulls_last=True)
    return [first, "position"]


def marked_rows(comparison: Comparison) -> dict[str, OperatorRow | None]:
    """The first deviating row and the suspect, in one query."""
    return marked_of([comparison])[comparison.pk]


def marked_of(comparisons: Iterable[Comparison]) -> dict[int, dict[str, OperatorRow | None]]:
    """The same of several comparisons, by their number; one query for all of them."""
    wanted = {entry.pk: {"first": entry.first_position, "suspect": entry.suspect_position}
              for entry in comparisons}
    places = [Q(comparison=pk, position=position) for pk, marks in wanted.items()
              for position in set(marks.values()) if position]
    rows = OperatorRow.objects.filter(reduce(or_, places)) if places else ()
    known = {(row.comparison_id, row.position): row for row in rows}
    return {pk: {name: known.get((pk, position)) for name, position in marks.items()}
            for pk, marks in wanted.items()}


def explained(row: OperatorRow) -> str:
    """Why the row deviates, with its figure and the limit; "" where it agrees."""
    texts = {
        "nonfinite": _("The NPU's tensor holds NaN or Inf where the reference is finite."),
        "overflow": _("The device reports an overflow, or a metric is NaN or infinite."),
        "shape": _("Shapes differ: %(shapes)s."),
        "checksum": _("Checksums differ."),
        "floor": _("The reference value is below %(floor)s; the NPU value is not."),
        "cosine": _("Cosine %(cosine)s, below the limit of %(cosine_limit)s."),
        "limit": _("Beyond the limits that msaccucmp documents: %(metrics)s."),
        "relative_error": _("Off by %(error)s of the reference's magnitude, limit %(limit)s."),
    }
    if row.reason not in texts:
        return ""
    cosine, cosine_limit = _against(row.cosine, COSINE_LIMIT, "")
    error, limit = _against(row.relative_error, RELATIVE_LIMIT, "%")
    return texts[row.reason] % {"shapes": row.shapes, "floor": f"{NOISE_FLOOR:g}", "error": error,
                                "metrics": row.tool_verdict,
                                "cosine": cosine, "cosine_limit": cosine_limit, "limit": limit}


def _against(value: float | None, limit: float, unit: str) -> tuple[str, str]:
    """Both as text, with enough digits to stand on the right side of each other."""
    if value is None:
        return "∞", shown(0.0, Decimal(str(limit)), unit)[1]
    return shown(value, Decimal(str(limit)), unit)


def comparisons_beside(artifact: Artifact) -> QuerySet[Comparison]:
    """All comparisons of the artifact's model, newest first, its own among them."""
    return Comparison.objects.filter(
        artifact__engagement=artifact.engagement_id, artifact__model=artifact.model_id,
        problem="").select_related("artifact__job")


def newest_comparison(model: MigratedModel) -> Comparison | None:
    """The model's newest comparison whose rows can be shown."""
    return Comparison.objects.filter(
        artifact__model=model, problem="").select_related("artifact").first()


@dataclass(frozen=True)
class OperatorRun:
    """An operator in one comparison; `rows` is empty where the run did not execute it."""

    comparison: Comparison
    rows: list[OperatorRow]

    @property
    def worst(self) -> OperatorRow | None:
        """The first deviating row; without one the row with the largest error."""
        deviating = next((row for row in self.rows if row.reason), None)
        return deviating or max(self.rows, key=lambda row: row.relative_error or 0, default=None)

    @property
    def deviating(self) -> int:
        return sum(bool(row.reason) for row in self.rows)

    @property
    def explanation(self) -> str:
        return explained(self.worst) if self.worst else ""


def operator_history(artifact: Artifact, op: str) -> list[OperatorRun]:
    """The operator in the newest 50 comparisons of the same model; two queries."""
    comparisons = list(comparisons_beside(artifact)[:RUNS_SHOWN])
    rows: dict[int, list[OperatorRow]] = {}
    for row in OperatorRow.objects.filter(op=op, comparison__in=comparisons).order_by("position"):
        rows.setdefault(row.comparison_id, []).append(row)
    return [OperatorRun(entry, rows.get(entry.pk, [])) for entry in comparisons]
