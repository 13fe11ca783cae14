"""How far the last walk of the audit log came, so that the next one may go on from there."""

import contextlib
import hashlib
import hmac
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from django.conf import settings

from engagements.models import AuditArchive, AuditEntry


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
    return Path(settings.VAR_DIR) / "audit-verified.json"


def _mark(facts: dict) -> str:
    """Under AUDIT_KEY: whoever may only write files cannot vouch for a log."""
    text = json.dumps(facts, sort_keys=True)
    return hmac.new(settings.AUDIT_KEY.encode(), text.encode(), hashlib.sha256).hexdigest()


def keep(checkpoint: Checkpoint) -> None:
    facts = asdict(checkpoint)
    part = _file().with_suffix(".part")
    part.write_text(json.dumps({**facts, "mark": _mark(facts)}))
    part.replace(_file())


def last() -> Checkpoint | None:
    """The last checkpoint that was kept by this installation and is still in the log.

    Entries that were archived since are walked again from the beginning of their file.
    """
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        facts = json.loads(_file().read_text())
        mark = facts.pop("mark")
        if hmac.compare_digest(mark, _mark(facts)):
            found = Checkpoint(**facts)
            return found if found.is_still_there() else _before_its_archive(found)
    return None


def _before_its_archive(found: Checkpoint) -> Checkpoint | None:
    archives = AuditArchive.objects.order_by("last_number")
    if not archives.filter(first_number__lte=found.number, last_number__gte=found.number).exists():
        return None
    before = archives.filter(last_number__lt=found.number).last()
    return before and at_end_of(before)
