"""Bytes of uploads that arrive in parts, in the artifact store until they are whole.

Every portal of a cluster reaches the store, whichever of them a part came to.
"""

import contextlib
import hashlib
import shutil
import uuid
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import BinaryIO

from django.conf import settings
from django.core.files.storage import FileSystemStorage, default_storage

from workers.artifacts import content_store
from workers.models import PendingUpload

FOLDER = "uploads"
RETENTION = timedelta(days=7)  # an upload that nobody goes on with
PIECE = 2**20


class Incomplete(Exception):
    """The store does not hold what had arrived; `offset` is how far it does."""

    def __init__(self, offset: int) -> None:
        super().__init__(offset)
        self.offset = offset


def keep(upload: PendingUpload, part: BinaryIO) -> str:
    """Store the bytes of a part; returns their name in the store. Takes long: in no transaction."""
    name = f"{FOLDER}/{upload.pk}/{uuid.uuid4().hex}"
    content_store.keep_named(default_storage, {name: part})
    return name


@contextlib.contextmanager
def whole(upload: PendingUpload) -> Iterator[BinaryIO]:
    """All parts as one file, compared with their checksums. Raises Incomplete."""
    with content_store.temporary_file(default_storage) as target:
        for part in upload.parts.all():
            if part.offset != target.tell():
                break
            digest = hashlib.sha256()
            with contextlib.suppress(FileNotFoundError), default_storage.open(part.name) as source:
                while piece := source.read(PIECE):
                    target.write(piece)
                    digest.update(piece)
            if digest.hexdigest() != part.sha256:
                raise Incomplete(part.offset)
        if target.tell() != upload.size:
            raise Incomplete(target.tell())
        target.seek(0)
        yield target


def remove(upload_id: str) -> None:
    """Remove what the store holds of an upload, with what nobody wrote into a row."""
    folder = f"{FOLDER}/{upload_id}"
    if not isinstance(default_storage, FileSystemStorage):
        default_storage.remove_folder(folder)
        return
    shutil.rmtree(default_storage.path(folder), ignore_errors=True)


def remove_forgotten(now: datetime) -> int:
    """Remove uploads that nobody went on with for a week; returns how many.

    What the store holds of others that are whole, or have no row any more, goes as well.
    """
    with contextlib.suppress(FileNotFoundError):
        folders, _files = default_storage.listdir(FOLDER)
        going_on = PendingUpload.objects.filter(created_at__gte=now - RETENTION, artifact=None)
        for upload_id in set(folders) - set(map(str, going_on.values_list("pk", flat=True))):
            remove(upload_id)
    shutil.rmtree(Path(settings.VAR_DIR) / FOLDER, ignore_errors=True)  # where they lay before
    forgotten = PendingUpload.objects.filter(created_at__lt=now - RETENTION)[:50]
    return len([upload.delete() for upload in forgotten])
