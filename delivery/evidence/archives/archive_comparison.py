"""Compares an archive with the one its entries produce, without storing the second one."""

import io
import zipfile
from pathlib import Path
from typing import BinaryIO

from delivery.evidence.archives.archive import (
    CHECKSUMS,
    SIGNATURE,
    ExtractedFile,
    write_archive,
)


def first_altered_entry(archive_path: Path, files: dict[str, ExtractedFile]) -> str | None:
    """The entry at which the archive is not byte for byte what its entries make.

    None if it is; empty if the first such byte belongs to no entry.
    """
    members = {name: member for name, member in files.items()
               if name not in (CHECKSUMS, SIGNATURE)}
    signature = files.get(SIGNATURE)
    with archive_path.open("rb") as original:
        comparison = Comparison(original)
        made = write_archive(comparison, {n: m.path for n, m in members.items()},
                             {n: m.sha256 for n, m in members.items()},
                             (lambda _sums: signature.path.read_bytes()) if signature else None)
    place = comparison.first_difference(archive_path.stat().st_size)
    return None if place is None else _entry_at(made, place)


class Comparison(io.RawIOBase):
    """A file to write to that keeps nothing but where it differs from another.

    A zip's headers are written twice, the second time with checksum and size: what is written
    last at a place counts.
    """

    def __init__(self, original: BinaryIO) -> None:
        super().__init__()
        self.original, self.place, self.end = original, 0, 0
        self.wrong: set[int] = set()

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self.place = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self.place, io.SEEK_END: self.end}[
            whence]
        return self.place

    def write(self, block) -> int:
        self.original.seek(self.place)
        is_same = self.original.read(len(block)) == block
        (self.wrong.discard if is_same else self.wrong.add)(self.place)
        self.place += len(block)
        self.end = max(self.end, self.place)
        return len(block)

    def first_difference(self, size: int) -> int | None:
        """Where the first block begins that differs; the other file has `size` bytes."""
        ends = {min(size, self.end)} if size != self.end else set()
        return min(self.wrong | ends, default=None)


def _entry_at(made: zipfile.ZipFile, place: int) -> str:
    """Name of the entry whose header, content or directory line contains this byte."""
    infos, directory = made.infolist(), made.start_dir
    if place < directory:
        return max((info for info in infos if info.header_offset <= place),
                   key=lambda info: info.header_offset).filename
    for info in infos:  # APPNOTE.TXT 4.3.12: 46 bytes, then name, extra field and comment
        directory += 46 + len(info.filename.encode()) + len(info.extra) + len(info.comment)
        if place < directory:
            return info.filename
    return ""
