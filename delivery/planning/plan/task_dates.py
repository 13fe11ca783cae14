"""From the tasks of a plan to dates: what is computed now, and against the baseline."""

from dataclasses import dataclass
from datetime import date

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.planning.models import Dependency, Plan, Task
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


def schedule(plan: Plan) -> list[Scheduled]:
    """All tasks of the plan with dates, in their order.

    Raises InvalidInput for a circle, and for a plan of more than ten years.
    """
    return _Loaded(plan).dated()


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

    def __init__(self, plan: Plan):
        self.today = today()
        self.tasks = list(tasks_with_stages(plan))
        self.links = [Link(*row) for row in Dependency.objects.filter(
            after__plan=plan).values_list("before_id", "after_id", "lag")]
        baseline = plan.baselines.first()
        self.planned = baseline.tasks if baseline else {}
        self.calendar = WorkingCalendar(plan.starts_on, firm_days())

    def dated(self, known: dict[int, Scheduled] | None = None) -> list[Scheduled]:
        """All tasks with their dates; a row of `known` stands where its task has the same."""
        dates = _computed(self.tasks, self.links, self.calendar, self.today)
        if length(dates) > LONGEST:
            raise InvalidInput(
                _("The plan would last more than ten years; check lengths and lags."))
        return [self._row(task, dates[task.pk], (known or {}).get(task.pk))
                for task in self.tasks]

    def _row(self, task: Task, dates: Dates, known: Scheduled | None) -> Scheduled:
        if known and known.task is task and known.dates == dates:
            return known
        return _scheduled(task, dates, self.calendar, self.planned.get(str(task.pk)))


def _computed(tasks: list[Task], links: list[Link], calendar: WorkingCalendar, now: date
              ) -> dict[int, Dates]:
    try:
        return compute((_activity(task, calendar, now) for task in tasks), links)
    except Cycle as circle:
        names = {task.pk: str(task) for task in tasks}
        raise InvalidInput(_("The tasks would form a dependency cycle: %(circle)s.") % {
            "circle": " → ".join(names[key] for key in circle.keys)})


def _activity(task: Task, calendar: WorkingCalendar, now: date) -> Activity:
    """What really happened is fixed; the rest follows from links and `not_before`.

    What is not finished ends today at the earliest, what is not started begins today at the
    earliest.
    """
    first = max(0, calendar.number(now))
    if not task.began_on:
        earliest = calendar.number(task.not_before) if task.not_before else 0
        return Activity(task.pk, task.days, max(earliest, first))
    start = calendar.number(task.began_on)
    if not task.ended_on:
        return Activity(task.pk, max(task.days, first - start + 1), start, is_fixed=True)
    until = calendar.last_number(task.ended_on)  # what ended on a Saturday does not end on Monday
    start = min(start, until)
    return Activity(task.pk, until - start + 1, start, is_fixed=True)


def _scheduled(task: Task, dates: Dates, calendar: WorkingCalendar, planned: dict | None
               ) -> Scheduled:
    finish = calendar.last_day(dates.early_start, dates.early_finish)
    base = {name: date.fromisoformat(planned[name]) for name in ("start", "finish")
            } if planned else {}
    slip = calendar.number(finish) - calendar.number(base["finish"]) if base else 0
    return Scheduled(
        task, min(calendar.day(dates.early_start), finish), finish,
        min(calendar.day(dates.late_start),
            calendar.last_day(dates.late_start, dates.late_finish)),
        calendar.last_day(dates.late_start, dates.late_finish), dates,
        base.get("start"), base.get("finish"), slip)


def end_of(rows: list[Scheduled]) -> date | None:
    """The last finish of the plan."""
    return max((row.finish for row in rows), default=None)


def working_days_of(rows: list[Scheduled]) -> int:
    """Length of the plan in working days."""
    return length({row.task.pk: row.dates for row in rows})
