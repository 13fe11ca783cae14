"""The check of the chain that a page can afford."""

from dataclasses import dataclass

from engagements.audit import audit_log, checkpoint
from engagements.models import AuditEntry

MOST_WALKED = 20_000  # entries; more are for `manage.py verify --audit`


@dataclass(frozen=True)
class LogCheck:
    """What was found behind entry `after` (0: from the first on); archives are not read.

    `is_done` is False where there is more to walk than a page can: then nothing was looked at.
    """

    is_done: bool
    after: int = 0
    finding: audit_log.Finding | None = None
    is_behind_archives: bool = False


def check_log() -> LogCheck:
    """Walk what is in the table, or came after the last walk; at most MOST_WALKED entries."""
    start = archived = checkpoint.behind_archives()
    if _is_long(0):
        start = checkpoint.last()
        if start is None or _is_long(start.number):
            return LogCheck(is_done=False)
    return LogCheck(True, start.number if start else 0, next(audit_log.findings(start), None),
                    is_behind_archives=start is not None and start == archived)


def _is_long(after: int) -> bool:
    rows = AuditEntry.objects.filter(pk__gt=after).order_by("pk").values_list("pk", flat=True)
    return bool(rows[MOST_WALKED:MOST_WALKED + 1])
