"""A plan with tasks of models and stages that come in or fall out.

What was begun stays and ends today; what waited for a task that falls out waits for what that
task waited for.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.utils import timezone

from delivery.planning.changes.scope_effects import COMING, task_days
from delivery.planning.models import ChangeRequest, Dependency, Plan, ScheduleEffect, Task
from delivery.planning.plan.critical_path import Link
from delivery.planning.plan.task_dates import tasks_with_stages
from engagements.models import MigratedModel
from engagements.stages import Stage


@dataclass
class Rescheduling:
    """The tasks and links of a plan after a change; new tasks have negative keys."""

    tasks: list[Task]
    links: list[Link]
    removed: list[Task] = field(default_factory=list)
    ended: list[Task] = field(default_factory=list)  # were begun
    added: list[Task] = field(default_factory=list)


def reschedule(plan: Plan, change: ChangeRequest, rows: Iterable[dict]) -> Rescheduling:
    """The plan as the change's scope would leave it; nothing is written.

    Args:
        rows: `scope_effects.scope_facts`, frozen ones of a submitted change.
    """
    links = [Link(*row) for row in Dependency.objects.filter(
        after__plan=plan).values_list("before_id", "after_id", "lag")]
    found = Rescheduling(list(tasks_with_stages(plan)), links)
    effects = {effect.pk: effect for effect in change.scope_effects.select_related("model")}
    for row in rows:
        effect = effects[row["effect"]]
        if effect.action in COMING:
            _bring_in(found, plan, row, effect.model)
        else:
            _let_fall(found, [task for task in found.tasks if task.model_id == effect.model_id
                              and task.stage in row["stages"]])
    return found


def _let_fall(found: Rescheduling, tasks: list[Task]) -> None:
    for task in tasks:
        if task.ended_on:
            continue
        if task.began_on:
            task.started_on = task.began_on
            task.finished_on = max(task.started_on, timezone.localdate())
            found.ended.append(task)
        else:
            _remove(found, task)


def _remove(found: Rescheduling, task: Task) -> None:
    before = [link for link in found.links if link.after == task.pk]
    after = [link for link in found.links if link.before == task.pk]
    bridges = [Link(a.before, b.after, a.lag + b.lag) for a in before for b in after]
    pairs = {(link.before, link.after) for link in found.links}
    found.links = [link for link in found.links if link not in before and link not in after]
    found.links += [link for link in bridges if (link.before, link.after) not in pairs]
    found.tasks.remove(task)
    found.removed.append(task)


def _bring_in(found: Rescheduling, plan: Plan, row: dict, model: MigratedModel | None) -> None:
    """A task per stage, behind the model's earlier one and ahead of its next one."""
    own = {task.stage: task for task in found.tasks if model and task.model_id == model.pk}
    model = model or MigratedModel(code=row["model"], name=row["name"])
    for stage, days in task_days(row).items():
        task = Task(pk=-1 - len(found.added), plan=plan, model=model, stage=stage, days=days,
                    position=max((t.position for t in found.tasks), default=0) + 1)
        ahead, behind = _neighbours(own, stage)
        found.links += [Link(ahead.pk, task.pk)] if ahead else []
        found.links += [Link(task.pk, behind.pk)] if behind else []
        found.tasks.append(task)
        found.added.append(task)
        own[stage] = task


def _neighbours(own: dict[str, Task], stage: str) -> tuple[Task | None, Task | None]:
    order = Stage.values
    place = order.index(stage)
    ahead = [own[code] for code in order[:place] if code in own]
    behind = [own[code] for code in order[place + 1:] if code in own]
    return ahead[-1] if ahead else None, behind[0] if behind else None


def apply_rescheduling(found: Rescheduling, models: dict[str, MigratedModel]) -> None:
    """Write it. A removed task that an older change speaks of stays, with no days.

    Args:
        models: the models that came in, by code.
    """
    changed = set(ScheduleEffect.objects.filter(task__in=found.removed).values_list(
        "task_id", flat=True))
    for task in found.removed:
        if task.pk in changed:
            Task.objects.filter(pk=task.pk).update(days=0)
        else:
            Task.objects.filter(pk=task.pk).delete()
    for task in found.ended:
        task.save(update_fields=["started_on", "finished_on"])
    keys = {task.pk: task for task in found.tasks}
    for task in found.added:
        task.model, task.pk = models.get(task.model.code, task.model), None
        task.save()
    for link in found.links:
        Dependency.objects.update_or_create(before=keys[link.before], after=keys[link.after],
                                            defaults={"lag": link.lag})
