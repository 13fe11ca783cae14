"""From the tasks of a plan to dates: what is computed now, and against the baseline."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import date

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.planning.models import Absence, Dependency, Plan, Task
from delivery.planning.plan.critical_path import Activity, Cycle, Dates, Link, compute, length
from delivery.planning.plan.working_days import LONGEST, WorkingCalendar, firm_days
from engagements.errors import InvalidInput


@dataclass(frozen=True)
class Scheduled:
    """A task with its dates; `late_*` are the latest ones that keep the end."""

    task: Task
    start: date
    finish: date
    late_start: date
    late_finish: date
    dates: Dates
    baseline_start: date | None = None
    baseline_finish: date | None = None
    slip: int = 0  # working days behind the baseline's finish
    away: int = 0  # working days on which its owner is absent meanwhile

    @property
    def is_critical(self) -> bool:
        return self.dates.is_critical and not self.task.ended_on

    @property
    def state(self) -> str:
        """passed, in_progress, not_started or skipped: codes of the status tags. Of a task that is
        the work of a stage it follows from the stage; skipped is that of a dropped model."""
        if self.task.is_dropped:
            return "skipped"
        if self.task.ended_on:
            return "passed"
        return "in_progress" if self.task.began_on else "not_started"


def schedule(plan: Plan, as_of: date | None = None) -> list[Scheduled]:
    """All tasks of the plan with dates, in their order.

    Args:
        as_of: a past day, to tell the plan as it stood at its end: what began or ended later has
            not, an absence that began later is none, and a baseline taken later counts neither
            with its dates nor with its tasks.

    A task takes its days and those working days on which its owner is absent meanwhile.

    Raises InvalidInput for a circle, and for a plan of more than ten years.
    """
    return _Loaded(plan, as_of).dated()


def schedule_with(plan: Plan, lengths: dict[int, int], tasks: list[Task] | None = None,
                  links: list[Link] | None = None) -> tuple[list[Scheduled], list[Scheduled]]:
    """The plan as it is, and as it would be with other lengths (working days by task id).

    Args:
        tasks, links: all of those that the plan would have instead of its present ones.
    """
    loaded = _Loaded(plan)
    before = loaded.dated()
    if tasks is not None:
        loaded.tasks, loaded.links = tasks, links or []
    for task in loaded.tasks:
        task.days = lengths.get(task.pk, task.days)
    return before, loaded.dated(known={row.task.pk: row for row in before})


def tasks_with_stages(plan: Plan) -> QuerySet[Task]:
    """The plan's tasks with what their states follow from."""
    return plan.tasks.select_related("model", "owner").prefetch_related("model__stages")


def today() -> date:
    """The day from which unfinished work is scheduled."""
    return timezone.localdate()


class _Loaded:
    """What the dates of a plan follow from."""

    def __init__(self, plan: Plan, as_of: date | None = None):
        self.today = min(today(), as_of or today())
        self.tasks = list(tasks_with_stages(plan))
        self.links = [Link(*row) for row in Dependency.objects.filter(
            after__plan=plan).values_list("before_id", "after_id", "lag")]
        baselines = list(plan.baselines.all())
        known = [row for row in baselines if as_of is None
                 or timezone.localdate(row.taken_at) <= as_of]
        self.planned = known[0].tasks if known else {}
        self.calendar = WorkingCalendar(plan.starts_on, firm_days())
        self.absent = self._absent(as_of)
        if as_of and as_of < today():
            self._go_back(as_of, is_changed_since=0 < len(known) < len(baselines))

    def _absent(self, as_of: date | None) -> dict[int, set[int]]:
        """Numbers of the working days on which the owners of tasks are away."""
        found: dict[int, set[int]] = defaultdict(set)
        rows = Absence.objects.filter(last__gte=self.calendar.day(0), person__in={
            task.owner_id for task in self.tasks if task.owner_id})
        if as_of:
            rows = rows.filter(first__lte=as_of)
        for person, first, last in rows.values_list("person", "first", "last"):
            begin, end = self.calendar.number(first), self.calendar.last_number(last)
            found[person].update(range(begin, end + 1))
        return found

    def _go_back(self, as_of: date, *, is_changed_since: bool) -> None:
        """Forget what happened after that day, and what was agreed anew."""
        for task in self.tasks:
            task.known_until = as_of
        if not is_changed_since:
            return
        self.tasks = [task for task in self.tasks if str(task.pk) in self.planned]
        kept = {task.pk for task in self.tasks}
        self.links = [link for link in self.links if {link.before, link.after} <= kept]
        for task in self.tasks:
            row = self.planned[str(task.pk)]
            start, finish = (date.fromisoformat(row[name]) for name in ("start", "finish"))
            task.not_before = start
            task.days = max(1, self.calendar.last_number(finish) - self.calendar.number(start) + 1)

    def dated(self, known: dict[int, Scheduled] | None = None) -> list[Scheduled]:
        """All tasks with their dates; a row of `known` stands where its task has the same."""
        away: dict[int, int] = {}
        for _round in range(len(self.tasks) + 1):  # each settles those whose precursors are settled
            dates = _computed(self.tasks, self.links, self.calendar, self.today, away)
            before, away = away, self._away(dates)
            if away == before:
                break
        if length(dates) > LONGEST:
            raise InvalidInput(
                _("The plan would last more than ten years; check lengths and lags."))
        return [self._row(task, dates[task.pk], away.get(task.pk, 0), (known or {}).get(task.pk))
                for task in self.tasks]

    def _away(self, dates: dict[int, Dates]) -> dict[int, int]:
        """By task the absent days of its owner between its start and the end of its own days."""
        found = {}
        for task in self.tasks:
            absent = self.absent.get(task.owner_id)
            if not absent or task.ended_on:
                continue
            day, left = dates[task.pk].early_start, task.days
            while left:
                left -= day not in absent
                day += 1
            if lost := day - dates[task.pk].early_start - task.days:
                found[task.pk] = lost
        return found

    def _row(self, task: Task, dates: Dates, away: int, known: Scheduled | None) -> Scheduled:
        if known and known.task is task and known.dates == dates:
            return known
        return _scheduled(task, dates, self.calendar, self.planned.get(str(task.pk)), away)


def _computed(tasks: list[Task], links: list[Link], calendar: WorkingCalendar, now: date,
              away: dict[int, int]) -> dict[int, Dates]:
    try:
        return compute((_activity(task, task.days + away.get(task.pk, 0), calendar, now)
                        for task in tasks), links)
    except Cycle as circle:
        names = {task.pk: str(task) for task in tasks}
        raise InvalidInput(_("The tasks would form a dependency cycle: %(circle)s.") % {
            "circle": " → ".join(names[key] for key in circle.keys)})


def _activity(task: Task, days: int, calendar: WorkingCalendar, now: date) -> Activity:
    """What really happened is fixed; the rest follows from links and `not_before`.

    What is not finished ends today at the earliest, what is not started begins today at the
    earliest.
    """
    first = max(0, calendar.number(now))
    if not task.began_on:
        earliest = calendar.number(task.not_before) if task.not_before else 0
        return Activity(task.pk, days, max(earliest, first))
    start = calendar.number(task.began_on)
    if not task.ended_on:
        return Activity(task.pk, max(days, first - start + 1), start, is_fixed=True)
    until = calendar.last_number(task.ended_on)  # what ended on a Saturday does not end on Monday
    start = min(start, until)
    return Activity(task.pk, until - start + 1, start, is_fixed=True)


def _scheduled(task: Task, dates: Dates, calendar: WorkingCalendar, planned: dict | None,
               away: int) -> Scheduled:
    finish = calendar.last_day(dates.early_start, dates.early_finish)
    base = {name: date.fromisoformat(planned[name]) for name in ("start", "finish")
            } if planned else {}
    slip = calendar.number(finish) - calendar.number(base["finish"]) if base else 0
    return Scheduled(
        task, min(calendar.day(dates.early_start), finish), finish,
        min(calendar.day(dates.late_start),
            calendar.last_day(dates.late_start, dates.late_finish)),
        calendar.last_day(dates.late_start, dates.late_finish), dates,
        base.get("start"), base.get("finish"), slip, away)


def end_of(rows: list[Scheduled]) -> date | None:
    """The last finish of the plan."""
    return max((row.finish for row in rows), default=None)


def working_days_of(rows: list[Scheduled]) -> int:
    """Length of the plan in working days."""
    return length({row.task.pk: row.dates for row in rows})
