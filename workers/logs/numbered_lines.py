"""A part of a log with the numbers of its lines."""

from itertools import islice

from workers.logs import live_log
from workers.models import Job

REACH = 100  # lines before and after the one that is asked for
LONGEST = 2000  # characters shown of a line


def around(job: Job, number: int) -> list[tuple[int, str]]:
    """Lines from 100 before to 100 after a line, each with its number from 1 on.

    Of a line that was written over by carriage returns, what stood there last.
    """
    first = max(1, number - REACH)
    with live_log.opened(job) as log:
        lines = list(islice(log, first - 1, number + REACH)) if log else []
    return [(place, _shown(line)) for place, line in enumerate(lines, first)]


def _shown(line: bytes) -> str:
    return line.decode("utf-8", "replace").rstrip("\r\n").rpartition("\r")[2][:LONGEST]
