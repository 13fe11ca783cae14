"""Locates damage in the central directory of a zip archive (APPNOTE.TXT 4.3)."""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

LOCAL = struct.Struct("<4s5H3I2H")
LINE = struct.Struct("<4s6H3I5H2I")
ZIP64 = struct.Struct("<2H2Q")
ELSEWHERE = 2**32 - 1  # the size is in the extra field


def damaged_entry(archive_path: Path) -> str:
    """The first entry whose line of the directory is not one; empty if it is none of them.

    The headers before the contents say which entries there are, and in which order.
    """
    with archive_path.open("rb") as stream:
        for name in list(_names(stream)):
            if not _is_line_of(name, stream):
                return name
    return ""


def _names(stream: BinaryIO) -> Iterator[str]:
    """Names of the entries; leaves the stream where the directory begins."""
    while len(header := stream.read(LOCAL.size)) == LOCAL.size:
        sign, *_facts, size, _size, name, extra = LOCAL.unpack(header)
        if sign != b"PK\x03\x04":
            break
        yield stream.read(name).decode("ascii", "replace")
        more = stream.read(extra)
        if size == ELSEWHERE and len(more) >= ZIP64.size:
            size = ZIP64.unpack(more[:ZIP64.size])[3]
        stream.seek(size, 1)
    stream.seek(-len(header), 1)


def _is_line_of(name: str, stream: BinaryIO) -> bool:
    """Whether the next line of the directory is this entry's."""
    line = stream.read(LINE.size)
    if len(line) < LINE.size:
        return False
    sign, *_facts, size, full, length, extra, comment, _disk, _in, _out, at = LINE.unpack(line)
    is_named = stream.read(length) == name.encode()
    stream.seek(extra, 1)
    has_extra = ELSEWHERE in (size, full, at)
    return sign == b"PK\x01\x02" and is_named and not comment and bool(extra) == has_extra
