"""Packed files as streams: gzip and xz, recognised by their first bytes.

A file of several packed streams, as ``cat`` joins them, is read to its end.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import lzma
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

GZIP_MAGIC = b"\x1f\x8b"
XZ_MAGIC = b"\xfd7zXZ\x00"
MAX_XZ_MEMORY = 128 * 1024**2
"""What unpacking may take; ``xz -9`` needs 65 MiB."""
PACKED_CHUNK = 64 * 1024
DAMAGE = (gzip.BadGzipFile, zlib.error, lzma.LZMAError, EOFError)
"""What reading a damaged packed file raises."""


class XzStream(io.RawIOBase):
    """Unpacked bytes of an .xz file; raises EOFError where it is cut off."""

    def __init__(self, path: Path) -> None:
        self._packed = path.open("rb")
        self._begin(b"")

    def _begin(self, data: bytes) -> None:
        self._unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MAX_XZ_MEMORY)
        self._rest, self._is_between = data, True

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:
        """Fill ``buffer`` with the next bytes; 0 at the end."""
        block = b""
        while not block and self._has_input():
            block = self._unpacker.decompress(self._rest, len(buffer))
            self._rest, self._is_between = b"", False
            if self._unpacker.eof:
                self._begin(self._unpacker.unused_data.lstrip(b"\0"))
        buffer[: len(block)] = block
        return len(block)

    def _has_input(self) -> bool:
        if self._rest or not self._unpacker.needs_input:
            return True
        self._rest = self._packed.read(PACKED_CHUNK)
        if not self._rest and not self._is_between:
            raise EOFError("it ends before its end mark")
        return bool(self._rest)

    def close(self) -> None:
        self._packed.close()
        super().close()


@dataclass(frozen=True)
class Packing:
    """One way to pack a file, and how it is opened."""

    name: str
    magic: bytes
    open: Callable[[Path], BinaryIO]


def _open_gzip(path: Path) -> BinaryIO:
    return gzip.open(path, "rb")  # type: ignore[return-value]


def _open_xz(path: Path) -> BinaryIO:
    return io.BufferedReader(XzStream(path), PACKED_CHUNK)


PACKINGS = (
    Packing("gzip", GZIP_MAGIC, _open_gzip),
    Packing("xz", XZ_MAGIC, _open_xz),
)


def packing_of(path: Path) -> Packing | None:
    """How the file is packed; None where it is not."""
    with path.open("rb") as stream:
        start = stream.read(8)
    return next((packing for packing in PACKINGS if start.startswith(packing.magic)), None)


def content_sha256(path: Path) -> str:
    """SHA-256 of what a packed file holds; empty where it is not packed or is damaged."""
    packing = packing_of(path)
    if packing is None:
        return ""
    digest = hashlib.sha256()
    try:
        with packing.open(path) as stream:
            while block := stream.read(PACKED_CHUNK):
                digest.update(block)
    except (OSError, *DAMAGE):
        return ""
    return digest.hexdigest()
