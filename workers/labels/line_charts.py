"""Lines as a chart with axes, for an SVG of the page: places, ticks and a sentence."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from django.utils.translation import gettext as _

from workers.labels.number_text import RAISED, figure_text

WIDTH, HEIGHT = 360, 200
LEFT, RIGHT, TOP, BOTTOM = 78, 342, 10, 158  # of the area of the line
WRITTEN_OUT = range(-3, 6)  # powers of ten; an axis of other figures names its power once
INTERVALS = 4  # of an axis, about
NICE = (1, 2, 5, 10)
MOST_POINTS = 240
DIGITS = 5  # of a figure in the sentence


@dataclass(frozen=True)
class Tick:
    """A mark of an axis: its place on the page, and its figure."""

    at: str
    text: str


@dataclass(frozen=True)
class Line:
    """One series: its name where the chart has several, and its points on the page."""

    name: str
    points: str
    last: float
    last_text: str
    texts: list[str]  # first, last, lowest and highest value


@dataclass(frozen=True)
class LineChart:
    """What the template draws; `summary` says the same to who cannot see it."""

    width: ClassVar[int] = WIDTH
    height: ClassVar[int] = HEIGHT
    left: ClassVar[int] = LEFT
    right: ClassVar[int] = RIGHT
    top: ClassVar[int] = TOP
    bottom: ClassVar[int] = BOTTOM
    centre: ClassVar[int] = (LEFT + RIGHT) // 2
    middle: ClassVar[int] = (TOP + BOTTOM) // 2

    title: str
    x_title: str
    y_title: str
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    lines: list[Line]
    summary: str


def line_chart(name: str, x_title: str, xs: Sequence[float], values: Sequence[float],
               source: str = "", baseline: Sequence[tuple[float, float]] = ()) -> LineChart | None:
    """The chart of finite values over ascending xs; None for fewer than two of them.

    Args:
        source: the log the values come from, where a page shows several.
        baseline: finite points with ascending x, of which those within xs are a second line.
    """
    if len(values) < 2 or xs[0] == xs[-1]:
        return None
    title = f"{name} · {source}" if source else name
    beside = [point for point in baseline if xs[0] <= point[0] <= xs[-1]]
    lines = {_("This run") if len(beside) > 1 else "": (xs, values)}
    if len(beside) > 1:
        lines[_("Baseline")] = tuple(zip(*beside, strict=True))
    across = _Axis(xs[0], xs[-1], LEFT, RIGHT, is_whole=True)
    figures = [figure for _xs, each in lines.values() for figure in each]
    up = _Axis(*_widened(min(figures), max(figures)), BOTTOM, TOP)
    return LineChart(title, x_title, up.titled(name), across.ticks(), up.ticks(),
                     [_line(label, across, up, *line) for label, line in lines.items()],
                     "; ".join(_summary(f"{title} · {label}" if label else title, x_title, *line)
                               for label, line in lines.items()))


def lines_chart(title: str, unit: str, x_title: str,
                series: Mapping[str, Sequence[tuple[float, float]]]) -> LineChart | None:
    """The chart of several named series of points with ascending x and figures from 0 upwards.

    A series of one point is left out; None where nothing is left.
    """
    known = {name: tuple(zip(*points, strict=True)) for name, points in series.items()
             if len(points) > 1 and points[0][0] != points[-1][0]}
    if not known:
        return None
    across = _Axis(min(xs[0] for xs, _values in known.values()),
                   max(xs[-1] for xs, _values in known.values()), LEFT, RIGHT, is_whole=True)
    up = _Axis(0, max(max(values) for _xs, values in known.values()) or 1, BOTTOM, TOP)
    return LineChart(
        title, x_title, up.titled(unit), across.ticks(), up.ticks(),
        [_line(name, across, up, xs, values) for name, (xs, values) in known.items()],
        "; ".join(_summary(f"{title} · {name}", x_title, xs, values)
                  for name, (xs, values) in known.items()))


def _line(name: str, across: "_Axis", up: "_Axis", xs: Sequence[float],
          values: Sequence[float]) -> Line:
    points = " ".join(f"{across.place(x)},{up.place(value)}" for x, value in _drawable(xs, values))
    texts = [figure_text(value, DIGITS)
             for value in (values[0], values[-1], min(values), max(values))]
    return Line(name, points, values[-1], texts[1], texts)


class _Axis:
    """From figures to places on the page."""

    def __init__(self, low: float, high: float, start: int, end: int, *, is_whole: bool = False):
        self.step = _nice((high - low) / INTERVALS)
        if is_whole:
            self.step, self.low, self.high = max(1, self.step), low, high
        else:
            self.low = math.floor(low / self.step + 1e-9) * self.step
            self.high = math.ceil(high / self.step - 1e-9) * self.step
        self.start, self.end = start, end
        power = math.floor(math.log10(max(abs(self.low), abs(self.high))))
        self.power = 0 if is_whole or power in WRITTEN_OUT else power

    def titled(self, name: str) -> str:
        """The name with the power of ten that the figures are to be multiplied with."""
        return f"{name} (× 10{str(self.power).translate(RAISED)})" if self.power else name

    def place(self, figure: float) -> str:
        share = (figure - self.low) / (self.high - self.low)
        return f"{self.start + share * (self.end - self.start):.1f}"

    def ticks(self) -> list[Tick]:
        first = math.ceil(self.low / self.step - 1e-9)
        last = math.floor(self.high / self.step + 1e-9)
        return [Tick(self.place(n * self.step), figure_text(n * self.step / 10.0 ** self.power))
                for n in range(first, last + 1)]


def _nice(raw: float) -> float:
    """The smallest of 1, 2 and 5 times a power of ten that is not below."""
    power = 10.0 ** math.floor(math.log10(raw))
    return next(power * factor for factor in NICE if power * factor >= raw * (1 - 1e-9))


def _widened(low: float, high: float) -> tuple[float, float]:
    """Apart enough for an axis, also where all values are the same."""
    if high - low > 1e-6 * max(abs(low), abs(high)):
        return low, high
    margin = abs(low) / 10 or 1
    return low - margin, high + margin


def _drawable(xs: Sequence[float], values: Sequence[float]) -> list[tuple[float, float]]:
    """Of each group of neighbours the highest, so that a spike shows."""
    size = math.ceil(len(values) / MOST_POINTS)
    rows = list(zip(xs, values, strict=True))
    return [max(rows[at:at + size], key=lambda row: row[1]) for at in range(0, len(rows), size)]


def _summary(title: str, x_title: str, xs: Sequence[float], values: Sequence[float]) -> str:
    return _("%(title)s: %(axis)s %(first)s to %(last)s, from %(start)s to %(end)s; "
             "lowest %(low)s, highest %(high)s") % {
        "title": title, "axis": x_title, "first": figure_text(xs[0]), "last": figure_text(xs[-1]),
        "start": figure_text(values[0], DIGITS), "end": figure_text(values[-1], DIGITS),
        "low": figure_text(min(values), DIGITS), "high": figure_text(max(values), DIGITS)}
