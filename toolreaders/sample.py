"""What a reader looks at to recognise its format."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from toolreaders import documents
from toolreaders.decoding import looks_binary
from toolreaders.source import (
    HEAD_BYTES,
    JSON_START,
    ReadError,
    Source,
    begins_with_json,
    is_json,
)

NEWLINES = re.compile(r"\r\n|\r|\n")
HEADER_CHARACTERS = 20_000
MAX_PARSED_BYTES = 32 * 1024**2


class Sample:
    """What a reader may look at to recognise its format: content only, never the name.

    ``data``: 256 KiB raw; ``text``: the same decoded (empty for binary files);
    ``lines``: its records; ``json``: the parsed file if it is one JSON value, else None.
    """

    def __init__(self, source: Source, data: bytes) -> None:
        self._source = source
        self.data = data
        self.is_binary = looks_binary(data)

    @cached_property
    def text(self) -> str:
        return "" if self.is_binary else self._source.text_of(self.data)

    @cached_property
    def lines(self) -> list[str]:
        return NEWLINES.split(self.text)

    @property
    def first_line(self) -> str:
        """The first line that is not blank, or its first 20,000 characters."""
        return next((line for line in self.lines if line.strip()), "")[:HEADER_CHARACTERS]

    @property
    def json(self) -> Any:
        return None if self.is_binary else self._source.json

    @property
    def commented_json(self) -> Any:
        return None if self.is_binary else self._source.commented_json

    @cached_property
    def is_broken_json(self) -> bool:
        """True for one JSON value that is cut off or damaged; readers of lines leave it alone.

        Files above 32 MiB are not parsed for this.
        """
        if self.data is not self._source.head:
            return Sample(self._source, self._source.head).is_broken_json
        start = next((line.strip() for line in self.lines if line.strip()), "")
        if not JSON_START.match(self.text.lstrip()) or self._source.size > MAX_PARSED_BYTES:
            return False
        return not is_json(start) and self.json is None and not begins_with_json(self.text)

    @cached_property
    def is_document(self) -> bool:
        """True for a README or a page: prose that quotes outputs."""
        return documents.is_document(self.lines)

    @cached_property
    def is_program(self) -> bool:
        """True for source code, which may name tools and hold their outputs in tests."""
        return documents.is_program(self.lines)

    @cached_property
    def is_explanation(self) -> bool:
        """True for a few sentences or a short page around what is quoted."""
        return documents.is_explanation(self.lines)

    @property
    def source(self) -> Source:
        """The whole file, for formats that need to look inside (archives)."""
        return self._source


MIDDLE_AND_END = (1 / 2, 1)
DIGITS = re.compile(rb"\d[\w.+-]*")
LIKE_LINES = 12
"""Lines that differ in their numbers alone, of which a reader has to see some."""
LOSS = re.compile(rb"(?:loss|Loss|LOSS)[\"']?\s{0,8}[:=]?\s{0,8}\(?[-+]?(?:\d|nan|inf)")
LINES_WITH_LOSSES = 400
DIGEST_BYTES, MOST_DIGESTED = 1024**2, 32 * 1024**2


def is_longer_than_head(source: Source) -> bool:
    """Whether the file goes on behind its first 256 KiB."""
    return len(source.head) == HEAD_BYTES and source.length > HEAD_BYTES


def later_samples(source: Source) -> list[Sample]:
    """256 KiB each of the middle and of the end, of a file longer than its head."""
    room = source.length - HEAD_BYTES
    starts = [max(HEAD_BYTES - 1, int(room * share)) for share in MIDDLE_AND_END]
    return [Sample(source, data) for data in source.pieces(sorted({*starts}), HEAD_BYTES)]


def digests(source: Source) -> Iterator[Sample]:
    """Samples of 1 MiB of the lines of the whole file, of each sort of line the first few.

    The first sample has lines that tell a loss, wherever in the file they stand: they are found
    in seconds, in whatever chatter. Raises ReadError ``partly_searched`` when more than 32 MiB of
    it are unlike each other.
    """
    if losses := _lines_with_losses(source):
        yield Sample(source, b"\n".join(losses))
    whole: list[bytes] = []
    held = total = 0
    for line in _unlike_lines(source):
        whole.append(line)
        held += len(line) + 1
        if held > DIGEST_BYTES:
            yield Sample(source, b"\n".join(whole))
            total, held = total + held, 0
            whole.clear()
        if total > MOST_DIGESTED:
            message = "No reader knows the beginning, middle and end of this file nor its first"
            message += " 32 MiB of unlike lines; give the part with the values."
            raise ReadError("partly_searched", message)
    yield Sample(source, b"\n".join(whole))


def _lines_with_losses(source: Source) -> list[bytes]:
    """The first lines of the whole file that tell a loss, read as a stream."""
    found: dict[bytes, None] = {}  # in their order
    for chunk in source.chunks():
        for match in LOSS.finditer(chunk):
            start = max(chunk.rfind(sign, 0, match.start()) for sign in (b"\n", b"\r")) + 1
            line = chunk[start:start + HEADER_CHARACTERS].splitlines()[0]
            found[line] = None
        if len(found) > LINES_WITH_LOSSES:
            break
    return list(found)[:LINES_WITH_LOSSES]


def _unlike_lines(source: Source) -> Iterator[bytes]:
    seen: Counter[int] = Counter()
    for chunk in source.chunks():
        lines = chunk.replace(b"\r", b"\n").split(b"\n")
        shapes = DIGITS.sub(b"0", chunk).replace(b"\r", b"\n").split(b"\n")
        for line, shape in zip(lines, shapes, strict=True):
            key = hash(shape)
            seen[key] += 1
            if seen[key] <= LIKE_LINES:
                yield line[:HEADER_CHARACTERS]
