"""Critical path method: pure arithmetic on working days counted from 0.

A finish is exclusive: a task of 3 days that starts on day 0 finishes at 3, and its successor
with lag 0 starts on day 3. Links are finish-start.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter


@dataclass(frozen=True)
class Activity:
    """`earliest` is the first day on which it may start; `is_fixed` makes that day a fact."""

    key: Hashable
    days: int
    earliest: int = 0
    is_fixed: bool = False


@dataclass(frozen=True)
class Link:
    before: Hashable
    after: Hashable
    lag: int = 0


@dataclass(frozen=True)
class Dates:
    """Earliest and latest start and finish of an activity, in working days."""

    early_start: int
    early_finish: int
    late_start: int
    late_finish: int

    @property
    def slack(self) -> int:
        """Days by which it may slip without moving the end."""
        return self.late_start - self.early_start

    @property
    def is_critical(self) -> bool:
        return self.slack <= 0


class Cycle(Exception):
    """The links lead in a circle; `keys` are the activities on it, the first one repeated."""

    def __init__(self, keys: list[Hashable]):
        super().__init__(keys)
        self.keys = keys


def compute(activities: Iterable[Activity], links: Iterable[Link]) -> dict[Hashable, Dates]:
    """Forward and backward pass.

    A fixed activity starts on its day whatever its links say: what happened, happened.
    Raises Cycle when the links lead in a circle.
    """
    found = {activity.key: activity for activity in activities}
    links = list(links)
    order = _order(found, links)
    incoming, outgoing = defaultdict(list), defaultdict(list)
    for link in links:
        outgoing[link.before].append(link)
        incoming[link.after].append(link)
    early = _forward(found, incoming, order)
    late = _backward(found, outgoing, order, early)
    return {key: Dates(*early[key], *late[key]) for key in found}


def length(dates: dict[Hashable, Dates]) -> int:
    """Working days from day 0 to the last finish."""
    return max((entry.early_finish for entry in dates.values()), default=0)


def _order(found: dict, links: list[Link]) -> list[Hashable]:
    needs: dict[Hashable, set] = {key: set() for key in found}
    for link in links:
        needs[link.after].add(link.before)
    try:
        return list(TopologicalSorter(needs).static_order())
    except CycleError as error:
        raise Cycle(list(error.args[1])) from error


def _forward(found, incoming, order) -> dict[Hashable, tuple[int, int]]:
    early: dict[Hashable, tuple[int, int]] = {}
    for key in order:
        activity = found[key]
        start = activity.earliest
        if not activity.is_fixed:
            start = max([start, *(early[link.before][1] + link.lag for link in incoming[key])])
        early[key] = (start, start + activity.days)
    return early


def _backward(found, outgoing, order, early) -> dict[Hashable, tuple[int, int]]:
    end = max((finish for _start, finish in early.values()), default=0)
    late: dict[Hashable, tuple[int, int]] = {}
    for key in reversed(order):
        bounds = [late[link.after][0] - link.lag for link in outgoing[key]
                  if not found[link.after].is_fixed]
        finish = min([end, *bounds])
        late[key] = (finish - found[key].days, finish)
    return late
