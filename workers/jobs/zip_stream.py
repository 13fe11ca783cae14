"""A tar archive on its way becomes a zip archive on its way: nothing is kept, nothing is packed."""

import io
import tarfile
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime

PIECE = 256 * 1024
FIRST_DAY = (1980, 1, 1, 0, 0, 0)  # zip knows none before


def zipped(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The same files and folders; links and devices, which zip does not know, are left out.

    Contents are stored as they are: large ones are packed already, or are numbers that do not
    shrink.
    """
    return filter(None, _written(pieces))  # an empty piece would end a chunked answer


def _written(pieces: Iterator[bytes]) -> Iterator[bytes]:
    sink = Sink()
    with (tarfile.open(fileobj=_Source(pieces), mode="r|") as archive,
          zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as out):
        for member in archive:
            if member.isdir():
                out.mkdir(zipfile.ZipInfo(member.name.rstrip("/") + "/", FIRST_DAY))
            elif member.isfile():
                yield from _file(archive, member, out, sink)
            yield sink.taken()
    yield sink.taken()


def _file(archive: tarfile.TarFile, member: tarfile.TarInfo, out: zipfile.ZipFile, sink: "Sink"
          ) -> Iterator[bytes]:
    info = zipfile.ZipInfo(member.name, _time(member.mtime))
    info.external_attr = (member.mode & 0o777 | 0o100000) << 16
    content = archive.extractfile(member)
    with out.open(info, "w", force_zip64=True) as target:
        while piece := content.read(PIECE):
            target.write(piece)
            yield sink.taken()


def _time(seconds: float) -> tuple[int, int, int, int, int, int]:
    found = datetime.fromtimestamp(seconds, UTC)
    return found.timetuple()[:6] if 1980 <= found.year < 2108 else FIRST_DAY


class _Source(io.RawIOBase):
    """What comes in pieces, to be read."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self.pieces, self.rest = iter(pieces), b""

    def read(self, size: int = -1) -> bytes:
        while len(self.rest) < size and (piece := next(self.pieces, None)) is not None:
            self.rest += piece
        found, self.rest = self.rest[:size], self.rest[size:]
        return found


class Sink(io.RawIOBase):
    """What is written, to be taken away; it cannot be gone back in."""

    def __init__(self) -> None:
        self.written = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data) -> int:
        self.written += data
        return len(data)

    def taken(self) -> bytes:
        """What was written since the last time."""
        found, self.written = bytes(self.written), bytearray()
        return found
