"""A person's week of half-days as a grid, and what can be chosen in its cells."""

from dataclasses import dataclass, field
from datetime import date, timedelta

from django.db.models import Q

from delivery.planning.models import EffortLine, Grade, Task, TimeEntry, WorkItem
from delivery.planning.plan.working_days import firm_days, is_working_day
from engagements.models import Engagement, User

WEEKS_BACK = 8  # of one's own time, whose work is offered again
HALVES = TimeEntry.Half.values


@dataclass(frozen=True)
class Work:
    """What a half-day is booked on."""

    engagement: int
    model: int | None
    stage: str
    item: str
    grade: str

    @property
    def key(self) -> str:
        return f"{self.engagement}:{self.model or ''}:{self.stage}:{self.item}:{self.grade}"


@dataclass
class Cell:
    day: date
    half: str
    entry: TimeEntry | None = None
    is_fixed: bool = False  # on a timesheet, or a day to come

    @property
    def name(self) -> str:
        return f"{self.day.isoformat()}-{self.half}"

    @property
    def key(self) -> str:
        return work_of(self.entry).key if self.entry else ""


@dataclass
class Grid:
    monday: date
    days: list[tuple[date, bool]]  # and whether it is a working day
    rows: list[tuple[str, list[Cell]]] = field(default_factory=list)  # by half-day


def work_of(entry: TimeEntry) -> Work:
    return Work(entry.engagement_id, entry.model_id, entry.stage, entry.item, entry.grade)


def grid(person: User, monday: date, today: date) -> Grid:
    """The fourteen half-days of a week; two queries."""
    firm, days = firm_days(), [monday + timedelta(days=n) for n in range(7)]
    entries = {(row.work_date, row.half): row for row in TimeEntry.objects.counted().filter(
        person=person, work_date__range=(days[0], days[-1])).select_related(
        "engagement", "model")}
    found = Grid(monday, [(day, is_working_day(day, firm)) for day in days])
    for half in HALVES:
        cells = [Cell(day, half, entry := entries.get((day, half)),
                      day > today or bool(entry and entry.timesheet_id)) for day in days]
        found.rows.append((str(TimeEntry.Half(half).label), cells))
    return found


def choices(person: User, today: date) -> dict[str, str]:
    """Work by key, with its name: what the person booked of late, then what the estimate holds
    for the unfinished tasks that are theirs."""
    named: dict[Work, tuple[str, str]] = {}
    open_only = Q(engagement__state__in=set(Engagement.State) - Engagement.ENDED)
    for row in TimeEntry.objects.counted().filter(
            open_only, person=person, work_date__gt=today - timedelta(weeks=WEEKS_BACK)
            ).select_related("engagement", "model").order_by("engagement__code", "model__code"):
        named[work_of(row)] = row.engagement.code, row.model.code if row.model else ""
    tasks = Task.objects.filter(
        owner=person, planned__isnull=False, model__isnull=False).values_list("model", "stage")
    mine = set(tasks)
    for line in EffortLine.objects.filter(
            model__in={model for model, _stage in mine}, estimate__state="approved"
            ).select_related("model__engagement"):
        if (line.model_id, line.stage) in mine:
            named[Work(line.model.engagement_id, line.model_id, line.stage, line.item, line.grade)
                  ] = line.model.engagement.code, line.model.code
    return {work.key: " · ".join(filter(None, (
        *where, str(WorkItem(work.item).label), str(Grade(work.grade).label))))
        for work, where in named.items()}
