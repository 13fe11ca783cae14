"""Compares an archive with the one its entries produce, without storing the second one."""

import io
import zipfile
from pathlib import Path
from typing import BinaryIO

from bundle_verifier.archive import (
    CHECKSUMS,
    SIGNATURE,
    ExtractedFile,
    checksum_list,
    entry_info,
)


def first_altered_entry(archive_path: Path, files: dict[str, ExtractedFile]) -> str | None:
    """The entry at which the archive is not byte for byte what its entries make.

    None if it is; empty if the first such byte belongs to no entry. The contents are not read once
    more: where the header before them is the one they make, and they were unpacked from behind it,
    what stands there is what was unpacked.
    """
    made_here = {CHECKSUMS: checksum_list({
        name: file.sha256 for name, file in files.items() if name not in (CHECKSUMS, SIGNATURE)})}
    if SIGNATURE in files:
        made_here[SIGNATURE] = files[SIGNATURE].path.read_bytes()
    with archive_path.open("rb") as original:
        comparison = Comparison(original)
        with zipfile.ZipFile(comparison, "w", zipfile.ZIP_STORED) as made:
            for name in sorted({*files, CHECKSUMS}):
                if name in made_here:
                    made.writestr(entry_info(name, len(made_here[name])), made_here[name])
                else:
                    _pass_over(made, comparison, name, files[name])
    place = comparison.first_difference(archive_path.stat().st_size)
    return None if place is None else _entry_at(made, place)


def _pass_over(made: zipfile.ZipFile, comparison: "Comparison", name: str,
               file: ExtractedFile) -> None:
    """Add an entry whose content is known: its header is compared, its content is not."""
    info = entry_info(name, file.size)
    info.CRC, info.compress_size, info.header_offset = file.crc, file.size, made.start_dir
    comparison.seek(made.start_dir)
    # as ZipFile decides it when it opens an entry for writing
    comparison.write(info.FileHeader(zip64=file.size * 1.05 > zipfile.ZIP64_LIMIT))
    if file.header_offset != info.header_offset:
        comparison.wrong.add(info.header_offset)
    comparison.pass_over(file.size)
    made.start_dir = comparison.tell()
    made.filelist.append(info)
    made.NameToInfo[name] = info


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
        return self.pass_over(len(block))

    def pass_over(self, size: int) -> int:
        """Take the next bytes for equal."""
        self.place += size
        self.end = max(self.end, self.place)
        return size

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
