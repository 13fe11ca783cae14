"""Bytes under the name of their content: stored whole or not at all, and the same bytes once."""

import contextlib
import hashlib
import os
import shutil
import tempfile
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from django.core.files import File
from django.core.files.storage import FileSystemStorage, Storage

FORGOTTEN_SECONDS = 24 * 3600
AT_ONCE = 16  # a disk puts many small files to rest together: 20 times as fast as one by one
SHARE = 8  # of one thread's turn; turns cost more than what they do for a single small file


def keep_all(storage: Storage, streams: list[tuple[BinaryIO, str]]) -> list[tuple[str, str, int]]:
    """Store streams, each with its SHA-256 if that is known.

    Returns (name in the storage, SHA-256, size) for each. Raises OSError when the store is full.
    """
    if len(streams) == 1:
        return [_keep(storage, *streams[0])]
    shares = [streams[start:start + SHARE] for start in range(0, len(streams), SHARE)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        kept = pool.map(lambda share: [_keep(storage, *stream) for stream in share], shares)
        return list(chain.from_iterable(kept))


def temporary_file(storage: Storage) -> BinaryIO:
    """A file that can be filled and then stored without being copied again."""
    if not isinstance(storage, FileSystemStorage):
        return tempfile.TemporaryFile()
    folder = Path(storage.path("incoming"))
    folder.mkdir(parents=True, exist_ok=True)
    return tempfile.NamedTemporaryFile(dir=folder, prefix="part-")


def remove_forgotten(storage: Storage) -> int:
    """Remove what killed processes left half fetched more than a day ago; returns how many."""
    if not isinstance(storage, FileSystemStorage):
        return 0
    old = [file for file in Path(storage.path("incoming")).glob("part-*")
           if file.stat().st_mtime < time.time() - FORGOTTEN_SECONDS]
    for file in old:
        file.unlink(missing_ok=True)
    return len(old)


def _keep(storage: Storage, stream: BinaryIO, digest: str) -> tuple[str, str, int]:
    stream.seek(0)
    digest = digest or hashlib.file_digest(stream, "sha256").hexdigest()
    size = stream.seek(0, os.SEEK_END)
    name = f"sha256/{digest[:2]}/{digest}"
    stream.seek(0)
    if isinstance(storage, FileSystemStorage):
        _keep_in_folder(os.path.join(storage.location, name), stream, size)
    else:
        _keep_elsewhere(storage, name, stream, size)
    return name, digest, size


def _keep_elsewhere(storage: Storage, name: str, stream: BinaryIO, size: int) -> None:
    if storage.exists(name):
        if storage.size(name) == size:
            return
        storage.delete(name)
    if (saved := storage.save(name, File(stream))) != name:
        storage.delete(saved)  # somebody else stored the same bytes meanwhile


def _keep_in_folder(path: str, stream: BinaryIO, size: int) -> None:
    """The name is made of a checksum, so that it needs none of the storage's care for names."""
    with contextlib.suppress(FileNotFoundError):
        if os.stat(path).st_size == size:
            return
    part = Path(f"{path}.{uuid.uuid4().hex}.part")
    try:
        if not _linked(stream, part):
            _write(part, stream)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def _write(part: Path, stream: BinaryIO) -> None:
    try:
        target = part.open("wb")
    except FileNotFoundError:
        part.parent.mkdir(parents=True, exist_ok=True)
        target = part.open("wb")
    with target:
        shutil.copyfileobj(stream, target, 2**20)
        target.flush()
        os.fsync(target.fileno())


def _linked(stream: BinaryIO, part: Path) -> bool:
    """Whether the stream is a file of the same folder tree that got a second name."""
    name = getattr(stream, "name", None)
    if not isinstance(name, str) or Path(name).parent.name != "incoming":
        return False
    stream.flush()
    os.fsync(stream.fileno())
    part.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(name, part)
    except OSError:
        return False
    return True
