"""Stored files: writing with a checksum, reading back, and what the readers find in them."""

import hashlib
import math
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from django.core.files import File
from django.core.files.storage import FileSystemStorage

from workers.models import Artifact, StoredReading
from workers.readers import read_file
from workers.readers.base import ReadError, Reading


def store_file(*, stream: BinaryIO, name: str, **fields) -> Artifact:
    """Store a file and the row that describes it.

    Args:
        stream: binary, read from its start.
        name: as shown to people; folders are kept in the name, never used as a path.
        fields: the other columns of Artifact.
    """
    digest, size = _digest(stream)
    stream.seek(0)
    artifact = Artifact(name=name[:240], size=size, sha256=digest, **fields)
    artifact.file.save(_storage_name(name, digest), File(stream), save=False)
    artifact.save()
    return artifact


@contextmanager
def local_path(artifact: Artifact) -> Iterator[Path]:
    """The raw file as a local path, fetched from object storage where necessary."""
    if isinstance(artifact.file.storage, FileSystemStorage):
        yield Path(artifact.file.path)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        with artifact.file.open("rb") as source, path.open("wb") as target:
            for chunk in iter(lambda: source.read(2**20), b""):
                target.write(chunk)
        yield path


def is_intact(artifact: Artifact) -> bool:
    """Whether the stored bytes still have the recorded SHA-256."""
    try:
        with artifact.file.open("rb") as stream:
            return _digest(stream)[0] == artifact.sha256
    except OSError:
        return False


def read_artifact(artifact: Artifact) -> tuple[Reading, StoredReading] | None:
    """Read the file by its content and keep what was found; None if no reader knows it."""
    try:
        with local_path(artifact) as path:
            reading = read_file(path)
    except ReadError as error:
        if error.code not in ("unknown_format", "empty_file"):
            artifact.note = f"{error.code}: {error.message}"[:240]
            artifact.save(update_fields=["note"])
        return None
    return reading, keep_reading(artifact, reading)


def keep_reading(artifact: Artifact, reading: Reading) -> StoredReading:
    """Store a reading; the same reader version reads an artifact once."""
    return StoredReading.objects.get_or_create(
        artifact=artifact, reader=reading.reader, reader_version=reading.reader_version,
        defaults={
            "kind": reading.kind, "tool": reading.tool or "",
            "tool_version": reading.tool_version or "",
            "values": finite_json(reading.values),
            "warnings": [finite_json(vars(warning)) for warning in reading.warnings],
        },
    )[0]


def finite_json(value: Any) -> Any:
    """A copy in which NaN and infinities are words, which JSON can hold."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    if isinstance(value, dict):
        return {str(key): finite_json(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite_json(entry) for entry in value]
    if hasattr(value, "item"):  # numpy scalars
        return finite_json(value.item())
    return value.replace("\0", "\\0") if isinstance(value, str) else value


def _digest(stream: BinaryIO) -> tuple[str, int]:
    stream.seek(0)
    digest, size = hashlib.sha256(), 0
    for chunk in iter(lambda: stream.read(2**20), b""):
        digest.update(chunk)
        size += len(chunk)
    return digest.hexdigest(), size


def _storage_name(name: str, digest: str) -> str:
    suffix = PurePosixPath(name.replace("\\", "/")).suffix[:12]
    safe = "".join(c for c in suffix if c.isalnum() or c == ".")
    return f"{digest[:32]}{safe}"
