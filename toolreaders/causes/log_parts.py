"""The whole of a log for searching, read piece by piece and never held as a whole.

The first megabyte and the last four are kept as they are; of what lies between only the lines that
may tell of a cause.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

LAST_PIECES = 4  # that are kept whole, beside the first
LONGEST_LINE = 2000
MOST_LINES, CUT_LINE = 500, 400  # of one piece in between: different lines, and their length
BEFORE, AFTER = 12, 3  # lines around the quoted one that the technical cause holds
# Every line that a cause can show has one of these words, in any case, or a code.
SUSPECT = (
    "desk runtime:",
    "error", "exception", "interrupt", "exit:", "exitcode", "exit-on", "not found", "未找到",
    "no such", "没有那个", "no module", "no npu", "no cuda", "no nvidia", "denied", "权限",
    "interpreter", "kill", "memory", "bad_alloc", "shm", "space left", "quota", "in use", "inuse",
    "cannot", "can't", "can not", "could not", "license", "licence", "time out", "timeout",
    "timed out", "timedout", "dcmi", "match", "incompatible", " ecc", "is used", "busy", "signal",
    "cuda", "libcu", "listen", "possible cause", "solution:", "xid (", "nccl", "opp_path")
CODE = re.compile(r"\bE[1-9A-Z]\d{4}|\b[125]\d7\d{3}\b")


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

    def number_of(self, place: int) -> int:
        """The number of a line in the log, from 1 on."""
        return self.first_line + place

    def around(self, place: int) -> str:
        """The lines before and after one."""
        lines = self.text.split("\n")[max(0, place - BEFORE):place + AFTER + 1]
        return "\n".join(line.rpartition("\r")[2][:LONGEST_LINE] for line in lines)

    @property
    def end(self) -> str:
        return self.around(self.text.rstrip("\n").count("\n")).rstrip("\n")

    def reduced(self) -> "Excerpt":
        """Its suspect lines only, each text once, where it stands first."""
        first: dict[str, int] = {}
        for place, line in self.suspect_lines:
            first.setdefault(line[:CUT_LINE], place)
        excerpt = [*first.items()][:MOST_LINES]
        return Excerpt("\n".join(line for line, _place in excerpt), self.first_line,
                       tuple(place for _line, place in excerpt))


@dataclass(frozen=True)
class Excerpt(Part):
    """Single lines of a part; `places` says where in the part each stood."""

    places: tuple[int, ...] = ()

    def number_of(self, place: int) -> int:
        return self.first_line + self.places[place]

    def around(self, place: int) -> str:
        """The line alone: what stood beside it was not kept."""
        return self.text.split("\n")[place]


def parts_of(pieces: Iterable[bytes]) -> list[Part]:
    """The parts of a log that comes in pieces of about a megabyte."""
    parts: list[Part] = []
    first_line = 1
    for text in whole_lines(pieces):
        parts.append(Part(text, first_line))
        first_line += text.count("\n")
        if len(parts) > LAST_PIECES + 1 and not isinstance(parts[-LAST_PIECES - 1], Excerpt):
            parts[-LAST_PIECES - 1] = parts[-LAST_PIECES - 1].reduced()
    return parts


def whole_lines(pieces: Iterable[bytes]) -> Iterator[str]:
    """The same text, cut behind line ends only; a line longer than a piece is cut where it is."""
    rest = b""
    for piece in pieces:
        data = rest + piece
        cut = data.rfind(b"\n") + 1 or (len(data) if len(rest) >= len(piece) else 0)
        rest = data[cut:]
        if cut:
            yield data[:cut].decode("utf-8", "replace")
    if rest:
        yield rest.decode("utf-8", "replace")
