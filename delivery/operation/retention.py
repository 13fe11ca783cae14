"""What does not stay for good: each rule with its setting; see docs/operation.md, “Growth”.

Folders of jobs on nodes are cleared by `workers.dispatch.cleanup`, which has to reach the nodes.
"""

from collections.abc import Callable
from datetime import datetime
from itertools import islice

from delivery.notices.services import retention as messages
from delivery.operation import audit_archiving

FILES_PER_RUN = 3  # a hundred thousand entries each; the next run goes on


def _archive_audit_log(now: datetime) -> dict[str, int]:
    return {"audit_archives": sum(1 for _archive in islice(
        audit_archiving.archive_old(now=now), FILES_PER_RUN))}


RULES: tuple[Callable[[datetime], dict[str, int]], ...] = (
    messages.remove_old, _archive_audit_log)


def apply_rules(now: datetime) -> dict[str, int]:
    """Remove or archive what the settings say; how many of each."""
    return {name: count for rule in RULES for name, count in rule(now).items()}
