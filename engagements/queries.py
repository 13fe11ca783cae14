"""Queries that pages and API share."""

from django.db.models import Count, Q, QuerySet

from engagements.models import Engagement, StageRecord
from engagements.stages import LET_THROUGH, Stage, StageState


def with_progress(engagements: QuerySet) -> QuerySet:
    """Adds `stages_passed`, `stages_in_scope` and `model_count` to each engagement."""
    current = Q(models__dropped_at=None)
    in_scope = current & ~Q(models__stages__state=StageState.SKIPPED)
    ordered = engagements.select_related("customer").order_by("-created_at", "code")
    return ordered.annotate(
        model_count=Count("models", filter=current, distinct=True),
        stages_in_scope=Count("models__stages", filter=in_scope, distinct=True),
        stages_passed=Count("models__stages", distinct=True,
                            filter=current & Q(models__stages__state__in=LET_THROUGH)))


def matrix(models: QuerySet) -> list[dict]:
    """Models with their eight stage records, in order, in two queries."""
    return [{"model": model, "records": list(model.stages.all())}
            for model in models.prefetch_related("stages")]


def stage_summary(engagement: Engagement) -> list[dict]:
    """Per stage: how many models have it in scope, started it, were let through."""
    rows = {stage: {"stage": stage, "in_scope": 0, "passed": 0, "started": 0}
            for stage in Stage.values}
    for stage, state in StageRecord.objects.filter(
            model__engagement=engagement).values_list("stage", "state"):
        row = rows[stage]
        row["in_scope"] += state != StageState.SKIPPED
        row["passed"] += state in LET_THROUGH
        row["started"] += state not in (StageState.NOT_STARTED, StageState.SKIPPED)
    return list(rows.values())


def filtered(engagements: QuerySet, params) -> QuerySet:
    """The list's filter: text, scope and state."""
    text = params.get("q", "").strip()
    if text:
        engagements = engagements.filter(
            Q(code__icontains=text) | Q(name__icontains=text) | Q(name_en__icontains=text)
            | Q(customer__name__icontains=text) | Q(contract_number__icontains=text))
    for field in ("scope", "state"):
        if params.get(field):
            engagements = engagements.filter(**{field: params[field]})
    return engagements
