"""How far the last walk of the audit log came, so that the next one may go on from there."""

import contextlib
import hashlib
import hmac
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from engagements.models import AuditArchive, AuditChain, AuditEntry


@dataclass(frozen=True)
class Checkpoint:
    """An entry up to which the log was whole: its number, hash and seal, and when that was seen."""

    number: int
    entry_hash: str
    seal: str
    at: str

    def is_still_there(self) -> bool:
        """Whether the table holds this very entry, or it is an archive's last one."""
        return AuditEntry.objects.filter(
            pk=self.number, entry_hash=self.entry_hash, seal=self.seal).exists() or (
            AuditArchive.objects.filter(last_number=self.number, last_hash=self.entry_hash,
                                        seal=self.seal).exists())


def at_end_of(archive: AuditArchive) -> Checkpoint:
    """An archive's last entry, as its row says: nobody has looked at the file. A false row shows
    in what follows it, whose seals nobody makes without AUDIT_KEY."""
    return Checkpoint(archive.last_number, archive.last_hash, archive.seal,
                      archive.made_at.isoformat())


def behind_archives() -> Checkpoint | None:
    """Where the entries begin that are in the table; None where none were archived."""
    newest = AuditArchive.objects.order_by("last_number").last()
    return newest and at_end_of(newest)


def _file() -> Path:
    return Path(settings.AUDIT_MARK or settings.VAR_DIR / "audit-verified.json")


def _mark(facts: dict) -> str:
    """Under AUDIT_KEY: whoever may only write files cannot vouch for a log."""
    text = json.dumps(facts, sort_keys=True)
    return hmac.new(settings.AUDIT_KEY.encode(), text.encode(), hashlib.sha256).hexdigest()


def keep(checkpoint: Checkpoint) -> None:
    """Keep how far a walk came; never less than one before, so that a log that was cut since is
    known by it."""
    before = stored()
    if before is None or before.number <= checkpoint.number:
        _write(checkpoint)


def begin_anew(checkpoint: Checkpoint | None) -> None:
    """Forget what was seen: the database was emptied, or a backup of it was restored."""
    _file().unlink(missing_ok=True)
    if checkpoint:
        _write(checkpoint)


def end() -> Checkpoint:
    """The log's newest entry, as the chain's row says."""
    chain = AuditChain.objects.get(pk=1)
    return Checkpoint(chain.number, chain.head, chain.seal, timezone.now().isoformat())


def _write(checkpoint: Checkpoint) -> None:
    facts = asdict(checkpoint)
    part = _file().with_suffix(".part")
    part.parent.mkdir(parents=True, exist_ok=True)
    part.write_text(json.dumps({**facts, "mark": _mark(facts)}))
    part.replace(_file())


def stored() -> Checkpoint | None:
    """The last checkpoint that was kept by this installation, whether or not it is in the log."""
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        facts = json.loads(_file().read_text())
        mark = facts.pop("mark")
        if hmac.compare_digest(mark, _mark(facts)):
            return Checkpoint(**facts)
    return None


def last() -> Checkpoint | None:
    """The last checkpoint that was kept by this installation and is still in the log.

    Entries that were archived since are walked again from the beginning of their file.
    """
    found = stored()
    if found is None or found.is_still_there():
        return found
    return _before_its_archive(found)


def _before_its_archive(found: Checkpoint) -> Checkpoint | None:
    archives = AuditArchive.objects.order_by("last_number")
    if not archives.filter(first_number__lte=found.number, last_number__gte=found.number).exists():
        return None
    before = archives.filter(last_number__lt=found.number).last()
    return before and at_end_of(before)
