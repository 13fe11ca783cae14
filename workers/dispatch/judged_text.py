"""What of a log a job's kind judges: its end, and of what stands before it every line that counts.

A line counts if it reports an error, names the device that was used, or was written by a script of
ours: an error in the middle of a long log must not be missed.
"""

from collections import deque

from workers.kinds import success_checks
from workers.logs import live_log
from workers.logs.log_parts import whole_lines
from workers.models import Job

LAST_PIECES = 4  # of a megabyte: kept whole
MOST_LINES = 10_000  # kept of what stands before; the count of errors goes no further


def text_of(job: Job) -> str:
    """The text that `Finished.log` holds; of a short log the whole."""
    last: deque[str] = deque()
    before: list[str] = []
    for text in whole_lines(live_log.pieces(job)):
        last.append(text)
        if len(last) > LAST_PIECES and len(before) < MOST_LINES:
            before += filter(success_checks.counts, last[0].splitlines())
        if len(last) > LAST_PIECES:
            last.popleft()
    return "".join([*(f"{line[:2000]}\n" for line in before[:MOST_LINES]), *last])
