"""The cause that a log shows: the causes in the order in which they explain each other.

What explains itself (memory, a missing file) comes first, then what an operator says of its stop
(errorStr) before the code around it, then codes, those that waited for another rank and envelopes
last; of equals the earlier one counts, by the time that CANN prints, else by the line.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from toolreaders.causes import cann_codes
from toolreaders.causes.cann_codes import (
    ADVISED,
    GENERAL,
    INNER,
    MODULES,
    OPERATOR_STOPPED,
    OWN,
    PRINTED,
    REASONED,
    RETURNED,
    SOLVED,
    SUPPOSED,
    UNKNOWN_CODE,
    UNKNOWN_RETURN,
    WAITS,
    WORDED,
    CodeRow,
)
from toolreaders.causes.cause import Cause
from toolreaders.causes.log_causes import CAUSES, PYTHON_ERROR, SYMPTOMS, WAITING
from toolreaders.causes.log_parts import Part

LONGEST_QUOTE = 400
RANK = re.compile(r"\[(?:rank|default|Rank )(\d+)\]|\bRankID:(\d+)|^\(\w*?[ _]?TP(\d+)")
STAMP = re.compile(r"\b\d{4}-\d\d-\d\d[-T ]\d\d:\d\d:\d\d[\d.:]*")
# What a Python program says where another rank or the code of CANN above it is the cause.
FOLLOWS = re.compile(
    r"HCCL|NCCL|\bACL\b|NPU function error|error code is|time ?d? ?out|Connection (?:closed|reset)|"
    r"Broken pipe|DistBackendError|ChildFailedError|SignalException|SIGTERM|heartbeat|rendezvous",
    re.IGNORECASE)


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

    def as_json(self) -> dict[str, Any]:
        """What is kept of it: message ids with their values, which pages translate."""
        cause = self.cause
        return {"cause": cause.code, "fault": cause.fault, "headline": cause.headline,
                "remedy": cause.remedy, "values": self.values, "line": self.line,
                "quote": self.quote, "source": cause.source, "versions": cause.versions,
                "waits": cause.waits}


@dataclass(frozen=True)
class Place:
    """A match in a part of a log."""

    part: Part
    match: re.Match[str]

    @property
    def line(self) -> int:
        return self.part.number_of(self.part.place_of(self.match.start()))

    @property
    def time(self) -> str:
        """As CANN prints it; empty where the line has none."""
        found = STAMP.search(self.match[0])
        return found[0] if found else ""

    @cached_property
    def rank(self) -> str:
        """The rank that the line names, else an empty text."""
        found = RANK.search(self.match[0])
        return next(filter(None, found.groups()), "") if found else ""

    def shows(self, cause: Cause, **values: str) -> Diagnosis:
        """The cause, quoted from here, with the values that its sentences name."""
        named = {name: text.strip() for name, text in self.match.groupdict(default="").items()}
        sentences = cause.headline + cause.remedy
        values = {name: value for name, value in values.items()
                  if name == "ascend" or f"%({name})" in sentences}
        place = self.part.place_of(self.match.start())
        return Diagnosis(cause, named | values, self.part.number_of(place),
                         self.match[0].strip()[:LONGEST_QUOTE], self.part.around(place))


def is_before(one: Place, other: Place) -> bool:
    """Whether a place is the earlier one, by the printed times of both, else by their lines."""
    if one.time and other.time:
        return one.time < other.time
    return one.line < other.line


@dataclass(frozen=True)
class Code:
    """A code at a place of the log; `row` is None where no table of CANN has it."""

    place: Place
    number: str
    row: CodeRow | None

    @property
    def kind(self) -> str:
        """How the code's meaning stands to other causes; see `Meaning`."""
        if self.row and self.row.meaning:
            return self.row.meaning.kind
        return INNER if re.match(r"E.9", self.number) else GENERAL


class LogSearch:
    """One log whose parts are looked through for causes."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = parts

    def cause(self, first: Sequence[Cause] = (), last: Sequence[Cause] = SYMPTOMS,
              status: int | None = None) -> Diagnosis | None:
        """The first of the known causes, None where the log shows none.

        Args:
            first, last: causes that come before and after all others.
            status: the exit status, where it is known.
        """
        proven = [cause for cause in (*first, *CAUSES, *last) if cause.status is not None
                  and cause.status == status]
        return (self._first_of((*proven, *first, *CAUSES, OPERATOR_STOPPED))
                or self._of_itself()
                or self._of_waiting_or_envelope()
                or self._first_of(last))

    @cached_property
    def codes(self) -> list[Code]:
        """All codes of CANN in the log, in its order."""
        return [code for part in self.parts for code in _codes_in(part)]

    def _first_of(self, causes: Sequence[Cause]) -> Diagnosis | None:
        for cause in causes:
            for part in reversed(self.parts) if cause.is_last else self.parts:
                if found := _in_part(cause, part):
                    return found.shows(cause)
            if cause.codes and (found := self._code_of(cause.codes)):
                return found.place.shows(
                    replace(cause, source=cann_codes.TABLES[found.row.table],
                            versions=found.row.versions), ascend=found.number)
        return None

    def _code_of(self, name: str) -> Code | None:
        return next((code for code in self.codes if code.row and code.row.cause == name), None)

    def _of_itself(self) -> Diagnosis | None:
        """A code that tells a failure of the rank itself: printed ones before returned numbers,
        which stand for them, and known ones before those of no table."""
        own = [code for code in self.codes if code.kind in (OWN, GENERAL)]
        for group in ([c for c in own if c.row and not c.number.isdigit()],
                      [c for c in own if c.row and c.number.isdigit()]):
            if group:
                return self._worded(_earliest(group))
        return None

    def _of_waiting_or_envelope(self) -> Diagnosis | None:
        """Of the failures that stand for others: the one that did not wait, if it came before the
        wait or on a rank that waits for none."""
        waiting = [code for code in self.codes if code.kind == WAITS]
        envelopes = [c for c in self.codes if c.kind == INNER or (c.kind == GENERAL and not c.row)]
        envelopes.sort(key=lambda code: (code.number.isdigit(), code.row is None))
        lines = [Place(part, match) for cause in WAITING for part in self.parts
                 for match in cause.pattern.finditer(part.suspect_text)]
        waits = [code.place for code in waiting] + lines
        by_itself = [code.place for code in envelopes] + self._python_errors()
        alone = [one for one in by_itself if waits and _failed_by_itself(one, waits)]
        if alone:
            place = _earliest_place(alone)
            code = next((one for one in envelopes if one.place is place), None)
            return self._worded(code) if code else place.shows(PYTHON_ERROR)
        if waiting:
            printed = [one for one in waiting if not one.number.isdigit()]
            return self._worded(_earliest(printed or waiting))
        if found := self._first_of(WAITING):
            return found
        return self._worded(envelopes[0]) if envelopes else None

    def _python_errors(self) -> list[Place]:
        """The last error of each rank that does not follow from another cause."""
        found = {}
        for part in self.parts:
            for match in PYTHON_ERROR.pattern.finditer(part.suspect_text):
                if not FOLLOWS.search(match[0]):
                    place = Place(part, match)
                    found[place.rank] = place
        return list(found.values())

    def _worded(self, code: Code) -> Diagnosis:
        """The cause of a code in the log's own words where these say more than the table."""
        row, kind = code.row, code.kind
        values = {"ascend": code.number, "title": row.title.replace("_", " ") if row else "",
                  "module": MODULES.get(code.number[1], code.number[1])}
        if code.number.isdigit():
            cause = row.as_cause() if row else UNKNOWN_RETURN
            return code.place.shows(cause, **values)
        known = row.as_cause() if row and row.meaning else None
        is_plain = known and kind in (OWN, WAITS)
        for cause in (SOLVED,) if is_plain else (SOLVED, REASONED, SUPPOSED, ADVISED):
            if found := self._own_words(cause, code):
                return found.shows(_with(cause, known), **values)
        return code.place.shows(known or UNKNOWN_CODE, **values)

    @staticmethod
    def _own_words(cause: Cause, code: Code) -> Place | None:
        """Where the log says of this code what the cause reads from it."""
        for match in cause.pattern.finditer(code.place.part.suspect_text):
            if match["ascend"] == code.number:
                return Place(code.place.part, match)
        return None


def _with(cause: Cause, known: Cause | None) -> Cause:
    """A cause in the log's own words with what the table knows of its code."""
    if known is None:
        return cause
    if cause is REASONED and known.remedy:
        cause = replace(SOLVED, remedy=known.remedy)
    return replace(cause, fault=known.fault, waits=known.waits, versions=known.versions,
                   source=known.source)


def _failed_by_itself(one: Place, waits: list[Place]) -> bool:
    ranks = {place.rank for place in waits}
    if one.rank and "" not in ranks and one.rank not in ranks:
        return True
    return all(is_before(one, place) for place in waits)


def _earliest(codes: list[Code]) -> Code:
    place = _earliest_place([code.place for code in codes])
    return next(code for code in codes if code.place is place)


def _earliest_place(places: list[Place]) -> Place:
    first = places[0]
    for place in places[1:]:
        if is_before(place, first):
            first = place
    return first


def _in_part(cause: Cause, part: Part) -> Place | None:
    if cause.pattern is None:
        return None
    matches = cause.pattern.finditer(part.suspect_text)
    if cause.is_last:
        matches = iter(deque(matches, maxlen=1))
    match = next(matches, None)
    return Place(part, match) if match else None


def _codes_in(part: Part) -> Iterator[Code]:
    rows = cann_codes.code_rows()
    found = []
    for match in PRINTED.finditer(part.suspect_text):
        found.append((match, match["ascend"]))
    for match in RETURNED.finditer(part.suspect_text):
        if match["ascend"] in rows or re.match(r"[125]\d7", match["ascend"]):
            found.append((match, match["ascend"]))
    for match in WORDED.finditer(part.suspect_text):
        if number := cann_codes.code_of_text(match["text"]):
            found.append((match, number))
    for match, number in sorted(found, key=lambda one: one[0].start()):
        yield Code(Place(part, match), number, rows.get(number))
