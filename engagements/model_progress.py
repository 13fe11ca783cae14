"""Keeps the summary of where each model stands, and compares it with the stage records."""

from collections.abc import Collection, Iterator

from django.db import transaction
from django.db.models import OuterRef, Prefetch, QuerySet, Subquery

from engagements.models import (
    Engagement,
    MigratedModel,
    ModelProgress,
    StageRecord,
    StageTransition,
)
from engagements.models.model_progress import NOT_OPEN
from engagements.stages import DONE, EXTRA, LET_THROUGH, StageState

AGEING = (StageState.IN_PROGRESS, StageState.SUBMITTED, StageState.SENT_BACK)
COLUMNS = ("engagement_id", "record_id", "stage", "state", "open_since", "moved_by_id", "in_scope",
           "passed", "is_dropped", "is_under_way")
BATCH = 500
# From a model to the rows whose writes change its summary.
PATHS = {MigratedModel: "pk", Engagement: "engagement", StageRecord: "stages"}


def refresh(models: QuerySet) -> None:
    """Write the summaries of these models anew; call it inside the transaction of the write."""
    rows = [_summary(model) for model in _with_records(models)]
    ModelProgress.objects.bulk_create(
        rows, batch_size=BATCH, update_conflicts=True, unique_fields=["model"],
        update_fields=[name.removesuffix("_id") for name in COLUMNS])


def rebuild() -> int:
    """Write all summaries anew, in batches of their own transaction; how many."""
    count = 0
    for keys in _batches():
        with transaction.atomic():
            refresh(MigratedModel.objects.filter(pk__in=keys))
        count += len(keys)
    return count


def differences() -> Iterator[tuple[MigratedModel, list[str]]]:
    """Models whose stored summary is not what their stage records say, and its columns."""
    for keys in _batches():
        stored = ModelProgress.objects.in_bulk(keys)
        for model in _with_records(MigratedModel.objects.filter(pk__in=keys)):
            row, right = stored.get(model.pk), _summary(model)
            wrong = [name for name in COLUMNS
                     if row is None or getattr(row, name) != getattr(right, name)]
            if wrong:
                yield model, wrong


def _batches() -> Iterator[list[int]]:
    last = 0
    while keys := list(MigratedModel.objects.filter(pk__gt=last).order_by("pk").values_list(
            "pk", flat=True)[:BATCH]):
        yield keys
        last = keys[-1]


def _with_records(models: QuerySet) -> QuerySet:
    newest = StageTransition.objects.filter(record=OuterRef("pk")).order_by("-at", "-pk")
    records = StageRecord.objects.order_by("position").annotate(
        moved_at=Subquery(newest.values("at")[:1]),
        moved_by=Subquery(newest.values("actor_id")[:1]))
    return models.order_by("pk").select_related("engagement").prefetch_related(
        Prefetch("stages", queryset=records, to_attr="ordered_records"))


def _summary(model: MigratedModel) -> ModelProgress:
    records = model.ordered_records
    current = next((record for record in records if record.state not in DONE), None)
    state, follows = model.engagement.state, current is not None and current.stage in EXTRA
    row = ModelProgress(
        model=model, engagement=model.engagement, record=current,
        in_scope=sum(record.state != StageState.SKIPPED for record in records),
        passed=sum(record.state in LET_THROUGH for record in records),
        is_dropped=model.dropped_at is not None,
        is_under_way=model.dropped_at is None and (
            state == Engagement.State.ACTIVE or (follows and state == Engagement.State.ACCEPTED)))
    if current:
        row.stage, row.state = current.stage, current.state
        row.moved_by_id = current.moved_by
        if current.state in AGEING:
            row.open_since = (current.moved_at or current.submitted_at or current.started_at
                              or NOT_OPEN)
    return row


def rows_written(table: type, keys: Collection) -> None:
    """Write the summaries anew that follow from rows with these keys, which were just written."""
    refresh(MigratedModel.objects.filter(**{f"{PATHS[table]}__in": keys}).distinct())
