"""Re-reading stored files: whether they still are what their rows say, at a set rate."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from bundle_verifier.check_steps import CheckStep
from delivery.operation.backup.stored_files import StoredFile, columns, files_of
from delivery.operation.models import DamagedFile, FileRound
from engagements.audit import audit_log

BATCH = 200
CLAIM = timedelta(hours=1)
AGAIN = timedelta(minutes=50)  # after which a damaged file is looked at again
TURN_SECONDS = 120  # after which a turn saves where it is and ends
MINUTE = 60
CHUNK = 2**20
Fault = DamagedFile.Fault


@dataclass(frozen=True)
class Check:
    """How a stored file was found; no fault: it is what its row says."""

    file: StoredFile
    read_bytes: int
    fault: str = ""
    cause: str = ""
    found_sha256: str = ""


def check_file(file: StoredFile) -> Check:
    """Reads the file from the artifact store, in pieces."""
    digest, size = hashlib.sha256(), 0
    try:
        for piece in _pieces(file.name):
            digest.update(piece)
            size += len(piece)
    except FileNotFoundError:
        return Check(file, size, Fault.MISSING)
    except Exception as error:  # whatever a disk or an object store raises
        return Check(file, size, Fault.UNREADABLE, f"{type(error).__name__}: {error}"[:240])
    found = digest.hexdigest()
    if (file.sha256 and found != file.sha256) or (file.size is not None and size != file.size):
        return Check(file, size, Fault.CHANGED, found_sha256=found)
    return Check(file, size, found_sha256=found)


def _pieces(name: str) -> Iterator[bytes]:
    """An object store hands its bytes through; a whole file is never held."""
    if hasattr(default_storage, "pieces"):
        yield from default_storage.pieces(name)
        return
    with default_storage.open(name, "rb") as stream:
        yield from iter(lambda: stream.read(CHUNK), b"")


@transaction.atomic
def note(check: Check, *, now: datetime) -> DamagedFile | None:
    """Keep what was found, with an audit entry where that is news; the damage, if there is any.

    Operators get a notice of new damage.
    """
    known = DamagedFile.objects.select_for_update(of=("self",), no_key=True).open().filter(
        name=check.file.name).first()
    if not check.fault:
        if known:
            known.healed_at = known.seen_at = now
            known.save()
            audit_log.record(actor=None, action="stored_file.heal", target=known)
        return None
    if known and (known.fault, known.found_sha256) == (check.fault, check.found_sha256):
        DamagedFile.objects.filter(pk=known.pk).update(seen_at=now)
        return known
    damage = known or DamagedFile(name=check.file.name, found_at=now)
    damage.fault, damage.cause, damage.seen_at = check.fault, check.cause, now
    damage.sha256, damage.found_sha256 = check.file.sha256, check.found_sha256
    damage.save()
    audit_log.record(actor=None, action="stored_file.damage", target=damage,
                     data={"name": damage.name, "fault": damage.fault})
    return damage


def files_steps(reads: bool) -> Iterator[CheckStep]:
    """What `verify --audit` says of the stored files: read now, or when they were read last."""
    if reads:
        walk_everything(now=timezone.now(), found=lambda damage: None)
    damaged = list(DamagedFile.objects.open())
    for damage in damaged:
        text = f"{damage.name}: {damage.get_fault_display()} {damage.cause}"
        yield CheckStep(not reads, text.rstrip(), is_open=not reads)
    walk = FileRound.objects.filter(is_open=False).exclude(ended_at=None).first()
    if walk is None:
        yield CheckStep(True, _("Stored files were not read, and never all of them before: "
                                "--files."), is_open=True)
    elif not reads:
        yield CheckStep(True, _("Stored files were not read; all %(n)d were last read by "
                                "%(day)s: --files.") % {
            "n": walk.files, "day": f"{walk.ended_at:%Y-%m-%d}"}, is_open=True)
    elif not damaged:
        yield CheckStep(True, _("All %(n)d stored files were read and are what their rows say; "
                                "of %(unproven)d no checksum is recorded.") % {
            "n": walk.files, "unproven": walk.unproven})


def take_turn(*, now: datetime) -> int:
    """What the clock does every minute: a share of the walk, as the rate allows.

    Damaged files are looked at again every hour. The rate is SCRUB_MB_PER_MINUTE; a file larger
    than a minute's share is read whole, and the walk waits accordingly. A walk begins SCRUB_DAYS
    after the last one began. Returns the bytes that the walk read.
    """
    share = settings.SCRUB_MB_PER_MINUTE * 2**20
    if not share:
        return 0
    for damage in DamagedFile.objects.open().filter(seen_at__lt=now - AGAIN)[:BATCH]:
        _look_again(damage, now)
    walk = _claimed(now)
    if walk is None:
        return 0
    read = walk_on(walk, budget=share)
    walk.next_at = now + timedelta(seconds=MINUTE * max(1, read / share))
    walk.claimed_until = None
    walk.save()
    return read


def walk_everything(*, now: datetime, found: Callable[[DamagedFile], None]) -> FileRound:
    """One whole walk at once, whatever the rate; a walk that is open goes on from its beginning.

    Calls `found` with each damaged file. Returns the walk.
    """
    walk = FileRound.objects.filter(is_open=True).first() or FileRound(started_at=now, next_at=now)
    walk.started_at, walk.column, walk.after = now, "", ""
    walk.files = walk.bytes = walk.unproven = 0
    walk.claimed_until = now + CLAIM
    walk.save()
    while walk.is_open:
        walk_on(walk, found=found)
    return walk


def walk_on(walk: FileRound, *, budget: float = float("inf"),
            found: Callable[[DamagedFile], None] = lambda damage: None) -> int:
    """Read files from where the walk is until the budget (bytes) or the turn is used up.

    Returns the bytes read. The row is saved after each batch; at the end of the walk it is closed.
    """
    ends_at, before = timezone.now() + timedelta(seconds=TURN_SECONDS), walk.bytes
    while walk.bytes - before < budget and timezone.now() < ends_at:
        batch = _next_files(walk)
        if not batch:
            walk.is_open, walk.ended_at = False, timezone.now()
            break
        for column, file in batch:
            check = check_file(file)
            if damage := note(check, now=timezone.now()):
                found(damage)
            walk.column, walk.after = column, file.name
            walk.files, walk.bytes = walk.files + 1, walk.bytes + check.read_bytes
            walk.unproven += not file.sha256
            if walk.bytes - before >= budget or timezone.now() >= ends_at:
                break
        walk.save()
    walk.save()
    return walk.bytes - before


def _next_files(walk: FileRound) -> list[tuple[str, StoredFile]]:
    """The files behind where the walk is, by column and name, each with its column."""
    labels = {str(field): (table, field) for table, field in columns()}
    for label in sorted(labels):
        if label < walk.column:
            continue
        after = walk.after if label == walk.column else ""
        if batch := list(files_of(*labels[label], after=after, limit=BATCH)):
            return [(label, file) for file in batch]
    return []


def _claimed(now: datetime) -> FileRound | None:
    """The walk for this turn: the open one if it may go on and nobody else has it, or a new one."""
    walk = FileRound.objects.first()
    if walk is None or not walk.is_open:
        if walk and now < walk.started_at + timedelta(days=settings.SCRUB_DAYS):
            return None
        walk, _made = FileRound.objects.get_or_create(
            is_open=True, defaults={"started_at": now, "next_at": now})
    free = Q(claimed_until=None) | Q(claimed_until__lt=now)
    won = FileRound.objects.filter(free, pk=walk.pk, is_open=True, next_at__lte=now).update(
        claimed_until=now + CLAIM)
    return FileRound.objects.get(pk=walk.pk) if won else None


def _look_again(damage: DamagedFile, now: datetime) -> None:
    """Whether somebody has put the file back; damage is not forgotten because its row is gone."""
    rows = [file for table, field in columns()
            for file in files_of(table, field, name=damage.name)]
    if rows:
        note(check_file(rows[0]), now=now)
    else:
        DamagedFile.objects.filter(pk=damage.pk).update(seen_at=now)
