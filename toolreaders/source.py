"""A file as readers see it: unpacked, decoded, free of terminal codes, never larger than agreed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

from toolreaders.decoding import (
    ANSI_BYTES,
    BYTE_HOLES,
    LOST,
    UTF8_BOM,
    decode,
    decode_utf16,
    looks_binary,
    utf16_of,
)
from toolreaders.packing import DAMAGE, Packing, packing_of
from toolreaders.prefixes import Prefixes, prefixes_of
from toolreaders.wrapping import Wrapping, wrapping_of

MAX_UNPACKED_BYTES = 4 * 1024**3
MAX_PACKED_BYTES = 1024**3  # of a file that has to be unpacked again for each pass
TOO_LARGE = "The file is larger than 4 GiB, or 1 GiB unpacked; give the part with the values."
MAX_TEXT_BYTES = 256 * 1024**2
MAX_COMMENTED_BYTES = 16 * 1024**2  # of settings that a person wrote
MAX_LINE_CHARACTERS = 1024**2
MAX_LINE_BYTES = 8 * 1024**2
BOMB_BYTES, BOMB_RATIO = 64 * 1024**2, 100  # logs pack to a tenth or a hundredth
MAX_JSON_BYTES = 600 * 1024**2
JSON_COSTS = {"{": 100, "[": 64, ",": 40, '"': 25}
"""Bytes that CPython takes for what each of these characters opens or parts."""
CHUNK_BYTES = 1024 * 1024
NO_BREAK = "\xa0".encode()
HEAD_BYTES = 256 * 1024

# "[2026-01-01 …" opens a log line, `{"` and `[{` open JSON
JSON_START = re.compile(r"\{\s*[\"}]|\[\s*[\[{\"\]]")
JSON_NUMBERS = re.compile(r"\[\s*(?:-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?\s*[,\]]|true|false|null)")
JSON_COMMENT = re.compile(r"(?<=[\[{,\"\w\]}])[ \t]+(?:#|//)[^\n\"]*$|^[ \t]*(?:#|//)[^\n]*$",
                          re.MULTILINE)
"""As people explain the lines of a setting; JSON itself knows none."""
HAS_HOLES = "The file holds NUL bytes, as a crash leaves them; what they replace is lost."
HAS_LOST = "Some characters are neither UTF-8 nor GBK."
UNFINISHED = re.compile(rb"[\w.%,]\Z|[eE][-+]\Z")
IS_UNFINISHED = "The file ends within its last line, whose last value may be cut off."
ENDS_BYTES = 64


class ReadError(Exception):
    """The file cannot be read: damaged, unknown, too large or without the values it should hold.

    ``code`` is stable and is what pages translate by; ``message`` is a plain English sentence.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


@dataclass(frozen=True)
class ReadingWarning:
    """Something a person must know about a reading; ``line`` is 1-based where one can be named."""

    code: str
    message: str
    line: int | None = None


@dataclass
class Source:
    """One file to read. ``warnings`` collects what decoding had to repair."""

    path: Path
    warnings: list[ReadingWarning] = field(default_factory=list)
    refusal: ReadError | None = None
    """Why ``json`` is None although the content may be JSON."""

    @property
    def size(self) -> int:
        """Size of the stored file in bytes (packed size where it is packed)."""
        return self.path.stat().st_size

    @cached_property
    def packing(self) -> Packing | None:
        return packing_of(self.path)

    def _open(self) -> BinaryIO:
        return self.packing.open(self.path) if self.packing else self.path.open("rb")

    def blocks(self, size: int = CHUNK_BYTES) -> Iterator[bytes]:
        """Unpacked raw bytes in blocks; raises ``too_large``, ``damaged_gzip``, ``damaged_xz``.

        A file that is too large, as it lies there or unpacked, is refused before it is read:
        unpacking alone is a hundred times quicker than taking records from what it gives.
        """
        if not self.packing and self.size > MAX_UNPACKED_BYTES:
            raise ReadError("too_large", TOO_LARGE)
        _length, error = self._unpacked
        if error and error.code in ("too_large", "unsafe_archive"):
            raise error
        yield from self._blocks(size)

    @property
    def length(self) -> int:
        """Bytes of the unpacked file; raises what ``blocks`` raises."""
        length, error = self._unpacked
        if error:
            raise error
        return length if self.packing else self.size

    @cached_property
    def _unpacked(self) -> tuple[int, ReadError | None]:
        """Unpacked bytes of a packed file, and what ended unpacking before its end."""
        total = 0
        try:
            for block in self._blocks(CHUNK_BYTES) if self.packing else ():
                total += len(block)
        except ReadError as error:
            return total, error
        return total, None

    def _blocks(self, size: int) -> Iterator[bytes]:
        total = 0
        try:
            with self._open() as stream:
                while block := stream.read(size):
                    total += len(block)
                    self._check_size(total)
                    yield block
        except DAMAGE as error:
            name = self.packing.name if self.packing else "file"
            message = f"The compressed file is damaged: {error}."
            raise ReadError(f"damaged_{name}", message) from error

    def _check_size(self, total: int) -> None:
        if total > (MAX_PACKED_BYTES if self.packing else MAX_UNPACKED_BYTES):
            raise ReadError("too_large", TOO_LARGE)
        if self.packing and total > max(BOMB_BYTES, BOMB_RATIO * self.size):
            message = f"The file unpacks to over {BOMB_RATIO} times its size."
            raise ReadError("unsafe_archive", message)

    def chunks(self) -> Iterator[bytes]:
        """Blocks as UTF-8 or GBK bytes that end at a line end, without terminal codes and NUL.

        Lines of more than 8 MiB end at a carriage return, or are cut with a warning.
        """
        if utf16_of(self.head) or self.wrapping:
            yield self.text.encode("utf-8")
            return
        held, number = [], 1
        for index, block in enumerate(self.blocks()):
            data = block if index else block.removeprefix(UTF8_BOM)
            is_long = len(held) * CHUNK_BYTES >= MAX_LINE_BYTES
            cut = data.rfind(b"\n") + 1 or (is_long and data.rfind(b"\r") + 1)
            if cut:
                chunk = b"".join([*held, data[:cut]])
                yield self._clean(chunk, number)
                number += chunk.count(b"\n")
                held = [data[cut:]]
            elif is_long:  # what a line holds beyond is of no tool
                self._warn_once("long_line", "A line was cut at 8 MiB.", number)
            else:
                held.append(data)
        if any(held):
            yield self._clean(b"".join(held), number)

    @cached_property
    def prefixes(self) -> Prefixes:
        """What stands before each line (`prefixes`)."""
        is_text = not (looks_binary(self.head) or utf16_of(self.head))
        return prefixes_of(self.head) if is_text else Prefixes()

    @cached_property
    def wrapping(self) -> Wrapping | None:
        """How long lines are broken (`wrapping`), None for whole ones."""
        return None if looks_binary(self.head) else wrapping_of(self._decoded(self.head)[0])

    def text_of(self, data: bytes) -> str:
        """Text of a part of the file that begins with a line, as readers see it."""
        return self._whole_lines(self._decoded(data)[0])

    def _decoded(self, data: bytes) -> tuple[str, bool]:
        """Text without what stands before its lines, and whether characters were lost."""
        if utf16_of(self.head):
            text = decode_utf16(data)
            own, _lossy = decode(prefixes_of(text[:HEAD_BYTES].encode()).taken_off(text.encode()))
            return own, False
        return decode(self.prefixes.taken_off(data.removeprefix(UTF8_BOM)))

    def _whole_lines(self, text: str) -> str:
        return self.wrapping.joined(text) if self.wrapping else text

    def _clean(self, data: bytes, number: int) -> bytes:
        data = self.prefixes.taken_off(data)
        if b"\x1b" in data:
            data = ANSI_BYTES.sub(b"", data)
        if not data.isascii() and NO_BREAK in data and self._is_utf8:
            data = data.replace(NO_BREAK, b" ")
        if (at := data.find(b"\x00")) < 0:
            return data
        self._warn_once("nul_bytes", HAS_HOLES, number + data.count(b"\n", 0, at))
        return BYTE_HOLES.sub(LOST.encode(), data)

    @cached_property
    def _is_utf8(self) -> bool:
        """Whether the head is UTF-8: in GBK the bytes of a no-break blank are a letter."""
        decoded = self.head[:-4].decode("utf-8", "ignore").encode()
        return len(decoded) > len(self.head) - 8

    @cached_property
    def data(self) -> bytes:
        """The whole unpacked file; raises ``too_large`` above 256 MiB."""
        return self._whole()

    def _whole(self) -> bytes:
        parts, total = [], 0
        for block in self.blocks():
            total += len(block)
            if total > MAX_TEXT_BYTES:
                message = "The file is larger than 256 MiB, more than this format may have."
                raise ReadError("too_large", message)
            parts.append(block)
        return b"".join(parts)

    @cached_property
    def head(self) -> bytes:
        """The first 256 KiB, unpacked."""
        return next(self._blocks(HEAD_BYTES), b"")

    def pieces(self, starts: list[int], size: int) -> list[bytes]:
        """``size`` unpacked bytes from each place on, without the line that is cut before them."""
        if self.packing:
            found = self._unpacked_pieces(starts, size)
        else:
            found = [self._piece(start, size) for start in starts]
        return [piece[piece.find(b"\n") + 1 :] for piece in found]

    def _piece(self, start: int, size: int) -> bytes:
        with self._open() as stream:
            stream.seek(start)
            return stream.read(size)

    def _unpacked_pieces(self, starts: list[int], size: int) -> list[bytes]:
        parts: list[list[bytes]] = [[] for _start in starts]
        at = 0
        for block in self.blocks():
            for part, start in zip(parts, starts, strict=True):
                part.append(block[max(start - at, 0) : max(start + size - at, 0)])
            at += len(block)
        return [b"".join(part) for part in parts]

    @cached_property
    def text(self) -> str:
        """The whole file as text, line ends as they are."""
        data = self._whole()
        text, lossy = self._decoded(data)
        if lossy:
            self._warn_of_lost(text, 1)
        if (at := data.find(b"\x00")) >= 0 and not utf16_of(data):
            self._warn_once("nul_bytes", HAS_HOLES, data.count(b"\n", 0, at) + 1)
        return self._whole_lines(text)

    def _warn_of_lost(self, text: str, number: int) -> None:
        line = number + text.count("\n", 0, text.index(LOST))
        self._warn_once("undecodable_text", HAS_LOST, line)

    def lines(self) -> Iterator[tuple[int, str]]:
        """(line number, text) of every record; a ``\\r`` starts a record but not a line number."""
        number = 1
        for chunk in self.chunks():
            yield from self.lines_of(chunk, number)
            number += chunk.count(b"\n")

    def lines_of(self, chunk: bytes, number: int) -> Iterator[tuple[int, str]]:
        """The records of a chunk whose first line has this number."""
        text, lossy = decode(chunk)
        if lossy:
            self._warn_of_lost(text, number)
        rows = text.split("\n")
        for line, row in enumerate(rows if rows[-1] else rows[:-1], number):
            for piece in row.split("\r") if "\r" in row else (row,):
                if len(piece) > MAX_LINE_CHARACTERS:
                    message = "A line was cut at 1,048,576 characters."
                    self._warn_once("long_line", message, line)
                yield line, piece[:MAX_LINE_CHARACTERS]

    @cached_property
    def json(self) -> Any:
        """The file as one JSON value (bare NaN allowed), or None where it is not one.

        A file that would take over 600 MiB of memory is left alone, see ``refusal``.
        """
        if not (JSON_START.match(self._beginning) or JSON_NUMBERS.match(self._beginning)):
            return None
        try:
            return None if self._is_json_lines or self._is_costly else json.loads(self.text)
        except (ValueError, RecursionError, ReadError):
            return None

    @cached_property
    def commented_json(self) -> Any:
        """The same of settings that people explain line by line: a program that reads JSON takes
        no such file."""
        if self.length > MAX_COMMENTED_BYTES:
            return None
        if self.json is not None or not JSON_START.match(self._beginning):
            return self.json
        try:
            return json.loads(JSON_COMMENT.sub("", self.text))
        except (ValueError, RecursionError, ReadError):
            return None

    @property
    def _beginning(self) -> str:
        """What tells whether it may be JSON, without reading all of it."""
        return self._decoded(self.head[:4096])[0].lstrip()

    @property
    def _is_json_lines(self) -> bool:
        first, _end, rest = self.text.lstrip()[:MAX_LINE_CHARACTERS].partition("\n")
        return bool(rest.strip()) and is_json(first)

    @property
    def _is_costly(self) -> bool:
        cost = sum(self.text.count(sign) * bytes_ for sign, bytes_ in JSON_COSTS.items())
        if cost <= MAX_JSON_BYTES:
            return False
        message = "The JSON holds more values than can be read at once; give the part that counts."
        self.refusal = ReadError("too_large", message)
        return True

    @cached_property
    def _end(self) -> bytes:
        """The last bytes, unpacked."""
        if self.packing:
            last = b""
            for block in self.blocks():
                last = (last + block)[-ENDS_BYTES:]
            return last
        with self._open() as stream:
            stream.seek(max(0, self.size - ENDS_BYTES))
            return stream.read()

    def ends_with_newline(self) -> bool:
        """False when the last record may be cut off."""
        return self._end.rstrip(b"\x00").endswith((b"\n", b"\r"))

    def warn_of_its_end(self) -> None:
        """Warn of text that ends in the middle of a line with a word or a number."""
        if looks_binary(self.head) or not UNFINISHED.search(self._end) or self.json is not None:
            return
        lines = 1 + sum(block.count(b"\n") for block in self.blocks())
        self._warn_once("unfinished_line", IS_UNFINISHED, lines)

    def _warn_once(self, code: str, message: str, line: int | None = None) -> None:
        if all(warning.code != code for warning in self.warnings):
            self.warnings.append(ReadingWarning(code, message, line))


def begins_with_json(text: str) -> bool:
    """Whether one whole JSON value stands first, whatever follows it."""
    try:
        json.JSONDecoder().raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        return False
    return True


def is_json(text: str) -> bool:
    """Whether a text of at most 1 MiB is one JSON value."""
    if len(text) > MAX_LINE_CHARACTERS:
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
