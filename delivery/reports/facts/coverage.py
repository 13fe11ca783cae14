"""Coverage: for which aspects of each model a criterion was agreed, and how it stands."""

from django.utils.translation import gettext as _

from assessments.definitions.aspects import Aspect, aspect_of
from assessments.models import Criterion, Outcome, Verdict
from delivery.documents.bilingual import both
from delivery.documents.tables.table import column, table
from delivery.reports.facts.source import Source


def coverage(source: Source) -> dict:
    """Models by aspect: the agreed criteria with their verdicts, or that none was agreed."""
    found: dict[tuple, list] = {}
    for criterion, verdict in source.judged:
        key = criterion.model_id, aspect_of(criterion.definition.quantity)
        found.setdefault(key, []).append((criterion, verdict))
    others = [(_other, None)] if any(aspect is None for _model, aspect in found) else []
    columns = [*((lambda a=aspect: str(a.label), aspect) for aspect in Aspect), *others]
    rows = [[model.code, *(_cell(found.get((model.pk, aspect), [])) for _title, aspect in columns)]
            for model in source.models]
    return table(lambda: _("Coverage: agreed criteria by model and aspect"), [
        column(lambda: _("Model"), "code"), *(column(title) for title, _aspect in columns)], rows,
                 empty=lambda: _("No model is in scope."))


def coverage_count(source: Source) -> dict[str, int]:
    """How many pairs of model and aspect have a criterion, of how many there are."""
    agreed = {(criterion.model_id, aspect) for criterion, _verdict in source.judged
              if (aspect := aspect_of(criterion.definition.quantity))}
    return {"agreed": len(agreed), "all": len(source.models) * len(Aspect)}


def _other() -> str:
    return _("Other")


def _cell(pairs: list[tuple[Criterion, Verdict | None]]) -> dict[str, str]:
    """One line per criterion with its outcome."""
    return both(lambda: "\n".join(
        _("%(criterion)s: %(outcome)s") % {
            "criterion": criterion.definition.localized_name,
            "outcome": Outcome(verdict.outcome if verdict else Outcome.NOT_MEASURED).label}
        for criterion, verdict in pairs) or _("no criterion agreed"))
