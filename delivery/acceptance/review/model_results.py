"""Results per model of a reviewed document, and decisions carried over from the version before."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from delivery.acceptance.models import Condition, ModelDecision, Review
from delivery.acceptance.review.retest_comparison import criterion_fingerprints

MAX_EXPANDED = 3  # with more models only those that do not pass are expanded


@dataclass(frozen=True)
class ModelResult:
    """One model with its criteria as the document judges them.

    `earlier` is how it passed in the version before, if no figure or run has changed since.
    """

    code: str
    name: str
    metrics: list[dict]
    earlier: ModelDecision | None = None
    is_open: bool = False

    @property
    def passed(self) -> int:
        return sum(row["outcome"] == "passed" for row in self.metrics)

    @property
    def outcome(self) -> str:
        """passed, failed if one is, else not_measured: there is nothing to pass by."""
        outcomes = {row["outcome"] for row in self.metrics}
        if "failed" in outcomes:
            return "failed"
        return "passed" if outcomes == {"passed"} else "not_measured"

    @property
    def label(self) -> str:
        if not self.metrics:
            return _("no criterion")
        return _("%(passed)d of %(total)d passed") % {
            "passed": self.passed, "total": len(self.metrics)}


def model_results(review: Review, facts: dict) -> list[ModelResult]:
    """The document's models, those that fail a criterion first.

    Args:
        facts: the document's snapshot in one language.
    """
    rows = {model["code"]: [] for model in facts.get("models", [])}
    for metric in facts.get("metrics", []):
        rows.setdefault(metric["model"], []).append(metric)
    names = {model["code"]: model["name"] for model in facts.get("models", [])}
    carried = carried_over_decisions(review)
    found = [ModelResult(code, names.get(code, ""), metrics, carried.get(code))
             for code, metrics in rows.items()]
    return sorted((_opened(row, len(found)) for row in found),
                  key=lambda row: row.outcome == "passed")


def _opened(row: ModelResult, total: int) -> ModelResult:
    is_open = row.outcome != "passed" or total <= MAX_EXPANDED
    return ModelResult(row.code, row.name, row.metrics, row.earlier, is_open)


def carried_over_decisions(review: Review) -> dict[str, ModelDecision]:
    """Decisions on the version before whose models have the same figures from the same runs.

    A rejection is never kept: whoever rejects says so anew.
    """
    before = earlier_review(review)
    if before is None:
        return {}
    old, new = (criterion_fingerprints(row.document.snapshot) for row in (before, review))
    passing = before.model_decisions.exclude(decision=Review.Decision.REJECTED)
    return {row.model.code: row for row in passing.select_related("model")
            if old.get(row.model.code) == new.get(row.model.code) is not None}


def earlier_review(review: Review) -> Review | None:
    """The decided review of the version that this document replaces."""
    previous = getattr(review.document.replaces, "review", None)
    return previous if previous and previous.decision else None


def carried_over_conditions(review: Review) -> list[dict]:
    """Open issues of the version before about models that nothing has changed of."""
    carried, before = carried_over_decisions(review), earlier_review(review)
    rows = Condition.objects.filter(review=before, closed_at=None, model__code__in=carried)
    return [{**owner_of(row), "description": row.description, "model": row.model.code,
             "due_on": row.due_on, "effect": row.effect}
            for row in rows.select_related("model", "owner_user")]


def owner_of(condition: Condition) -> dict[str, str]:
    """Whose it is, as a form offers it: an account, or a name where there is none."""
    user = condition.owner_user
    return {"owner_user": user.username} if user else {"owner": condition.owner}
