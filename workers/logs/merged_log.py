"""The logs of a job's nodes in one, by the time at which the desk fetched each part.

The clocks of nodes differ and lines need not bear a time; the desk's own clock is one. Its
resolution is that of the polls: lines fetched at the same time stand by rank.
"""

import heapq
from collections.abc import Iterator

from workers.logs import live_log
from workers.models import Job

LONGEST_LINE = 64 * 1024
Line = tuple[float, int, str]  # time, rank, text


def lines(members: list[Job], tail: int | None = None) -> Iterator[str]:
    """Lines of all logs in order, each with its rank before it.

    Args:
        tail: the last bytes of each log that are taken; None for all.
    """
    sources = [_timed(member, 0 if tail is None else max(0, member.log_stored - tail))
               for member in members]
    for _time, rank, text in heapq.merge(*sources, key=lambda line: line[:2]):
        yield f"[{rank}] {text}"


def _timed(member: Job, start: int) -> Iterator[Line]:
    """The lines of one log from an offset on, with the time of the part that each begins in."""
    marks, now = _marks(member), 0.0
    position = live_log.line_start(member, start)
    with live_log.opened(member) as stream:
        if stream is None:
            return
        stream.seek(position)
        while position < member.log_stored and (line := stream.readline(LONGEST_LINE)):
            while marks and marks[0][0] <= position:
                now = marks.pop(0)[1]
            position += len(line)
            yield now, member.rank or 0, line.decode("utf-8", "replace")


def _marks(member: Job) -> list[tuple[int, float]]:
    try:
        words = [line.split() for line in live_log.arrivals(member).read_text().splitlines()]
    except FileNotFoundError:
        return []
    return [(int(offset), float(time)) for offset, time in
            (pair for pair in words if len(pair) == 2)]
