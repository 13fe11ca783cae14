"""Stored files: writing with a checksum, reading back, and what the readers find in them."""

import hashlib
import math
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.core.cache.backends.locmem import LocMemCache
from django.core.files import File
from django.core.files.storage import FileSystemStorage
from django.db import transaction
from django.utils.translation import gettext as _

import toolreaders
from engagements.audit import audit_log
from engagements.errors import InvalidInput
from engagements.models import Engagement, MigratedModel
from engagements.services import mark_practice
from engagements.text.file_names import shown_file_name
from toolreaders.base import ReadError, Reading
from toolreaders.packing import content_sha256
from workers.artifacts import content_store, provenance
from workers.artifacts.reading_process import run_bounded
from workers.models import Artifact, Masking, StoredReading
from workers.signals import reading_stored

MOST_REMEMBERED = 16 * 2**20  # bytes of a file whose reading a process remembers
remembered = LocMemCache("readings", {"TIMEOUT": 600, "OPTIONS": {"MAX_ENTRIES": 60}})


@dataclass(frozen=True)
class Incoming:
    """A file to be stored: its name for people, its bytes from their start, what is known of it."""

    name: str
    stream: BinaryIO
    digest: str = ""  # SHA-256 of the stream, where it was computed on the way
    node_sha256: str = ""
    masking: Masking | None = None


def require_uploadable(upload: File, engagement: Engagement, model: MigratedModel | None) -> None:
    """Raises InvalidInput for a file above UPLOAD_LIMIT_BYTES or a model of another engagement."""
    if upload.size > settings.UPLOAD_LIMIT_BYTES:
        raise InvalidInput(_("%(name)s is larger than %(limit)d MB; upload less, or let a job "
                             "collect it.") % {"name": upload.name,
                                               "limit": settings.UPLOAD_LIMIT_BYTES // 2**20})
    if model and model.engagement_id != engagement.pk:
        raise InvalidInput(_("The model belongs to another engagement."))


def store_file(*, stream: BinaryIO, name: str, **fields) -> Artifact:
    """Store a file and the row that describes it.

    Args:
        stream: binary, read from its start.
        name: as shown to people; folders are kept in the name, never used as a path.
        fields: the other columns of Artifact.
    """
    return store_files([Incoming(name, stream)], **fields)[0]


def store_files(files: list[Incoming], **fields) -> list[Artifact]:
    """Store files and the rows that describe them: first all the bytes, then all the rows.

    Writes an audit entry, which holds their checksums.

    Args:
        fields: the other columns of Artifact, the same for all.
    """
    return store_rows(keep_bytes(files, **fields))


def keep_bytes(files: list[Incoming], **fields) -> list[Artifact]:
    """Store the bytes of files; the rows are not saved yet. Takes long: in no transaction.

    What a person uploads is evidence of theirs and stays as it is; its page says so.
    """
    storage = Artifact._meta.get_field("file").storage
    person = fields.get("uploaded_by")
    given = Masking.AS_GIVEN if person else Masking.UNRECORDED
    written = content_store.keep_all(storage, [(file.stream, file.digest) for file in files])
    return [Artifact(name=shown_file_name(file.name)[:240], size=size, sha256=digest,
                     file=name, agent=person.agent if person else None, **{
                         "node_sha256": file.node_sha256, "masking": file.masking or given,
                         **fields})
            for file, (name, digest, size) in zip(files, written, strict=True)]


@transaction.atomic
def store_rows(artifacts: list[Artifact], *, is_recorded: bool = True) -> list[Artifact]:
    """Save the rows of files whose bytes are stored, with an audit entry; or, not recorded, for
    the caller's entry of the same transaction."""
    Artifact.objects.bulk_create(artifacts)
    if artifacts:
        first = artifacts[0]
        if first.is_practice and first.engagement_id:
            mark_practice(engagement=first.engagement)
        if is_recorded:
            audit_log.record(actor=first.uploaded_by, action="artifact.store", target=first,
                             engagement=first.engagement, data={"files": len(artifacts)})
    return artifacts


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


def read_stored(function: Callable[[Path], Any], artifact: Artifact, *, anew: bool = False) -> Any:
    """What `function(path)` finds in the stored file, see `run_bounded`; raises ReadError.

    A process remembers it by the checksum for a while: one baseline stands in every judgement of
    its model. Whether the bytes are still those, `is_intact` says.

    Args:
        anew: whether the file is opened whatever is remembered of its bytes.
    """
    key = f"{function.__module__}.{function.__qualname__}:{artifact.sha256}"
    found = remembered if anew else remembered.get(key, remembered)
    if found is remembered:
        with local_path(artifact) as path:
            try:
                found = run_bounded(function, path)
            except ReadError as error:  # where it lies is nobody's matter
                raise ReadError(error.code, error.message.replace(str(path), artifact.name)
                                ) from error
        if artifact.size <= MOST_REMEMBERED:
            remembered.set(key, found)
    return found


def is_intact(artifact: Artifact) -> bool:
    """Whether the stored bytes still have the recorded SHA-256."""
    try:
        with artifact.file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest() == artifact.sha256
    except OSError:
        return False


def read_artifacts(artifacts: list[Artifact]) -> dict[str, Reading]:
    """Read files and keep what was found, with an audit entry where that is new.

    Their readings by name; without those of files that no reader knows.
    """
    found = [(artifact, outcome) for artifact in artifacts  # takes long: in no transaction
             if (outcome := found_in(artifact)) is not None]
    if found:
        _keep_all(found)
    return {artifact.name: outcome for artifact, outcome in found if isinstance(outcome, Reading)}


@transaction.atomic
def _keep_all(found: list[tuple[Artifact, Reading | ReadError]]) -> None:
    new = [artifact for artifact, outcome in found if keep_found(artifact, outcome)]
    if new:
        audit_log.record(actor=None, action="artifact.read", target=new[0],
                         engagement=new[0].engagement, data={"files": len(new)})


def found_in(artifact: Artifact, *, anew: bool = False) -> Reading | ReadError | None:
    """What the file holds, or what is wrong with it; None if no reader knows it.

    Takes long: in no transaction. The row need not be saved. `anew` is that of `read_stored`.
    """
    unknown = f"unknown:{artifact.sha256}"
    if not anew and remembered.get(unknown):
        return None
    try:
        found = read_stored(toolreaders.read_file, artifact, anew=anew)
        return replace(found, content_sha256=read_stored(content_sha256, artifact))
    except ReadError as error:
        if error.code in ("unknown_format", "empty_file"):
            remembered.set(unknown, True)
            return None
        return error


def keep_found(artifact: Artifact, found: Reading | ReadError | None) -> bool:
    """Keep what `found_in` found; whether it is new. The caller writes the audit entry."""
    if found is None:
        return False
    if isinstance(found, Reading):
        return _stored_reading(artifact, found)[1]
    note = f"{found.code}: {found.message}"[:240]
    if artifact.note == note:
        return False
    artifact.note = note
    artifact.save(update_fields=["note"])
    return True


def keep_reading(artifact: Artifact, reading: Reading) -> StoredReading:
    """Store a reading and tell the higher apps; a reader version reads an artifact once."""
    return _stored_reading(artifact, reading)[0]


def _stored_reading(artifact: Artifact, reading: Reading) -> tuple[StoredReading, bool]:
    """The stored reading, and whether it is new."""
    if reading.content_sha256 not in ("", artifact.content_sha256):
        artifact.content_sha256 = reading.content_sha256
        artifact.save(update_fields=["content_sha256"])
    if not (artifact.job_id or artifact.is_practice) and provenance.of(artifact).is_practice:
        artifact.is_practice = True  # a copy of practice data is practice data
        artifact.save(update_fields=["is_practice"])
        if artifact.engagement:
            mark_practice(engagement=artifact.engagement)
    stored, is_new = StoredReading.objects.get_or_create(
        artifact=artifact, reader=reading.reader, reader_version=reading.reader_version,
        defaults={
            "engagement_id": artifact.engagement_id, "kind": reading.kind,
            "tool": reading.tool or "", "tool_version": reading.tool_version or "",
            "values": finite_json(reading.values),
            "warnings": [finite_json(vars(warning)) for warning in reading.warnings],
        },
    )
    if is_new:
        reading_stored.send(StoredReading, reading=stored)
    return stored, is_new


def finite_json(value: Any) -> Any:
    """A copy in which NaN and infinities are words, which JSON can hold."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    if isinstance(value, dict):
        return {str(key): finite_json(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite_json(entry) for entry in value]
    return value.replace("\0", "\\0") if isinstance(value, str) else value
