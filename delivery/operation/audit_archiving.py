"""Moves old entries of the audit log into files of the artifact store, from the oldest on.

A file holds entries of one month. It is on the disk, read again and found whole before the rows go,
in one transaction with the row that names it: a process that dies in between leaves a file that
nobody names and the next run finds again.
"""

import hashlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import BinaryIO

from django.conf import settings
from django.core.files import File
from django.core.files.storage import FileSystemStorage, default_storage
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from engagements.audit import archive_files, audit_log, checkpoint
from engagements.audit.problem_labels import LABELS
from engagements.errors import WrongState
from engagements.models import ArchivedEngagement, AuditArchive, AuditEntry, Engagement
from workers.artifacts import durable_files

MOST_ENTRIES = 100_000  # of a file: rows go in one transaction, for which SQLite's writers wait


@dataclass(frozen=True)
class _Range:
    """Entries of one month that a file can take."""

    month: datetime
    first: int
    last: int


def archive_old(*, now: datetime, days: int | None = None) -> Iterator[AuditArchive]:
    """Archive the months that ended more than `days` days ago, file by file.

    The log is archived up to the first entry of an engagement that is not closed: what may be done
    there depends on who did what before. Each file has an audit entry.

    Args:
        days: the setting AUDIT_DAYS if None; 0 archives nothing.
    Raises:
        WrongState: the log is not what the application wrote; it stays where it is.
    """
    days = settings.AUDIT_DAYS if days is None else days
    newest = AuditEntry.objects.order_by("pk").values_list("pk", flat=True).last()
    while days and (found := _next_range(_before(now, days), newest)):
        try:
            yield _archive(found, now)
        except IntegrityError:  # somebody else archives, too
            return


def waits_for(now: datetime, days: int | None = None) -> Engagement | None:
    """The open engagement that keeps older entries from being archived."""
    days = settings.AUDIT_DAYS if days is None else days
    oldest = AuditEntry.objects.order_by("pk").first() if days else None
    if oldest is None or oldest.at >= _before(now, days):
        return None
    engagement = oldest.engagement
    return engagement if engagement and not engagement.has_ended else None


def _before(now: datetime, days: int) -> datetime:
    return _month(now - timedelta(days=days))


def _month(at: datetime) -> datetime:
    """The beginning of its month."""
    return at.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def _next_range(before: datetime, newest: int) -> _Range | None:
    """Of the entries up to `newest`: what archiving itself adds is for the next run."""
    oldest = AuditEntry.objects.order_by("pk").only("pk", "at").first()
    if oldest is None or oldest.pk > newest:
        return None
    month = _month(oldest.at)
    end = min(newest, oldest.pk + MOST_ENTRIES - 1)
    entries = AuditEntry.objects.filter(pk__range=(oldest.pk, end)).order_by("pk")
    is_open = Q(engagement__isnull=False) & ~Q(engagement__state__in=Engagement.ENDED)
    beyond = Q(at__gte=min(before, _month(month + timedelta(days=32))))
    stop = entries.filter(beyond | is_open).values_list("pk", flat=True).first()
    last = stop - 1 if stop else entries.values_list("pk", flat=True).last()
    return _Range(month, oldest.pk, last) if last >= oldest.pk else None


def _archive(found: _Range, now: datetime) -> AuditArchive:
    before = checkpoint.behind_archives()
    archive = _written(found, now)
    if fault := audit_log.check_archive(archive, before):
        raise WrongState(_("The audit log is not what the application wrote (%(place)s: "
                           "%(problem)s), and was not archived.") % {
            "place": fault.place, "problem": LABELS[fault.problem]})
    _move(archive)
    return archive


def _written(found: _Range, now: datetime) -> AuditArchive:
    """The row, not saved yet, of a file that is in the store to stay."""
    entries = AuditEntry.objects.filter(pk__range=(found.first, found.last)).order_by("pk")
    first, last = entries.first(), entries.last()
    head = {"first": found.first, "last": found.last, "previous_hash": first.previous_hash,
            "month": f"{found.month:%Y-%m}"}
    name = (f"{archive_files.FOLDER}/audit-{head['month']}-{found.first}-{found.last}.jsonl.gz")
    with tempfile.TemporaryFile() as stream:
        archive_files.write(stream, head, map(audit_log.entry_facts, entries.iterator(
            chunk_size=audit_log.ENTRIES_AT_ONCE)))
        size, digest = stream.tell(), _digest(stream)
        name = _stored(name, stream, digest)
    return AuditArchive(
        month=found.month.date(), first_number=found.first, last_number=found.last,
        previous_hash=first.previous_hash, last_hash=last.entry_hash, seal=last.seal, file=name,
        size=size, sha256=digest, made_at=now)


def _digest(stream: BinaryIO) -> str:
    stream.seek(0)
    return hashlib.file_digest(stream, "sha256").hexdigest()


def _stored(name: str, stream: BinaryIO, digest: str) -> str:
    """The name of these bytes, at rest: a file of another content keeps its name."""
    if not _is_there(name, digest):
        stream.seek(0)
        name = default_storage.save(name, File(stream))
    if isinstance(default_storage, FileSystemStorage):
        _settle(default_storage.path(name))
    return name


def _is_there(name: str, digest: str) -> bool:
    """Whether an interrupted run has stored the same."""
    if not default_storage.exists(name):
        return False
    with default_storage.open(name, "rb") as stream:
        return _digest(stream) == digest


def _settle(path: str) -> None:
    folder = os.path.dirname(path)
    with durable_files.disk(folder) as disk:
        for place in (path, folder, os.path.dirname(folder)):
            durable_files.settle([place], disk)


@transaction.atomic
def _move(archive: AuditArchive) -> None:
    """Name the file and remove its entries. Raises IntegrityError where somebody else has."""
    entries = AuditEntry.objects.filter(pk__range=(archive.first_number, archive.last_number))
    engagements = entries.order_by().values_list("engagement", flat=True).distinct()
    archive.save()
    ArchivedEngagement.objects.bulk_create(
        ArchivedEngagement(archive=archive, engagement_id=key) for key in engagements if key)
    count, _rows = entries.delete()
    if count != archive.last_number - archive.first_number + 1:
        raise IntegrityError(f"{count} entries of {archive}")
    audit_log.record(actor=None, action="audit.archive", target=archive,
                     data={"entries": count, "sha256": archive.sha256})
