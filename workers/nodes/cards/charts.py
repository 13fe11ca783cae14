"""Samples of cards as lines over time: points of SVG polylines, one chart per value."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from workers.models import CARD_VALUES, CardAlarm, Job, Node, NodeSample

WIDTH, HEIGHT, MOST_POINTS = 480, 96, 240
WHOLE_SECONDS = timedelta(seconds=1)  # nodes tell the age of a look in them
TITLES = {"utilisation": (_("AI Core in use"), "%"), "memory_mb": (_("Memory in use"), "MB"),
          "power_w": (_("Power"), "W"), "temperature_c": (_("Temperature"), "°C")}
HOST = ("load", _("Load of the host"), "")


@dataclass(frozen=True)
class Line:
    """One card, or the host where `card` is None."""

    card: int | None
    points: str
    last: float


@dataclass(frozen=True)
class Chart:
    """Lines in a box of 480 × 96, with the smallest and the largest value."""

    title: str
    unit: str
    low: float
    high: float
    lines: list[Line]


def of_job(job: Job, now: datetime) -> list[Chart]:
    """The job's cards over its run time; for a job without cards, the host."""
    if not (job.node and job.started_at):
        return []
    return _charts(job.node, job.started_at - WHOLE_SECONDS, job.finished_at or now,
                   job.results.get("cards") or [])


def of_node(node: Node, start: datetime, end: datetime) -> list[Chart]:
    """All cards of the node, and the host."""
    return _charts(node, start, end, None)


def alarms_of(job: Job, now: datetime) -> list[CardAlarm]:
    """Alarms of the job's cards that were open while it ran."""
    if not (job.node and job.started_at and job.results.get("cards")):
        return []
    return list(CardAlarm.objects.filter(
        Q(cleared_at=None) | Q(cleared_at__gte=job.started_at), node=job.node,
        card_index__in=job.results["cards"], since__lte=job.finished_at or now))


def _charts(node: Node, start: datetime, end: datetime, cards: Collection[int] | None
            ) -> list[Chart]:
    rows = list(NodeSample.objects.filter(node=node, at__gte=start, at__lte=end).values_list(
        "at", "cards", "load"))
    if len(rows) < 2:
        return []
    span = (rows[-1][0] - rows[0][0]).total_seconds() or 1
    xs = [(at - rows[0][0]).total_seconds() / span * WIDTH for at, _cards, _load in rows]
    shown = sorted({int(index) for _at, found, _load in rows for index in found})
    if cards is not None:
        shown = [index for index in shown if index in cards]
    made = [_chart(*TITLES[name], xs, {index: [_value(row[1], index, place) for row in rows]
                                       for index in shown})
            for place, name in enumerate(CARD_VALUES)]
    if not shown or cards is None:
        made.append(_chart(HOST[1], HOST[2], xs, {None: [load for _at, _cards, load in rows]}))
    return [chart for chart in made if chart]


def _value(cards: dict, index: int, place: int) -> float | None:
    return (cards.get(str(index)) or [None] * len(CARD_VALUES))[place]


def _chart(title, unit: str, xs: list[float], series: dict[int | None, list[float | None]]
           ) -> Chart | None:
    known = {card: [(x, value) for x, value in zip(xs, values, strict=True) if value is not None]
             for card, values in series.items()}
    known = {card: points for card, points in known.items() if len(points) > 1}
    if not known:
        return None
    values = [value for points in known.values() for _x, value in points]
    low, high = min(values), max(values)
    return Chart(str(title), unit, low, high, [
        Line(card, _points(points, low, high), points[-1][1]) for card, points in known.items()])


def _points(points: list[tuple[float, float]], low: float, high: float) -> str:
    """Of each group of neighbours the highest is kept, so that a peak shows."""
    step = -(-len(points) // MOST_POINTS)
    kept = [max(points[at:at + step], key=lambda point: point[1])
            for at in range(0, len(points), step)]
    span = (high - low) or 1
    return " ".join(f"{x:.1f},{HEIGHT - 3 - (value - low) / span * (HEIGHT - 6):.1f}"
                    for x, value in kept)
