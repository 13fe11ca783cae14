"""The bars of a plan as shares of its width, for the page's CSS grid."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, timedelta

from django.utils.translation import gettext as _

from delivery.planning.plan.task_dates import Scheduled
from engagements.models import MigratedModel
from engagements.stages import Stage

MONTH = timedelta(days=32)  # from the first of a month well into the next one
MOST_MARKS = 12
ROOM = 0.12  # share of the chart's width that a label takes


@dataclass(frozen=True)
class Bar:
    """Left edge and width in per cent of the chart."""

    left: float
    width: float


@dataclass(frozen=True)
class Row:
    scheduled: Scheduled
    bar: Bar
    baseline: Bar | None


@dataclass(frozen=True)
class Segment:
    """A stage of a model, or its other work, from its first task's start to its last's finish."""

    name: str
    start: date
    finish: date
    bar: Bar
    is_critical: bool
    is_done: bool


@dataclass(frozen=True)
class ModelRow:
    """A model's stages one after the other; no model: the work for all of them."""

    model: MigratedModel | None
    segments: list[Segment]

    @property
    def start(self) -> date:
        return min(segment.start for segment in self.segments)

    @property
    def finish(self) -> date:
        return max(segment.finish for segment in self.segments)


@dataclass(frozen=True)
class Chart:
    """Rows, month marks as (label, left in per cent), the lines of today and of the contract's
    end where they are inside, and all tasks drawn together by model."""

    rows: list[Row]
    months: list[tuple[str, float]]
    today: float | None
    contract_end: float | None = None
    models: list[ModelRow] = field(default_factory=list)


def chart(scheduled: list[Scheduled], today: date, shown: list[Scheduled] | None = None,
          contract_end: date | None = None) -> Chart:
    """Lay out the tasks between the first start and the last finish, baseline included.

    Args:
        shown: the tasks to lay out, where they are not all of them.
    """
    if not scheduled:
        return Chart([], [], None)
    first = min(d for s in scheduled for d in (s.start, s.baseline_start) if d)
    last = max(d for s in scheduled for d in (s.finish, s.baseline_finish) if d)
    span = (last - first).days + 1

    def place(start: date, finish: date) -> Bar:
        return Bar(round(100 * (start - first).days / span, 3),
                   round(100 * ((finish - start).days + 1) / span, 3))

    rows = [Row(s, place(s.start, s.finish),
                place(s.baseline_start, s.baseline_finish) if s.baseline_start else None)
            for s in (scheduled if shown is None else shown)]
    today_at, end_at = (place(day, day).left if day and first <= day <= last else None
                        for day in (today, contract_end))
    return Chart(rows, [(f"{m:%Y-%m}", place(m, m).left) for m in _months(first, last)],
                 today_at, end_at, _by_model(scheduled, place))


def _by_model(scheduled: list[Scheduled], place: Callable[[date, date], Bar]) -> list[ModelRow]:
    """In the order in which models and their stages begin; dropped work is left out."""
    tasks: dict[MigratedModel | None, dict[str, list[Scheduled]]] = {}
    for row in sorted(scheduled, key=lambda row: (row.start, row.finish)):
        if not row.task.is_dropped:
            tasks.setdefault(row.task.model, {}).setdefault(row.task.stage, []).append(row)
    return [ModelRow(model, [_segment(stage, rows, place) for stage, rows in of_stage.items()])
            for model, of_stage in tasks.items()]


def _segment(stage: str, rows: list[Scheduled], place: Callable[[date, date], Bar]) -> Segment:
    start, finish = min(row.start for row in rows), max(row.finish for row in rows)
    return Segment(str(Stage(stage).label) if stage else _("Other work"), start, finish,
                   place(start, finish), any(row.is_critical for row in rows),
                   all(row.task.ended_on for row in rows))


def _months(first: date, last: date) -> list[date]:
    """First days of months within the chart, at most a dozen, evenly spaced.

    The chart's first day stands for its own month where the next mark leaves room for it; a mark
    whose name would not fit before the chart's end is left out.
    """
    marks, day = [], (first.replace(day=1) + MONTH).replace(day=1)
    while day <= last:
        marks.append(day)
        day = (day + MONTH).replace(day=1)
    room = (last - first).days * ROOM
    if not marks or (marks[0] - first).days > room:
        marks.insert(0, first)
    named = marks[::-(-len(marks) // MOST_MARKS)]
    return named[:1] + [mark for mark in named[1:] if (last - mark).days > room]
