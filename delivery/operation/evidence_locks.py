"""Locks in the object store on the raw files of issued documents."""

from datetime import datetime

from django.conf import settings
from django.core.files.storage import default_storage

from delivery.operation.dependents import evidence_names
from delivery.operation.models import EvidenceLock
from delivery.reports.models import Document
from workers.artifacts.object_storage import lock_end

AT_ONCE = 20


def lock_evidence(*, now: datetime) -> int:
    """Lock the raw files of issued documents that are not locked yet; the number of documents.

    A document of which a file is missing is left to the next time: the walk through the stored
    files says what is missing. Does nothing with a local folder or without OBJECT_LOCK_DAYS.
    """
    if not settings.OBJECT_LOCK_DAYS or not hasattr(default_storage, "lock"):
        return 0
    waiting = Document.objects.frozen().filter(evidence_lock=None).order_by("pk")[:AT_ONCE]
    return sum(_is_locked(document, now) for document in waiting)


def _is_locked(document: Document, now: datetime) -> bool:
    until, names = lock_end(now), evidence_names(document)
    try:
        for name in names:
            default_storage.lock(name, until)
    except FileNotFoundError:
        return False
    EvidenceLock.objects.get_or_create(document=document, defaults={
        "locked_at": now, "until": until, "files": len(names)})
    return True
