"""Source files of a folder or an archive, bounded and never written to disk.

Archives are hostile: links, devices, paths that leave the folder, encrypted members and members
beyond the limits are skipped and named; a bomb raises ReadError `too_large`.
"""

import gzip
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from toolreaders.decoding import ZIP_MAGIC
from toolreaders.packing import GZIP_MAGIC
from toolreaders.source import ReadError

MAX_MEMBERS = 20_000
MAX_FILE_BYTES = 2 * 1024**2
MAX_TOTAL_BYTES = 32 * 1024**2
MAX_STREAM_BYTES = 1024**3
MAX_NAME = 240
MAX_JSON_BYTES = 64 * 1024  # larger ones are data or vocabularies, not configurations
SUFFIXES = frozenset({".py", ".cu", ".cuh", ".cpp", ".cc", ".c", ".h", ".hpp", ".sh", ".bash",
                      ".yaml", ".yml", ".toml", ".cfg", ".ini", ".txt", ".json"})
DAMAGE = (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError,
          NotImplementedError, ValueError, OverflowError, MemoryError, LookupError)


@dataclass
class Bounds:
    """What has been opened so far and what was left out."""

    skipped: list[tuple[str, str]] = field(default_factory=list)
    members: int = 0
    total: int = 0

    def admits(self, name: str, size: int) -> bool:
        """Whether a member may be opened; raises ReadError when there are too many."""
        self.members += 1
        if self.members > MAX_MEMBERS:
            raise ReadError("too_large", f"The source has more than {MAX_MEMBERS} files.")
        suffix = PurePosixPath(name).suffix.lower()
        if suffix not in SUFFIXES or (suffix == ".json" and size > MAX_JSON_BYTES):
            return False
        if size > MAX_FILE_BYTES:
            self.skip(name, "too_large")
            return False
        return True

    def skip(self, name: str, why: str) -> None:
        self.skipped.append((name[:MAX_NAME], why))

    def take(self, stream: BinaryIO) -> bytes | None:
        """The bytes of one member, whatever size it declared; None if it is too large."""
        data = stream.read(MAX_FILE_BYTES + 1)
        self.total += len(data)
        if self.total > MAX_TOTAL_BYTES:
            raise ReadError("too_large", "The unpacked source is larger than 32 MiB.")
        return data if len(data) <= MAX_FILE_BYTES else None


def open_sources(path: Path, bounds: Bounds) -> Iterator[tuple[str, bytes]]:
    """(name, bytes) of each source file below a folder, in a zip or tar, or of a single file.

    Raises ReadError: not_found, too_large, damaged_file.
    """
    if path.is_dir():
        yield from _folder(path, bounds)
        return
    if not path.is_file():
        raise ReadError("not_found", "There is no such file or folder.")
    try:
        yield from _archive(path, bounds)
    except ReadError:
        raise
    except DAMAGE as error:
        raise ReadError("damaged_file", f"The archive cannot be read: {error!r}.") from error


def safe_name(name: str) -> str | None:
    """The member's path below the root, or None if it leaves it."""
    parts = name.replace("\\", "/").split("/")
    if name.startswith(("/", "\\")) or ".." in parts or "\0" in name or ":" in parts[0]:
        return None
    clean = "/".join(part for part in parts if part not in ("", "."))
    return clean if clean and clean.isprintable() and len(clean) <= MAX_NAME else None


def _folder(root: Path, bounds: Bounds) -> Iterator[tuple[str, bytes]]:
    for folder, folders, files in os.walk(root, followlinks=False):
        folders[:] = sorted(f for f in folders if f not in (".git", "__pycache__"))
        for file in sorted(files):
            path = Path(folder) / file
            name, found = path.relative_to(root).as_posix(), path.lstat()
            if not stat.S_ISREG(found.st_mode):
                bounds.skip(name, "link")
            elif bounds.admits(name, found.st_size):
                with path.open("rb") as stream:
                    yield from _taken(name, stream, bounds)


def _taken(name: str, stream: BinaryIO, bounds: Bounds) -> Iterator[tuple[str, bytes]]:
    data = bounds.take(stream)
    if data is None:
        bounds.skip(name, "too_large")
    else:
        yield name, data


def _archive(path: Path, bounds: Bounds) -> Iterator[tuple[str, bytes]]:
    with path.open("rb") as stream:
        head = stream.read(4)
    if head == ZIP_MAGIC:
        yield from _zip(path, bounds)
    elif head[:2] == GZIP_MAGIC:
        with gzip.open(path, "rb") as packed:
            yield from _tar(_Limited(packed), bounds)
    elif tarfile.is_tarfile(path):
        with path.open("rb") as stream:
            yield from _tar(_Limited(stream), bounds)
    else:
        raise ReadError("unknown_format", "A folder, a .zip, a .tar or a .tar.gz is expected.")


def _zip(path: Path, bounds: Bounds) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            name = safe_name(member.filename)
            if member.is_dir():
                continue
            mode = member.external_attr >> 16
            if name is None:
                bounds.skip(member.filename, "traversal")
            elif stat.S_IFMT(mode) not in (0, stat.S_IFREG):
                bounds.skip(name, "link")
            elif member.flag_bits & 1:
                bounds.skip(name, "encrypted")
            elif bounds.admits(name, member.file_size):
                with archive.open(member) as stream:
                    yield from _taken(name, stream, bounds)


def _tar(stream: "_Limited", bounds: Bounds) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(fileobj=stream, mode="r|") as archive:
        for member in archive:
            name = safe_name(member.name)
            if member.isdir():
                continue
            if name is None:
                bounds.skip(member.name, "traversal")
            elif not member.isreg():
                bounds.skip(name, "link")
            elif bounds.admits(name, member.size) and (body := archive.extractfile(member)):
                yield from _taken(name, body, bounds)


class _Limited:
    """A stream that ends with an error instead of unpacking for ever."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self._left = stream, MAX_STREAM_BYTES

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise ReadError("too_large", "The unpacked archive is larger than 1 GiB.")
        return data
