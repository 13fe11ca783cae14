"""Bytes under the name of their content: stored whole or not at all, and the same bytes once."""

import contextlib
import hashlib
import os
import shutil
import tempfile
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO

from django.core.files import File
from django.core.files.storage import FileSystemStorage, Storage

from workers.artifacts import durable_files

FORGOTTEN_SECONDS = 24 * 3600
AT_ONCE = 16  # uploads to a storage elsewhere


def keep_all(storage: Storage, streams: list[tuple[BinaryIO, str]]) -> list[tuple[str, str, int]]:
    """Store streams, each with its SHA-256 if that is known.

    They are on the disk when this returns. Returns (name in the storage, SHA-256, size) for each.
    Raises OSError when the store is full.
    """
    described = [_described(*stream) for stream in streams]
    keep_named(storage, {name: stream for (stream, _digest), (name, _, _size)
                         in zip(streams, described, strict=True)})
    return described


def keep_named(storage: Storage, streams: dict[str, BinaryIO]) -> None:
    """Store streams under names that say what they are: one that is there with the same size stays.

    They are on the disk when this returns. Raises OSError when the store is full.
    """
    found = {name: (stream, stream.seek(0, os.SEEK_END)) for name, stream in streams.items()}
    if isinstance(storage, FileSystemStorage):
        _keep_in_folder(storage.location, found)
    else:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(lambda name: _keep_elsewhere(storage, name, *found[name]), found))


def temporary_file(storage: Storage) -> BinaryIO:
    """A file that can be filled and then stored without being copied again."""
    if not isinstance(storage, FileSystemStorage):
        return tempfile.TemporaryFile()
    return tempfile.NamedTemporaryFile(dir=_incoming(storage.location), prefix="part-")


def remove_forgotten(storage: Storage) -> int:
    """Remove what killed processes left half fetched more than a day ago; returns how many."""
    if not isinstance(storage, FileSystemStorage):
        return 0
    removed = 0
    for file in Path(storage.path("incoming")).glob("part-*"):
        with contextlib.suppress(FileNotFoundError):  # it got its name meanwhile
            if file.stat().st_mtime < time.time() - FORGOTTEN_SECONDS:
                file.unlink()
                removed += 1
    return removed


def _described(stream: BinaryIO, digest: str) -> tuple[str, str, int]:
    stream.seek(0)
    digest = digest or hashlib.file_digest(stream, "sha256").hexdigest()
    size = stream.seek(0, os.SEEK_END)
    return f"sha256/{digest[:2]}/{digest}", digest, size


def _keep_elsewhere(storage: Storage, name: str, stream: BinaryIO, size: int) -> None:
    if storage.exists(name):
        if storage.size(name) == size:
            return
        storage.delete(name)
    stream.seek(0)
    if (saved := storage.save(name, File(stream))) != name:
        storage.delete(saved)  # somebody else stored the same bytes meanwhile


def _keep_in_folder(root: str, found: dict[str, tuple[BinaryIO, int]]) -> None:
    """All the bytes at rest under other names, then all their names, then these at rest.

    Names are made of checksums, so that they need none of the storage's care for names.
    """
    incoming, mark = _incoming(root), uuid.uuid4().hex
    paths = {name: os.path.join(root, name) for name in found}
    new = [name for name, (_stream, size) in found.items() if not _is_stored(paths[name], size)]
    parts = {name: f"{incoming}/part-{mark}-{number}" for number, name in enumerate(new)}
    try:
        with durable_files.disk(incoming) as disk:
            for name, part in parts.items():
                _fill(part, found[name][0])
            durable_files.settle(parts.values(), disk)
            for name, part in parts.items():
                _rename(part, paths[name], disk)
            durable_files.settle({os.path.dirname(path) for path in paths.values()}, disk)
    except BaseException:
        for part in parts.values():
            Path(part).unlink(missing_ok=True)
        raise


def _incoming(root: str) -> str:
    folder = os.path.join(root, "incoming")
    os.makedirs(folder, exist_ok=True)
    return folder


def _is_stored(path: str, size: int) -> bool:
    try:
        return os.stat(path).st_size == size
    except FileNotFoundError:
        return False


def _fill(part: str, stream: BinaryIO) -> None:
    if _linked(stream, part):
        return
    stream.seek(0)
    with open(part, "xb") as target:
        shutil.copyfileobj(stream, target, 2**20)


def _linked(stream: BinaryIO, part: str) -> bool:
    """Whether the stream is a file of the same folder that got a second name."""
    name = getattr(stream, "name", None)
    if not isinstance(name, str) or os.path.dirname(name) != os.path.dirname(part):
        return False
    stream.flush()
    try:
        os.link(name, part)
    except OSError:
        return False
    return True


def _rename(part: str, path: str, disk: int) -> None:
    try:
        os.replace(part, path)
    except FileNotFoundError:
        folder = os.path.dirname(path)
        os.makedirs(folder, exist_ok=True)
        durable_files.settle([os.path.dirname(folder)], disk)
        os.replace(part, path)
