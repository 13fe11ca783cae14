"""A file as readers see it: unpacked, decoded, free of terminal codes, never larger than agreed."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

MAX_UNPACKED_BYTES = 4 * 1024**3
TOO_LARGE = "The unpacked file is larger than 4 GiB; give the part that holds the values."
MAX_TEXT_BYTES = 256 * 1024**2
MAX_LINE_CHARACTERS = 1024**2
MAX_LINE_BYTES = 8 * 1024**2
BOMB_BYTES, BOMB_RATIO = 64 * 1024**2, 100  # logs pack to a tenth or a hundredth
MAX_PARSED_BYTES = 32 * 1024**2
CHUNK_BYTES = 1024 * 1024
HEAD_BYTES = 256 * 1024
TAIL_BYTES = 64 * 1024

ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
ANSI_BYTES = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")
# "[2026-01-01 …" opens a log line, `{"` and `[{` open JSON
JSON_START = re.compile(r"\{\s*[\"}]|\[\s*[\[{\"\]]")
JSON_NUMBERS = re.compile(r"\[\s*(?:-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?\s*[,\]]|true|false|null)")
NEWLINES = re.compile(r"\r\n|\r|\n")
ZIP_MAGIC = b"PK\x03\x04"
GZIP_MAGIC = b"\x1f\x8b"
UTF16_BOMS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
UTF8_BOM = b"\xef\xbb\xbf"
CONTROL = bytes(sorted(set(range(1, 32)) - {7, 8, 9, 10, 12, 13, 27}))


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


def decode(data: bytes) -> tuple[str, bool]:
    """Text of ``data`` without terminal codes and NUL, and whether characters were lost.

    UTF-8 first, then GBK, line by line where a file mixes them; otherwise U+FFFD.
    """
    try:
        text, lossy = data.decode("utf-8"), False
    except UnicodeDecodeError:
        decoded = [_decode_line(line) for line in data.split(b"\n")]
        text = "\n".join(line for line, _lossy in decoded)
        lossy = any(lossy for _line, lossy in decoded)
    if "\x1b" in text:
        text = ANSI.sub("", text)
    return text.replace("\x00", ""), lossy


def _decode_line(line: bytes) -> tuple[str, bool]:
    for encoding in ("utf-8", "gb18030"):
        try:
            return line.decode(encoding), False
        except UnicodeDecodeError:
            continue
    return line.decode("utf-8", "replace"), True


def looks_binary(data: bytes) -> bool:
    """True for archives and event files; NUL holes that crashes leave in logs do not count."""
    if data.startswith(ZIP_MAGIC):
        return True
    if data[:2] in UTF16_BOMS:
        return False
    data = data[:65536]
    controls = len(data) - len(data.translate(None, CONTROL))
    nuls = data.count(0)
    return controls * 50 > len(data) - nuls


@dataclass
class Source:
    """One file to read. ``warnings`` collects what decoding had to repair."""

    path: Path
    warnings: list[ReadingWarning] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Size of the stored file in bytes (packed size for .gz)."""
        return self.path.stat().st_size

    @cached_property
    def is_gzip(self) -> bool:
        with self.path.open("rb") as stream:
            return stream.read(2) == GZIP_MAGIC

    def _open(self) -> BinaryIO:
        return gzip.open(self.path, "rb") if self.is_gzip else self.path.open("rb")  # type: ignore[return-value]

    def blocks(self, size: int = CHUNK_BYTES) -> Iterator[bytes]:
        """Unpacked raw bytes in blocks; raises ``too_large`` and ``damaged_gzip``.

        A file that is too large, as it lies there or unpacked, is refused before it is read:
        unpacking alone is a hundred times quicker than taking records from what it gives.
        """
        if not self.is_gzip and self.size > MAX_UNPACKED_BYTES:
            raise ReadError("too_large", TOO_LARGE)
        if self._excess:
            raise self._excess
        yield from self._blocks(size)

    @cached_property
    def _excess(self) -> ReadError | None:
        """Why the packed file is refused as a whole; damage is told by whoever comes to it."""
        try:
            for _block in self._blocks(CHUNK_BYTES) if self.is_gzip else ():
                pass
        except ReadError as error:
            return error if error.code in ("too_large", "unsafe_archive") else None
        return None

    def _blocks(self, size: int) -> Iterator[bytes]:
        total = 0
        try:
            with self._open() as stream:
                while block := stream.read(size):
                    total += len(block)
                    if total > MAX_UNPACKED_BYTES:
                        raise ReadError("too_large", TOO_LARGE)
                    if self.is_gzip and total > max(BOMB_BYTES, BOMB_RATIO * self.size):
                        message = f"The file unpacks to over {BOMB_RATIO} times its size."
                        raise ReadError("unsafe_archive", message)
                    yield block
        except (gzip.BadGzipFile, zlib.error, EOFError) as error:
            raise ReadError("damaged_gzip", f"The compressed file is damaged: {error}.") from error

    def chunks(self) -> Iterator[bytes]:
        """Blocks as UTF-8 or GBK bytes that end at a line end, without terminal codes and NUL.

        Lines of more than 8 MiB end at a carriage return, or are cut with a warning.
        """
        if self.head[:2] in UTF16_BOMS:
            yield self.text.encode("utf-8")
            return
        held, number = [], 1
        for index, block in enumerate(self.blocks()):
            data = block if index else block.removeprefix(UTF8_BOM)
            is_long = len(held) * CHUNK_BYTES >= MAX_LINE_BYTES
            cut = data.rfind(b"\n") + 1 or (is_long and data.rfind(b"\r") + 1)
            if cut:
                chunk = b"".join([*held, data[:cut]])
                number += chunk.count(b"\n")
                yield _clean(chunk)
                held = [data[cut:]]
            elif is_long:  # what a line holds beyond is of no tool
                self._warn_once("long_line", "A line was cut at 8 MiB.", number)
            else:
                held.append(data)
        if any(held):
            yield _clean(b"".join(held))

    @cached_property
    def data(self) -> bytes:
        """The whole unpacked file; raises ``too_large`` above 256 MiB."""
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

    @cached_property
    def text(self) -> str:
        """The whole file as text, line ends as they are."""
        data = self.data
        for bom, encoding in UTF16_BOMS.items():
            if data.startswith(bom):
                return data[2:].decode(encoding, "replace").replace("\x00", "")
        text, lossy = decode(data.removeprefix(UTF8_BOM))
        if lossy:
            self._warn_once("undecodable_text", "Some characters are neither UTF-8 nor GBK.")
        return text

    def lines(self) -> Iterator[tuple[int, str]]:
        """(line number, text) of every record; a ``\\r`` starts a record but not a line number."""
        number = 1
        for chunk in self.chunks():
            text, lossy = decode(chunk)
            if lossy:
                self._warn_once("undecodable_text", "Some characters are neither UTF-8 nor GBK.")
            rows = text.split("\n")
            last = rows.pop()
            for row in [*rows, last] if last else rows:
                pieces = row.split("\r") if "\r" in row else (row,)
                for piece in pieces:
                    if len(piece) > MAX_LINE_CHARACTERS:
                        message = "A line was cut at 1,048,576 characters."
                        self._warn_once("long_line", message, number)
                    yield number, piece[:MAX_LINE_CHARACTERS]
                number += 1
            number -= bool(last)  # its line goes on

    @cached_property
    def json(self) -> Any:
        """The file as one JSON value (bare NaN allowed), or None where it is not one."""
        start = decode(self.head[:4096].removeprefix(UTF8_BOM))[0].lstrip()
        if not (JSON_START.match(start) or JSON_NUMBERS.match(start)):
            return None
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError, ReadError):
            return None

    def ends_with_newline(self) -> bool:
        """False when the last record may be cut off."""
        last = b""
        for block in self.blocks():
            last = block[-1:]
        return last in (b"\n", b"\r")

    def _warn_once(self, code: str, message: str, line: int | None = None) -> None:
        if all(warning.code != code for warning in self.warnings):
            self.warnings.append(ReadingWarning(code, message, line))


def _clean(data: bytes) -> bytes:
    if b"\x1b" in data:
        data = ANSI_BYTES.sub(b"", data)
    return data.replace(b"\x00", b"") if b"\x00" in data else data


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


class Sample:
    """What a reader may look at to recognise its format: content only, never the name.

    ``data``: first 256 KiB raw; ``text``: the same decoded (empty for binary files);
    ``lines``: its records; ``json``: the parsed file if it is one JSON value, else None.
    """

    def __init__(self, source: Source, data: bytes) -> None:
        self._source = source
        self.data = data
        self.is_binary = looks_binary(data)

    @cached_property
    def text(self) -> str:
        if self.is_binary:
            return ""
        for bom, encoding in UTF16_BOMS.items():
            if self.data.startswith(bom):
                return self.data[2:].decode(encoding, "replace")
        return decode(self.data.removeprefix(UTF8_BOM))[0]

    @cached_property
    def lines(self) -> list[str]:
        return NEWLINES.split(self.text)

    @property
    def json(self) -> Any:
        return None if self.is_binary else self._source.json

    @cached_property
    def is_broken_json(self) -> bool:
        """True for one JSON value that is cut off or damaged; readers of lines leave it alone.

        Files above 32 MiB are not parsed for this.
        """
        start = next((line.strip() for line in self.lines if line.strip()), "")
        if not JSON_START.match(self.text.lstrip()) or self._source.size > MAX_PARSED_BYTES:
            return False
        return not _is_json(start) and self.json is None

    @property
    def source(self) -> Source:
        """The whole file, for formats that need to look inside (archives)."""
        return self._source
