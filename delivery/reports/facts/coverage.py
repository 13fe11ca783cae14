"""Coverage: for which aspects of each model a criterion was agreed, and how it stands.

Training and inference of a model are told apart; what its route does not ask for says so.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from assessments.definitions.aspects import Aspect
from assessments.definitions.route_aspects import (
    Side,
    asked_of,
    aspect_shown,
    side_of_stage,
    sides_of,
)
from assessments.models import Criterion, Outcome, Verdict
from delivery.documents.bilingual import both
from delivery.documents.tables.table import column, table
from delivery.reports.facts.source import Source
from engagements.models import MigratedModel

Judged = list[tuple[Criterion, Verdict | None]]


@dataclass
class Row:
    """One side of a model: criteria by aspect (None: of no aspect), and the aspects asked for."""

    model: MigratedModel
    side: Side
    asked: frozenset[str]
    agreed: dict[str | None, Judged] = field(default_factory=dict)

    @property
    def counted(self) -> set[str]:
        """Aspects that the route asks for, and those that were agreed beyond it."""
        return {*self.asked, *(aspect for aspect in self.agreed if aspect)}


def coverage_rows(source: Source) -> list[Row]:
    """Every side of every model in scope, with its criteria."""
    rows = {(model.pk, side): Row(model, side, frozenset(asked_of(model, side)))
            for model in source.models for side in sides_of(model)}
    for criterion, verdict in source.judged:
        side = side_of_stage(criterion.stage, criterion.model)
        row = rows.setdefault((criterion.model_id, side), Row(criterion.model, side, frozenset()))
        aspect = aspect_shown(asked_of(criterion.model, side), criterion.definition.quantity)
        row.agreed.setdefault(aspect, []).append((criterion, verdict))
    return list(rows.values())


def coverage(rows: list[Row]) -> dict:
    """The agreed criteria of each side with their verdicts, or that none was; models of which the
    same is to be said share a row."""
    others = [(_other, None)] if any(None in row.agreed for row in rows) else []
    columns = [*((lambda a=aspect: str(a.label), aspect) for aspect in Aspect), *others]
    alike: dict[str, tuple[list[str], list]] = {}
    for row in rows:
        cells = [both(lambda r=row: r.side.label),
                 *(_cell(row, aspect) for _title, aspect in columns)]
        alike.setdefault(repr(cells), ([], cells))[0].append(row.model.code)
    return table(lambda: _("Coverage: agreed criteria by model and aspect"), [
        column(lambda: _("Models")), column(lambda: _("Delivery")),
        *(column(title) for title, _aspect in columns)],
        [[", ".join(models), *cells] for models, cells in alike.values()],
        is_grouped=True, is_dense=True, empty=lambda: _("No model is in scope."))


def coverage_count(rows: list[Row]) -> dict[str, int]:
    """How many aspects of the sides of models have a criterion, of how many there are."""
    return {"agreed": sum(1 for row in rows for aspect in row.agreed if aspect),
            "all": sum(len(row.counted) for row in rows)}


def _other() -> str:
    return _("Other")


def _cell(row: Row, aspect: str | None) -> dict[str, str]:
    """One line per criterion with its outcome."""
    return both(lambda: "\n".join(_lines(row.agreed.get(aspect, []))) or (
        _("no criterion agreed") if aspect in row.asked or aspect is None
        else _("not required")))


def _lines(agreed: Judged) -> Iterator[str]:
    for criterion, verdict in agreed:
        outcome = verdict.outcome if verdict else Outcome.NOT_MEASURED
        yield _("%(criterion)s: %(outcome)s") % {
            "criterion": criterion.definition.localized_name, "outcome": Outcome(outcome).label}
