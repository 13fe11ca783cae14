"""Why a job failed, as an engineer would find it in the log."""

import os
import re
import signal
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, BinaryIO

from django.utils.translation import gettext

from workers.logs import live_log
from workers.logs.ascend_codes import ASCEND_CAUSES, MODULES
from workers.logs.causes import (
    CAUSES,
    OOM_KILLER,
    SIGNALLED,
    STATUS_ONLY,
    SYMPTOMS,
    Cause,
)
from workers.logs.runtime_causes import RUNTIME_CAUSES
from workers.models import Job
from workers.rules.citations import CITED

HEAD, TAIL = 2**20, 4 * 2**20  # bytes of a long log that are searched
LONGEST_QUOTE, LONGEST_LINE = 400, 2000
BEFORE, AFTER = 12, 3  # lines around the quoted one that the technical cause holds
# Every line that a cause can show has one of these words, in any case, or a code.
SUSPECT = (
    "desk runtime:",
    "error", "exception", "interrupt", "exit:", "exitcode", "exit-on", "not found", "未找到",
    "no such", "没有那个", "no module", "no npu", "no cuda", "no nvidia", "denied", "权限",
    "interpreter", "kill", "memory", "bad_alloc", "shm", "space left", "quota", "in use", "inuse",
    "cannot", "can't", "can not", "could not", "license", "licence", "time out", "timeout",
    "timed out", "timedout", "dcmi", "match", "incompatible", " ecc", "is used", "busy", "signal",
    "cuda", "libcu")
CODE = re.compile(r"\bE[1-9A-Z]\d{4}|\b[125]\d7\d{3}\b")
ORDER = (*RUNTIME_CAUSES, *CAUSES, *ASCEND_CAUSES, *SYMPTOMS)
BY_CODE = {(cause.code, cause.headline): cause
           for cause in (*ORDER, OOM_KILLER, SIGNALLED, *STATUS_ONLY.values())}


def _is_suspect(line: str) -> bool:
    lower = line.lower()
    return any(word in lower for word in SUSPECT) or CODE.search(line) is not None


@dataclass(frozen=True)
class Part:
    """A part of a log, and the number of its first line.

    A carriage return begins a line that is shown, but is not counted as one.
    """

    text: str
    first_line: int = 1

    @cached_property
    def suspect_lines(self) -> list[tuple[int, str]]:
        """Place and text of the lines that may tell of a cause; long ones are cut."""
        return [(place, shown[:LONGEST_LINE])
                for place, line in enumerate(self.text.split("\n"))
                for shown in line.split("\r") if _is_suspect(shown)]

    @cached_property
    def suspect_text(self) -> str:
        return "\n".join(line for _place, line in self.suspect_lines)

    def place_of(self, position: int) -> int:
        """Which line of the part stands at a position of the suspect text; from 0 on."""
        return self.suspect_lines[self.suspect_text.count("\n", 0, position)][0]

    def around(self, place: int) -> str:
        """The lines before and after one."""
        lines = self.text.split("\n")[max(0, place - BEFORE):place + AFTER + 1]
        return "\n".join(line.rpartition("\r")[2][:LONGEST_LINE] for line in lines)

    @property
    def end(self) -> str:
        return self.around(self.text.rstrip("\n").count("\n")).rstrip("\n")


@dataclass(frozen=True)
class Diagnosis:
    """A cause and where the log shows it.

    `values` fill the cause's sentences; `line` counts from 1 and is None where no line shows it.
    """

    cause: Cause
    values: dict[str, Any]
    line: int | None = None
    quote: str = ""
    excerpt: str = ""

    def kept(self) -> dict:
        """What the job's results keep of it."""
        return {"cause": self.cause.code, "headline": self.cause.headline, "values": self.values,
                "line": self.line, "quote": self.quote}


def of_job(job: Job) -> Diagnosis | None:
    """The cause that stands in the job's log, or that its exit status proves."""
    return find(_parts(job), job.exit_status, job.remote.get("oom_kills", 0))


def first_line(job: Job) -> int | None:
    """The line of the log that shows a known cause; also while the job runs. None without one."""
    found = find(_parts(job), job.exit_status)
    return found.line if found else None


def find(parts: list[Part], status: int | None, oom_kills: int = 0) -> Diagnosis | None:
    """The first of the known causes that the parts of a log show."""
    found = _shown(parts, status)
    is_killed = status == 128 + signal.SIGKILL or (
        found and found.values.get("signal") == str(int(signal.SIGKILL)))
    if oom_kills and is_killed:
        return Diagnosis(OOM_KILLER, {"kills": oom_kills}, *(
            (found.line, found.quote, found.excerpt) if found else ()))
    return found or _of_status(status, parts)


def told(results: dict) -> dict[str, Any] | None:
    """What the page says beside the headline, in the active language; None without a diagnosis.

    `kind_says` is the sentence with which the job's kind judged it.
    """
    kept = results.get("diagnosis")
    if not kept:
        return None
    cause = BY_CODE.get((kept["cause"], kept["headline"]))
    return {"line": kept["line"], "quote": kept["quote"],
            "remedy": gettext(cause.remedy) % kept["values"] if cause else "",
            "source": CITED.get(cause.source, cause.source) if cause else "",
            "kind_says": _filled(kept["judged"])}


def _filled(sentence: dict) -> str:
    try:
        return gettext(sentence["message"]) % sentence["values"]
    except (KeyError, TypeError, ValueError):
        return sentence["message"]


def _shown(parts: list[Part], status: int | None) -> Diagnosis | None:
    proven = [cause for cause in ORDER if cause.status is not None and cause.status == status]
    for cause in (*proven, *ORDER):
        for part in reversed(parts) if cause.is_last else parts:
            if found := _in_part(cause, part):
                return found
    return None


def _in_part(cause: Cause, part: Part) -> Diagnosis | None:
    matches = cause.pattern.finditer(part.suspect_text)
    match = _last_of(matches) if cause.is_last else next(matches, None)
    if match is None:
        return None
    values = {name: text.strip() for name, text in match.groupdict(default="").items()}
    if "module" in values and "ascend" in values:
        values["module"] = MODULES.get(values["module"], values["module"])
    place = part.place_of(match.start())
    return Diagnosis(cause, values, part.first_line + place, match[0].strip()[:LONGEST_QUOTE],
                     part.around(place))


def _last_of(matches: Iterator[re.Match[str]]) -> re.Match[str] | None:
    """The last of the matches; None of none."""
    return next(iter(deque(matches, maxlen=1)), None)


def _of_status(status: int | None, parts: list[Part]) -> Diagnosis | None:
    if status in STATUS_ONLY:
        return Diagnosis(STATUS_ONLY[status], {}, excerpt=parts[-1].end if parts else "")
    if status is None or status <= 128 or status - 128 not in list(signal.Signals):
        return None
    number = signal.Signals(status - 128)
    return Diagnosis(SIGNALLED, {"signal": int(number), "name": number.name},
                     excerpt=parts[-1].end if parts else "")


def _parts(job: Job) -> list[Part]:
    """The log, or of a long one its beginning and its end."""
    with live_log.opened(job) as log:
        if log is None:
            return []
        length = min(job.log_stored, log.seek(0, os.SEEK_END))
        if length <= HEAD + TAIL:
            return [_part(log, 0, length, 1)]
        second = length - TAIL
        return [_part(log, 0, HEAD, 1), _part(log, second, TAIL, 1 + _lines_before(log, second))]


def _part(log: BinaryIO, start: int, size: int, first_line: int) -> Part:
    log.seek(start)
    return Part(log.read(size).decode("utf-8", "replace"), first_line)


def _lines_before(log: BinaryIO, offset: int) -> int:
    log.seek(0)
    count, left = 0, offset
    while left and (piece := log.read(min(left, HEAD))):
        count += piece.count(b"\n")
        left -= len(piece)
    return count
