"""Long lines that a terminal, an editor or a logger has broken, made whole before any reader.

A terminal breaks at its width, within words too, an editor before the word that has no room; some
loggers print each field of a record on a line of its own. A value that was cut in two would be read
as another value, so a break is only made whole where the file shows that it has a width.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

LEAST_WIDTH, MOST_WIDTH = 60, 240
USUAL = {80, 100, 120, 132}
"""Widths of terminals: no other line of a file is as long as that by chance, again and again."""
LEAST_BREAKS, MOST_ALIKE = 3, 0.1
LEAST_RECORDS, LONGEST_RECORD = 3, 12
LEAST_SHARE = 0.4
LONGEST_WORD = 40
SHAPE, WORD = 16, 8
DIGITS = re.compile(r"\d+")
BEGINNING = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:|\d+[.)] ?[A-Z]")
"""With what a line begins and none goes on, though the one before it may be full by chance."""
RULE = re.compile(r"[ >]*(?:[+\u2500-\u257f]|([-=*_~#.])\1{4})|.*([-=*_~#])\2{4}$|\s*$")
ROW = re.compile(r"[ >]*[|+\u2500-\u257f]")
"""Rules, rows of tables and blank lines: they are as wide as the table."""
CELL = re.compile(r"(?<=\s\s)\S+(?: \S+)*")
LEAST_COLUMNS = 3
"""That two lines share, without any rule between them: the table of `free` is 80 wide."""
OPEN = (":", ",", "|", "=", " -")
"""How a line of a record ends that an editor has turned over: another field has to follow."""
FIELDS = re.compile(r"(?:\t{2,}|[ \t]{12,})[a-z]\w*: | '\w+': ")
"""How the further fields of a record begin: PaddleNLP's logger, dictionaries of pprint."""
HAS_FIELDS = re.compile(rf",[ \t\r]*\n(?:{FIELDS.pattern})")


@dataclass(frozen=True)
class Wrapping:
    """How lines are broken: whether the second of two goes on with the first, and what stood
    between them."""

    goes_on: Callable[[str, str], bool]
    joint: str

    def joined(self, text: str) -> str:
        """The text with whole lines; blank lines behind them keep the numbers of the others."""
        rows: list[str] = []
        parts: list[str] = []
        for line, following in pairwise([*text.replace("\r\n", "\n").split("\n"), ""]):
            parts.append(line.strip() if parts and self.joint else line)
            if not self.goes_on(line, following):
                rows += [self.joint.join(parts), *[""] * (len(parts) - 1)]
                parts = []
        return "\n".join(rows)


def wrapping_of(text: str) -> Wrapping | None:
    """How the lines of the beginning of a file are broken; None where nothing shows that."""
    if HAS_FIELDS.search(text):
        return Wrapping(_is_field, " ")
    lines = [line.rstrip("\r") for line in text.split("\n")]
    width = max(map(len, lines), default=0)
    if not LEAST_WIDTH <= width <= MOST_WIDTH:
        return None
    begin = _beginnings(lines, width)
    for wrapping, is_full, is_proven in (
        (Wrapping(lambda line, following: _is_cut(line, following, width, begin), ""),
         lambda line, following: len(line) == width and not _begins(following, begin),
         _has_records),
        (Wrapping(lambda line, following: _is_turned(line, following, width), " "),
         lambda line, following: _has_no_room(line, following, width), _is_frequent),
    ):  # fmt: skip
        broken = [wrapping.goes_on(*pair) for pair in pairwise(lines)]
        if sum(broken) < LEAST_BREAKS - (width in USUAL):
            continue
        full = [pair for pair in pairwise(lines) if is_full(*pair) and not RULE.match(pair[0])]
        if sum(broken) >= (1 - MOST_ALIKE) * len(full) and is_proven(lines, broken):
            return wrapping
    return None


def _is_field(line: str, following: str) -> bool:
    return line.rstrip().endswith(",") and FIELDS.match(following) is not None


def _beginnings(lines: list[str], width: int) -> set[str]:
    """How records begin: what several lines begin with before which none is full."""
    found = Counter(start for before, line in pairwise(["", *lines]) if len(before) < width
                    for start in _starts(line))
    return {start for start, count in found.items() if count >= LEAST_RECORDS}


def _starts(line: str) -> Iterator[str]:
    """The shape of a line, and its first word, as the rows of a table of names share it."""
    yield _shape(line)
    if line[:WORD].isalpha():
        yield line[:WORD]


def _is_cut(line: str, following: str, width: int, begin: set[str]) -> bool:
    is_indented = line[:3].isspace() and following[:3].isspace()
    is_full = len(line) == width and not is_indented
    return is_full and _may_go_on(line, following) and not _begins(following, begin)


def _begins(line: str, begin: set[str]) -> bool:
    return BEGINNING.match(line) is not None or not begin.isdisjoint(_starts(line))


def _is_turned(line: str, following: str, width: int) -> bool:
    is_open = line.rstrip().endswith(OPEN)
    return is_open and _has_no_room(line, following, width) and _may_go_on(line, following)


def _has_no_room(line: str, following: str, width: int) -> bool:
    """Whether the next word would not have fitted on the line."""
    word = following.split(maxsplit=1)[0] if following.strip() else ""
    return 0 < len(word) <= LONGEST_WORD and len(line) + 1 + len(word) > width


def _may_go_on(line: str, following: str) -> bool:
    is_table = RULE.match(line) or RULE.match(following) or (
        ROW.match(line) and ROW.match(following)) or _has_columns(line, following)
    return not is_table and _shape(line) != _shape(following)


def _has_columns(line: str, following: str) -> bool:
    """Whether cells of both begin, or end, below each other."""
    above, below = ([cell.span() for cell in CELL.finditer(each)] for each in (line, following))
    return any(len({span[edge] for span in above} & {span[edge] for span in below})
               >= LEAST_COLUMNS for edge in (0, 1))


def _shape(line: str) -> str:
    """How a line begins, whatever its numbers."""
    return DIGITS.sub("0", line.lstrip()[: 2 * SHAPE])[:SHAPE]


def _has_records(lines: list[str], broken: list[bool]) -> bool:
    """Whether lines are broken again and again, behind beginnings that are alike, as records of a
    log are. The rows of a table follow each other without an end; where several processes print,
    what follows a line begins others as well."""
    starts, continued = Counter[str](), Counter[str]()
    length = longest = 0
    for line, goes_on in zip(lines, broken, strict=False):
        (continued if length else starts)[_shape(line)] += 1
        length = length + 1 if goes_on else 0
        longest = max(longest, length)
    both = sum(count for shape, count in continued.items() if shape in starts)
    is_apart = both <= MOST_ALIKE * continued.total()
    width = max(map(len, lines))
    alike = starts.most_common(1)[0][1] if starts else 0
    return is_apart and longest <= LONGEST_RECORD and (alike >= LEAST_RECORDS or width in USUAL)


def _is_frequent(lines: list[str], broken: list[bool]) -> bool:
    return sum(broken) >= LEAST_SHARE * sum(bool(line.strip()) for line in lines)
