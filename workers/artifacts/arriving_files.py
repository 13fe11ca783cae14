"""Bytes of uploads that arrive in parts, until they are whole."""

import os
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings

from workers.models import PendingUpload

KEPT = timedelta(days=7)  # an upload that nobody goes on with


def path_of(upload: PendingUpload) -> Path:
    """Where its bytes are."""
    folder = Path(settings.VAR_DIR) / "uploads"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / str(upload.pk)


def write_at(upload: PendingUpload, offset: int, pieces: Iterable[bytes]) -> int:
    """Write a part from an offset on; bytes beyond the announced size are dropped.

    Returns how many bytes there are then.
    """
    descriptor = os.open(path_of(upload), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        for piece in pieces:
            offset += os.pwrite(descriptor, piece[:upload.size - offset], offset)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return offset


def remove_forgotten(now: datetime) -> int:
    """Remove uploads that nobody went on with for a week; returns how many."""
    removed = 0
    for upload in PendingUpload.objects.filter(created_at__lt=now - KEPT)[:50]:
        path_of(upload).unlink(missing_ok=True)
        upload.delete()
        removed += 1
    return removed
