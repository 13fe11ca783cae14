"""Keeps the days of unfinished tasks by person, from the schedules of the plans."""

from collections.abc import Collection, Iterable

from django.db import connections, models, transaction

from delivery.planning.models import Absence, Dependency, Plan, PlannedTask, Task
from delivery.planning.plan.task_dates import schedule
from engagements.errors import InvalidInput
from engagements.models import Engagement, MigratedModel, StageRecord

# From a plan to the rows whose writes move its tasks.
PATHS: dict[type[models.Model], str] = {
    Plan: "pk", Task: "tasks", Dependency: "tasks__precursors",
    StageRecord: "engagement__models__stages", MigratedModel: "engagement__models",
    Engagement: "engagement", Absence: "tasks__owner__absences"}
REMOVABLE = (Task, Dependency, Absence)
BATCH = 200


def rows_written(table: type[models.Model], keys: Collection) -> None:
    """Have the plans of these rows computed anew once the transaction is committed."""
    _after_commit(Plan.objects.filter(**{f"{PATHS[table]}__in": list(keys)}).values_list(
        "pk", flat=True))


def row_removed(instance: Task | Dependency | Absence, **_signal) -> None:
    """The same for the plans of a row that is gone."""
    if isinstance(instance, Absence):
        _after_commit(Plan.objects.filter(tasks__owner=instance.person_id).values_list(
            "pk", flat=True))
        return
    _after_commit([(instance.after if isinstance(instance, Dependency) else instance).plan_id])


def _after_commit(keys: Iterable[int]) -> None:
    """Each plan once per transaction."""
    waiting = {key for _sids, call, *_rest in connections["default"].run_on_commit
               for key in getattr(call, "plans", ())}
    if fresh := set(keys) - waiting:
        def call() -> None:
            refresh(fresh)

        call.plans = fresh
        transaction.on_commit(call)


def refresh(plans: Collection[int]) -> None:
    """Write the summaries of these plans anew."""
    for plan in Plan.objects.filter(pk__in=plans).select_related("engagement"):
        with transaction.atomic():
            Plan.objects.select_for_update(of=("self",), no_key=True).get(pk=plan.pk)
            PlannedTask.objects.filter(task__plan=plan).delete()
            PlannedTask.objects.bulk_create(_rows(plan))


def rebuild() -> int:
    """Write the summaries of all plans under way anew, in batches; how many plans."""
    keys = list(Plan.objects.filter(engagement__state=Engagement.State.ACTIVE).values_list(
        "pk", flat=True))
    for start in range(0, len(keys), BATCH):
        refresh(keys[start:start + BATCH])
    return len(keys)


def differences() -> list[int]:
    """Plans under way whose summaries are not what their schedules say."""
    plans = Plan.objects.filter(engagement__state=Engagement.State.ACTIVE)
    return [plan.pk for plan in plans.select_related("engagement") if set(
        PlannedTask.objects.filter(task__plan=plan).values_list(
            "task", "person", "first", "last")) != {
        (row.task_id, row.person_id, row.first, row.last) for row in _rows(plan)}]


def _rows(plan: Plan) -> list[PlannedTask]:
    """None of an engagement that is over, and of a plan that cannot be scheduled."""
    if plan.engagement.state != Engagement.State.ACTIVE:
        return []
    try:
        rows = schedule(plan)
    except InvalidInput:
        return []
    return [PlannedTask(task=row.task, person_id=row.task.owner_id, first=row.start,
                        last=row.finish)
            for row in rows if row.task.owner_id and not row.task.ended_on and row.task.days]
