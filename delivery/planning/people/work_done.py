"""What a person did between two dates: time booked, stages moved, tasks ended."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from django.db.models import Count

from delivery.planning.effort.margins import HALF_DAY
from delivery.planning.models import Absence, PlannedTask, Task, TimeEntry
from engagements.models import StageTransition, User
from engagements.models.visibility import in_engagements_of

MOST = 200  # moves of stages that are listed


@dataclass(frozen=True)
class Booked:
    """Person-days of one engagement, model and item."""

    engagement: str
    model: str
    item: str
    days: Decimal


def booked(user: User, person: User, first: date, last: date) -> list[Booked]:
    """Time of the person in engagements that the user sees, most first; one query."""
    rows = TimeEntry.objects.visible_to(user).counted().filter(
        person=person, work_date__range=(first, last)).order_by().values_list(
        "engagement__code", "model__code", "item").annotate(Count("pk"))
    labels = dict(TimeEntry._meta.get_field("item").choices)
    return sorted((Booked(code, model or "", str(labels[item]), halves * HALF_DAY)
                   for code, model, item, halves in rows),
                  key=lambda row: (-row.days, row.engagement, row.item))


def moves(user: User, person: User, first: date, last: date) -> list[StageTransition]:
    """Stages that the person moved, newest first."""
    return list(StageTransition.objects.filter(
        in_engagements_of(user, "record__model__engagement"), actor=person,
        at__date__range=(first, last)).select_related("record__model__engagement")[:MOST])


def tasks_ahead(user: User, person: User) -> Iterator[Task]:
    """Unfinished tasks that the person owns, in the order of their days, with `planned`."""
    rows = PlannedTask.objects.under_way().filter(
        person=person, task__in=Task.objects.visible_to(user)).select_related(
        "task__plan__engagement", "task__model")
    for row in rows:
        row.task.planned_days = row
        yield row.task


def absences(person: User, first: date) -> list[Absence]:
    """Those that reach into the time from a day on."""
    return list(Absence.objects.filter(person=person, last__gte=first))
