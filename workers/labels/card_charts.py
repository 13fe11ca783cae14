"""Samples of cards as lines over time, one chart per value."""

from collections.abc import Collection
from datetime import datetime, timedelta

from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from workers.labels.line_charts import LineChart, lines_chart
from workers.models import CARD_VALUES, Job, Node, NodeSample

WHOLE_SECONDS = timedelta(seconds=1)  # nodes tell the age of a look in them
TITLES = {"utilisation": (_("AI Core in use"), "%"), "memory_mb": (_("Memory in use"), "MB"),
          "power_w": (_("Power"), "W"), "temperature_c": (_("Temperature"), "°C")}
HOST = ("load", _("Load of the host"), "")


# An axis of time: seconds of one unit, and how the unit is printed; the last that fits is taken.
UNITS = ((1, _("Seconds since %(at)s")), (60, _("Minutes since %(at)s")),
         (3600, _("Hours since %(at)s")))
LEAST_UNITS = 4  # of the span of time


def of_job(job: Job, now: datetime) -> list[LineChart]:
    """The job's cards over its run time; for a job without cards, the host."""
    if not (job.node and job.started_at):
        return []
    return _charts(job.node, job.started_at - WHOLE_SECONDS, job.finished_at or now,
                   job.results.get("cards") or [])


def of_node(node: Node, start: datetime, end: datetime) -> list[LineChart]:
    """All cards of the node, and the host."""
    return _charts(node, start, end, None)


def _charts(node: Node, start: datetime, end: datetime, cards: Collection[int] | None
            ) -> list[LineChart]:
    rows = list(NodeSample.objects.filter(node=node, at__gte=start, at__lte=end).values_list(
        "at", "cards", "load"))
    if len(rows) < 2:
        return []
    xs, x_title = _over_time([at for at, _cards, _load in rows])
    shown = sorted({int(index) for _at, found, _load in rows for index in found})
    if cards is not None:
        shown = [index for index in shown if index in cards]
    made = [_chart(*TITLES[name], x_title, xs, {
        gettext("Card %(n)d") % {"n": index}: [_value(row[1], index, place) for row in rows]
        for index in shown}) for place, name in enumerate(CARD_VALUES)]
    if not shown or cards is None:
        made.append(_chart(HOST[1], HOST[2], x_title, xs, {
            gettext("Host"): [load for _at, _cards, load in rows]}))
    return [chart for chart in made if chart]


def _over_time(times: list[datetime]) -> tuple[list[float], str]:
    """The times as figures from the first on, and the title of their axis."""
    seconds = [(at - times[0]).total_seconds() for at in times]
    unit, title = [pair for pair in UNITS
                   if pair[0] == 1 or seconds[-1] >= LEAST_UNITS * pair[0]][-1]
    start = date_format(localtime(times[0]), "Y-m-d H:i")
    return [each / unit for each in seconds], title % {"at": start}


def _value(cards: dict, index: int, place: int) -> float | None:
    return (cards.get(str(index)) or [None] * len(CARD_VALUES))[place]


def _chart(title, unit: str, x_title: str, xs: list[float],
           series: dict[str, list[float | None]]) -> LineChart | None:
    return lines_chart(str(title), unit, x_title, {
        name: [(x, value) for x, value in zip(xs, values, strict=True) if value is not None]
        for name, values in series.items()})
