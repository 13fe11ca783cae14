"""What else a file holds: the state of the machine above a training, a second tool's log, version
files behind a failed query. One reader reads a file; what others know in it is a part of its own.

A part is looked for in the first 256 KiB and, of longer files, in the last and around the first
lines of other kinds than those before.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import islice, pairwise
from typing import Any, BinaryIO

from toolreaders.base import (
    GUESS,
    MACHINE_KINDS,
    Part,
    Reader,
    confidence_in,
    load_readers,
    reading_by,
)
from toolreaders.decoding import decode
from toolreaders.sample import DIGITS, LIKE_LINES, Sample, is_longer_than_head, later_samples
from toolreaders.source import HEAD_BYTES, ReadError, Source
from toolreaders.training.like_lines import kinds_in

PROMPT = re.compile(
    r"(?:\S*[$#>]|\[[^\]\n]+\] ?[$#]|\(\S+\) ?\S*[$#>]) ?(?:sudo )?[a-z./]\S*(?: |$)|==> .+ <==$"
)
BREAK = re.compile(r"\s*$|[=*\-#]{8,}\s*$")
"""Between outputs of two commands: the next command, a blank line, a rule."""
MOST_BLOCKS = 60
NUMBERS = re.compile(r"\d[\w.+-]*")
MOST_PARTS = 20
MOST_PLACES, MARGIN = 6, 3
"""Where lines of new kinds are looked at, and how many lines around them."""


class Excerpt(Source):
    """Some lines of a file as a file of their own; blank ones before them keep their numbers."""

    def __init__(self, source: Source, lines: Iterable[str], before: int = 0) -> None:
        super().__init__(source.path)
        self.content = "\n".join((*[""] * before, *lines)).encode()

    @property
    def size(self) -> int:
        return len(self.content)

    packing = None

    def _open(self) -> BinaryIO:
        return BytesIO(self.content)


class Finder:
    """Looks for parts in one sample of a file that ``own`` reads."""

    def __init__(self, source: Source, lines: list[str], before: int, own: Reader) -> None:
        self.source, self.lines, self.before, self.own = source, lines, before, own
        self._last: tuple[tuple[int, int], Sample] | None = None

    def knows(self, reader: Reader, start: int, end: int) -> int:
        """The reader's confidence in the lines from ``start`` up to ``end``."""
        if self._last is None or self._last[0] != (start, end):
            excerpt = Excerpt(self.source, self.lines[start:end])
            self._last = (start, end), Sample(excerpt, excerpt.content)
        return confidence_in(reader, self._last[1])

    def evidence(self, reader: Reader) -> tuple[int, int]:
        """The first and the last place where the reader knows something: (start, end)."""
        low, high = 1, len(self.lines)
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.knows(reader, 0, middle) else (middle + 1, high)
        end, low, high = low, 0, len(self.lines) - 1
        while low < high:
            middle = (low + high + 1) // 2
            is_known = self.knows(reader, middle, len(self.lines))
            low, high = (middle, high) if is_known else (low, middle - 1)
        return min(end - 1, low), max(end, low + 1)

    def _excerpt(self, start: int, end: int) -> Excerpt:
        return Excerpt(self.source, self.lines[start:end], self.before + start)

    def part(self, reader: Reader, start: int, end: int) -> Part:
        """What the reader reads from these lines, and on which of them it stands."""
        values = error = None
        try:
            values = reading_by(reader, self._excerpt(start, end)).values
        except ReadError as refused:
            error = {"code": refused.code, "message": refused.message}
        while values and end - start > 1:
            shorter = self._shorter(reader, start, end, values)
            if shorter == end:
                break
            end = shorter
        first, last = self.before + start + 1, self.before + end
        return Part(reader.kind, reader.name, first, last, values, error)

    def _shorter(self, reader: Reader, start: int, end: int, values: dict[str, Any]) -> int:
        """The end of the lines without what tells nothing."""
        low, high = start + 1, end
        while low < high:
            middle = (low + high) // 2
            try:
                is_same = reading_by(reader, self._excerpt(start, middle)).values == values
            except ReadError:
                is_same = False
            low, high = (low, middle) if is_same else (middle + 1, high)
        return low

    def blocks(self) -> Iterator[tuple[int, int]]:
        """Lines between two commands, blank lines or rules; nothing of a file of many."""
        starts = [0]
        for place, line in enumerate(self.lines):
            if BREAK.match(line):
                starts.append(place + 1)
            elif PROMPT.match(line):
                starts.append(place)
        bounds = sorted({*starts, len(self.lines)})
        if not 2 < len(bounds) <= MOST_BLOCKS:
            return
        for start, end in pairwise(bounds):
            if any(line.strip() for line in self.lines[start:end]):
                yield start, end


def parts_of(source: Source, own: Reader) -> list[Part]:
    """What other readers know in a file that ``own`` reads, in the order of their lines.

    Guesses are no parts, nor is what ``own`` knows too. Nothing is looked for in JSON, in binary
    files and in documents.
    """
    found: dict[str, Part] = {}
    for sample, before in _samples(source):
        if sample.is_binary or sample.is_document or sample.is_program:
            continue
        finder = Finder(source, sample.lines, before, own)
        for part in (*_other_logs(finder, sample), *_state_of_machine(finder)):
            found.setdefault(part.reader, part)
    parts = sorted(found.values(), key=lambda part: part.first_line)
    return parts[:MOST_PARTS]


def _samples(source: Source) -> Iterator[tuple[Sample, int]]:
    """The head, and what is new in a longer file and its end, each with the number of lines before
    it."""
    head = Sample(source, source.head)
    if head.is_binary or head.json is not None:
        return
    if len(source.head) == HEAD_BYTES:
        head = Sample(source, source.head[: source.head.rfind(b"\n") + 1])
    yield head, 0
    if is_longer_than_head(source):
        yield from islice(_new_lines(source, head), MOST_PLACES)
        end = later_samples(source)[-1]
        lines = sum(block.count(b"\n") for block in source.blocks())
        yield end, lines - end.data.count(b"\n")


def _new_lines(source: Source, head: Sample) -> Iterator[tuple[Sample, int]]:
    """In each MiB the lines of kinds that did not stand before it."""
    seen, number = set(DIGITS.sub(b"0", head.text.encode()).split(b"\n")), 0
    for chunk in source.chunks():
        if new := set(DIGITS.sub(b"0", kinds_in(chunk)).split(b"\n")) - seen:
            seen |= new
            kinds = DIGITS.sub(b"0", chunk).split(b"\n")
            places = [place for place, kind in enumerate(kinds) if kind in new]
            start = max(places[0] - MARGIN, 0)
            lines = chunk.split(b"\n")[start : places[-1] + 1 + MARGIN]
            text, _lossy = decode(b"\n".join(lines)[:HEAD_BYTES])
            excerpt = Excerpt(source, text.split("\n"))
            yield Sample(excerpt, excerpt.content), number + start
        number += chunk.count(b"\n")


def _other_logs(finder: Finder, sample: Sample) -> Iterator[Part]:
    """Parts that a reader knows amid other lines."""
    others: list[tuple[int, int, Reader]] = []
    digest = Excerpt(finder.source, _unlike(sample.lines))
    unlike = Sample(digest, digest.content)
    for reader in load_readers():
        if reader is finder.own or reader.most_confidence <= GUESS:
            continue
        if confidence_in(reader, unlike) > GUESS and finder.knows(reader, 0, len(sample.lines)):
            start, end = finder.evidence(reader)
            if not finder.knows(finder.own, start, end):
                others.append((start, end, reader))
    for start, end, reader in others:
        limit = min((other for other, _end, _reader in others if other >= end),
                    default=len(finder.lines))
        is_log = reader.kind == "training_log"
        yield finder.part(reader, start, end if is_log else limit)


def _unlike(lines: list[str]) -> Iterator[str]:
    """The lines without most of those that differ in their numbers alone: records of ``own``."""
    seen = Counter[str]()
    for line in lines:
        shape = NUMBERS.sub("0", line)
        seen[shape] += 1
        if seen[shape] <= LIKE_LINES:
            yield line


def _state_of_machine(finder: Finder) -> Iterator[Part]:
    """Parts whose readers know them only where nothing else stands beside them."""
    machine = [reader for reader in load_readers() if reader.kind in MACHINE_KINDS]
    for start, end in finder.blocks():
        confidences = {reader: finder.knows(reader, start, end) for reader in machine}
        best = max(machine, key=confidences.__getitem__)
        if confidences[best] > GUESS and best is not finder.own:
            yield finder.part(best, start, end)
