"""Claiming due dispatches, and their ends: sent, tried again later, given up, withdrawn."""

from datetime import datetime, timedelta

from django.db.models import F

from delivery.notices.models import Dispatch
from delivery.notices.models.dispatch import DispatchQuerySet
from delivery.notices.rate_limits import MAX_ATTEMPTS, retry_delay
from delivery.notices.send_outcomes import Outcome

CLAIM_DURATION = timedelta(minutes=5)  # longer than sending can take
BATCH_SIZE = 50
State = Dispatch.State


def claim_batch(rows: DispatchQuerySet, now: datetime) -> tuple[str, list[Dispatch]]:
    """Claim the oldest of these rows that are due, at most BATCH_SIZE.

    Returns:
        the claim's token, and its rows.
    """
    chosen = list(rows.order_by("pk").values_list("pk", flat=True)[:BATCH_SIZE])
    due = Dispatch.objects.due(now).filter(pk__in=chosen)
    token = due.claim(now, CLAIM_DURATION, state=State.SENDING)
    claimed = Dispatch.objects.claimed_with(token) if token else Dispatch.objects.none()
    return token, list(claimed.select_related("event__engagement").order_by("pk"))


def withdraw(token: str, rows: list[Dispatch]) -> None:
    """Never send these claimed rows: their addressee may no longer see them."""
    Dispatch.objects.claimed_with(token).filter(pk__in=[row.pk for row in rows]).release(
        state=State.WITHDRAWN)


def record_outcome(token: str, outcome: Outcome, now: datetime) -> None:
    """Note of all claimed rows that they were sent, wait for another attempt, or are given up."""
    rows = Dispatch.objects.claimed_with(token)
    common = {"attempts": F("attempts") + 1, "error": outcome.error}
    if outcome.is_ok:
        rows.release(state=State.SENT, sent_at=now, **common)
        return
    last = rows.all() if outcome.is_permanent else rows.filter(attempts__gte=MAX_ATTEMPTS - 1)
    last.release(state=State.DEAD, **common)
    most = rows.order_by("-attempts").values_list("attempts", flat=True).first() or 0
    rows.release(state=State.PENDING, due_at=now + retry_delay(most + 1, outcome.pause), **common)
