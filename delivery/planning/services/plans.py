"""Writes of plans. Each function owns its transaction, lock and audit entry."""

import math
from collections.abc import Container
from datetime import date, timedelta
from decimal import Decimal

from django.db import transaction
from django.db.models import ProtectedError, Sum
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.planning.effort.usage import current_estimate
from delivery.planning.models import (
    Dependency,
    Milestone,
    Plan,
    PlanBaseline,
    ScheduleEffect,
    Task,
)
from delivery.planning.models.plan import LONGEST_TASK
from delivery.planning.plan.task_dates import schedule
from delivery.planning.services.files import enqueue_files
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from engagements.models import Engagement, MigratedModel, User
from engagements.optimistic_locking import assign, lock_checked, save_changes
from engagements.stages import StageState

TEN_YEARS = timedelta(days=3652)


@transaction.atomic
def draft_plan(*, actor: User, engagement: Engagement, starts_on: date) -> Plan:
    """A plan with a task per model and stage in scope, each after the one before.

    Lengths are the likely days of the current estimate for one person, rounded up; one day
    where nothing is estimated. Raises WrongState if there is a plan, InvalidInput without models
    or for a start more than ten years away.
    """
    require(actor, Can.MANAGE, engagement)
    engagement = Engagement.objects.select_for_update(
        of=("self",), no_key=True).get(pk=engagement.pk)
    if Plan.objects.filter(engagement=engagement).exists():
        raise WrongState(_("A plan already exists; change its tasks."))
    if abs(starts_on - timezone.localdate()) > TEN_YEARS:
        raise InvalidInput(_("The start is more than ten years away."))
    models = list(engagement.models.current().prefetch_related("stages"))
    if not models:
        raise InvalidInput(_("Add the models first: there is nothing to plan."))
    plan = Plan.objects.create(engagement=engagement, starts_on=starts_on)
    days = _estimated_days(engagement)
    for model in models:
        _chain(plan, model, days)
    audit_log.record(actor=actor, action="plan.draft", target=plan, engagement=engagement,
                     data={"tasks": plan.tasks.count()})
    return plan


def _estimated_days(engagement: Engagement) -> dict[tuple[int, str], int]:
    estimate = current_estimate(engagement)
    rows = estimate.lines.order_by().values_list("model_id", "stage").annotate(
        Sum("likely")) if estimate else []
    return {(model, stage): max(1, math.ceil(likely)) for model, stage, likely in rows}


def _chain(plan: Plan, model: MigratedModel, days: dict) -> None:
    before = None
    for record in model.stages.exclude(state=StageState.SKIPPED):
        task = Task.objects.create(plan=plan, model=model, stage=record.stage,
                                   days=days.get((model.pk, record.stage), 1),
                                   position=plan.tasks.count())
        if before:
            Dependency.objects.create(before=before, after=task)
        before = task


@transaction.atomic
def add_task(*, actor: User, plan: Plan, **fields) -> Task:
    """A further task at the end of the list."""
    require(actor, Can.MANAGE, plan.engagement)
    plan = _locked(plan)
    task = Task(plan=plan, position=plan.tasks.count(), **fields)
    _check_task(task)
    _check_stage(task, fields)
    task.save()
    schedule(plan)  # refuses a plan without end
    audit_log.record(actor=actor, action="task.add", target=task, engagement=plan.engagement)
    return task


@transaction.atomic
def update_task(*, actor: User, task: Task, seen: int | None = None, **fields) -> Task:
    """Change a task. Raises EditConflict when it moved on since version `seen`."""
    require(actor, Can.MANAGE, task.plan.engagement)
    task = lock_checked(task, seen)
    changed = assign(task, fields)
    _check_task(task)
    _check_stage(task, changed)
    save_changes(task, actor=actor, action="task.update", engagement=task.plan.engagement,
                 changed=changed)
    schedule(task.plan)  # refuses a plan without end
    return task


@transaction.atomic
def remove_task(*, actor: User, task: Task) -> None:
    """Take a task out of the plan together with its dependencies.

    Raises WrongState when a change request refers to it.
    """
    require(actor, Can.MANAGE, task.plan.engagement)
    if ScheduleEffect.objects.filter(task=task).exists():
        raise WrongState(_("A change request refers to this task; it cannot be removed."))
    Task.objects.filter(pk=task.pk).delete()
    audit_log.record(actor=actor, action="task.remove", target=task,
                     engagement=task.plan.engagement)


def _check_task(task: Task) -> None:
    engagement = task.plan.engagement
    if not (task.title or task.stage):
        raise InvalidInput(_("Name the task or choose its stage."))
    if not 0 <= task.days <= LONGEST_TASK:
        raise InvalidInput(_("A task lasts from 0 to %(days)d working days.")
                           % {"days": LONGEST_TASK})
    if task.model and task.model.engagement_id != engagement.pk:
        raise InvalidInput(_("The model belongs to another engagement."))
    if task.owner and not engagement.memberships.filter(user=task.owner).exists():
        raise InvalidInput(_("%(person)s is not on the team of this engagement.")
                           % {"person": task.owner})
    _check_dates(task)


def _check_stage(task: Task, changed: Container[str]) -> None:
    """The stage is the source of its task's state; typed days only correct those of its moves."""
    if (record := task.stage_record) is None:
        return
    if "started_on" in changed and task.started_on and not task.began_on:
        raise InvalidInput(_("%(stage)s has not started: start the stage on "
                             "its page; the plan follows.") % {"stage": record})
    if "finished_on" in changed and task.finished_on and not task.ended_on:
        raise InvalidInput(_("%(stage)s has not been let through: the task ends with its stage, "
                             "the plan follows.") % {"stage": record})


def _check_dates(task: Task) -> None:
    if task.finished_on and not task.started_on:
        raise InvalidInput(_("A finished task needs the day on which it started."))
    if task.finished_on and task.finished_on < task.started_on:
        raise InvalidInput(_("The end is before the start."))
    if task.started_on and task.started_on < task.plan.starts_on:
        raise InvalidInput(_("The plan begins on %(day)s; nothing can start before.")
                           % {"day": task.plan.starts_on})
    if max(task.started_on or date.min, task.finished_on or date.min) > timezone.localdate():
        raise InvalidInput(_("Actual dates cannot be in the future."))
    if task.not_before and task.not_before > task.plan.starts_on + TEN_YEARS:
        raise InvalidInput(_("“Not before” lies more than ten years after the plan's start."))


@transaction.atomic
def link_tasks(*, actor: User, before: Task, after: Task, lag: int = 0) -> Dependency:
    """`after` begins `lag` working days after the end of `before`.

    Raises InvalidInput for tasks of two plans, and for a circle, naming the tasks on it.
    """
    require(actor, Can.MANAGE, after.plan.engagement)
    plan = _locked(after.plan)
    if before.plan_id != plan.pk or before.pk == after.pk:
        raise InvalidInput(_("Choose two different tasks of this plan."))
    link, _created = Dependency.objects.update_or_create(
        before=before, after=after, defaults={"lag": lag})
    schedule(plan)  # refuses a circle
    audit_log.record(actor=actor, action="task.link", target=after, engagement=plan.engagement,
                     data={"after": str(before), "lag": lag})
    return link


@transaction.atomic
def unlink_tasks(*, actor: User, link: Dependency) -> None:
    """Take a dependency back."""
    require(actor, Can.MANAGE, link.after.plan.engagement)
    link.delete()
    audit_log.record(actor=actor, action="task.unlink", target=link.after,
                     engagement=link.after.plan.engagement, data={"after": str(link.before)})


@transaction.atomic
def take_baseline(*, actor: User, plan: Plan, reason: str = "") -> PlanBaseline:
    """Keep the computed dates as what was agreed. From the second one on with a reason."""
    require(actor, Can.MANAGE, plan.engagement)
    plan = _locked(plan)
    newest = plan.baselines.first()
    if newest and not reason.strip():
        raise InvalidInput(_("Give the reason for replacing the baseline."))
    rows = schedule(plan)
    if not rows:
        raise InvalidInput(_("The plan has no task."))
    baseline = PlanBaseline.objects.create(
        plan=plan, version=newest.version + 1 if newest else 1, reason=reason.strip(),
        taken_by=actor, tasks={str(row.task.pk): {
            "title": str(row.task), "start": row.start.isoformat(),
            "finish": row.finish.isoformat()} for row in rows})
    audit_log.record(actor=actor, action="plan.baseline", target=baseline,
                     engagement=plan.engagement, data={"reason": baseline.reason})
    enqueue_files(baseline)
    return baseline


@transaction.atomic
def set_milestones(*, actor: User, plan: Plan, rows: list[dict]) -> list[Milestone]:
    """Replace all milestones: name, name_en, percent, trigger, task of each, in order.

    Raises InvalidInput unless the percentages add up to exactly 100, WrongState where one that is
    invoiced would go.
    """
    require(actor, Can.MANAGE, plan.engagement)
    plan = _locked(plan)
    total = sum((Decimal(row["percent"]) for row in rows), Decimal(0))
    if total != 100:
        raise InvalidInput(_("The payment milestones add up to %(sum)s %%, not to 100 %%.")
                           % {"sum": total})
    if any(Decimal(row["percent"]) < 0 for row in rows):
        raise InvalidInput(_("The number may not be negative."))
    if any(row.get("task") and row["task"].plan_id != plan.pk for row in rows):
        raise InvalidInput(_("A task belongs to another plan."))
    made = _milestones_as(plan, rows)
    audit_log.record(actor=actor, action="plan.milestones", target=plan, engagement=plan.engagement,
                     data={"milestones": [[row["name"], str(row["percent"])] for row in rows]})
    return made


def _milestones_as(plan: Plan, rows: list[dict]) -> list[Milestone]:
    """The rows in their order; what stands at the same place is changed, so that its invoices stay
    with it."""
    stored = list(plan.milestones.all())
    try:
        Milestone.objects.filter(pk__in=[row.pk for row in stored[len(rows):]]).delete()
    except ProtectedError as error:
        raise WrongState(_("A milestone that is invoiced stays; change the others.")) from error
    made = []
    for n, row in enumerate(rows):
        milestone = stored[n] if n < len(stored) else Milestone(plan=plan)
        for name, value in {"name_en": "", "task": None, **row, "position": n}.items():
            setattr(milestone, name, value)
        milestone.save()
        made.append(milestone)
    return made


def _locked(plan: Plan) -> Plan:
    return Plan.objects.select_for_update(of=("self",), no_key=True).get(pk=plan.pk)
