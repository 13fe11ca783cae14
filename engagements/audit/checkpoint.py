"""How far the last walk of the audit log came, so that the next one may go on from there."""

import contextlib
import hashlib
import hmac
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from django.conf import settings

from engagements.models import AuditEntry


@dataclass(frozen=True)
class Checkpoint:
    """An entry up to which the log was whole: its number, hash and seal, and when that was seen."""

    number: int
    entry_hash: str
    seal: str
    at: str

    def is_still_there(self) -> bool:
        """Whether the log holds this very entry."""
        return AuditEntry.objects.filter(
            pk=self.number, entry_hash=self.entry_hash, seal=self.seal).exists()


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
    """The last checkpoint that was kept by this installation and is still in the log."""
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        facts = json.loads(_file().read_text())
        mark = facts.pop("mark")
        if hmac.compare_digest(mark, _mark(facts)):
            found = Checkpoint(**facts)
            return found if found.is_still_there() else None
    return None
