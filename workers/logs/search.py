"""Searching a log of any size from its end backwards, a bounded part of it per request."""

import os
from collections.abc import Callable, Mapping
from typing import BinaryIO

from toolreaders.number_parsing import whole_number
from workers.logs import live_log
from workers.models import Job

PIECE, AT_ONCE = 4 * 2**20, 128 * 2**20
LONGEST_TEXT = 200  # characters searched for
OVERLAP = 4096  # no match is cut in two by a piece's edge; the longest part of a line that is told
# What compilers, Python, CANN and torch print when something went wrong.
ERRORS = (b"error", b"exception", b"traceback", b"fatal", b"failed", b"core dumped")


def answer(job: Job, asked: Mapping[str, str]) -> dict[str, int | str | None]:
    """`last_before` for the query string of page and API: `q`, and `before`, else the log's end."""
    before = whole_number(asked.get("before"))
    return last_before(job, job.log_stored if before is None else before,
                       asked.get("q", "")[:LONGEST_TEXT])


def last_before(job: Job, before: int, text: str) -> dict[str, int | str | None]:
    """The last match that begins before a byte offset; without a text, of what errors look like.

    ASCII letters match in either case. Returns `found`, the offset of the match's line, or None;
    `line`, its text, shortened; and `searched_to`, before which nothing was searched yet.
    """
    find = _finder(text.encode().lower()) if text else _last_error
    with live_log.opened(job) as log:
        if log is None:
            return {"found": None, "line": "", "searched_to": 0}
        length = min(job.log_stored, log.seek(0, os.SEEK_END))
        end = min(before, length)
        stop = max(0, end - AT_ONCE)
        while end > stop:
            start = max(stop, end - PIECE)
            if found := _in_piece(log, length, start, end, find):
                return found
            end = start
    return {"found": None, "line": "", "searched_to": stop}


def _in_piece(log: BinaryIO, length: int, start: int, end: int, find: Callable[[bytes, int], int]
              ) -> dict | None:
    first = max(0, start - OVERLAP)
    log.seek(first)
    data = log.read(min(end + OVERLAP, length) - first)
    position = find(data.lower(), end - first)
    if position < start - first:
        return None
    line = max(data.rfind(b"\n", 0, position), data.rfind(b"\r", 0, position)) + 1
    shown = data[line:].splitlines()[0][:OVERLAP].decode("utf-8", "replace")
    return {"found": first + line, "line": shown, "searched_to": first + line}


def _finder(wanted: bytes) -> Callable[[bytes, int], int]:
    """A search for the last place of a text that begins before a position."""
    return lambda data, end: data.rfind(wanted, 0, end + len(wanted) - 1)


def _last_error(data: bytes, end: int) -> int:
    return max(*(_finder(word)(data, end) for word in ERRORS), _last_nan(data, end))


def _last_nan(data: bytes, end: int) -> int:
    """`nan` as a word of its own: a loss that is no number, not a part of "finance"."""
    at = _finder(b"nan")(data, end)
    while at >= 0 and (data[max(0, at - 1):at].isalnum() or data[at + 3:at + 4].isalnum()):
        at = _finder(b"nan")(data, at)
    return at
