"""What does not stay for good: each rule with its setting; see docs/operation.md, “Growth”.

Folders of jobs on nodes are cleared by `workers.dispatch.cleanup`, which has to reach the nodes.
"""

from collections.abc import Callable
from datetime import datetime
from itertools import islice

from django.contrib.sessions.models import Session

from delivery.notices.services import retention as messages
from delivery.operation import audit_archiving, audit_heads
from engagements.models import IdempotentRequest
from engagements.models.idempotent_request import KEPT_FOR

FILES_PER_RUN = 3  # a hundred thousand entries each; the next run goes on


def _archive_audit_log(now: datetime) -> dict[str, int]:
    return {"audit_archives": sum(1 for _archive in islice(
        audit_archiving.archive_old(now=now), FILES_PER_RUN))}


def _publish_head(now: datetime) -> dict[str, int]:
    return {"audit_heads": audit_heads.publish_head(now=now)}


def _remove_ended_sign_ins(now: datetime) -> dict[str, int]:
    """Sessions that have run out, and with them where somebody had been signed in."""
    _rows, counts = Session.objects.filter(expire_date__lt=now).delete()
    return {"sessions": counts.get(Session._meta.label, 0)}


def _forget_idempotency_keys(now: datetime) -> dict[str, int]:
    rows, _counts = IdempotentRequest.objects.filter(created_at__lt=now - KEPT_FOR).delete()
    return {"idempotency_keys": rows}


RULES: tuple[Callable[[datetime], dict[str, int]], ...] = (
    messages.remove_old, _publish_head, _archive_audit_log, _remove_ended_sign_ins,
    _forget_idempotency_keys)


def apply_rules(now: datetime) -> dict[str, int]:
    """Remove or archive what the settings say; how many of each."""
    return {name: count for rule in RULES for name, count in rule(now).items()}
