"""Claiming dispatches: by conditional update, so that a doubled message sends nothing twice."""

import secrets
from datetime import datetime, timedelta

from django.db.models import F, Q, QuerySet

from delivery.notices.models import Dispatch
from delivery.notices.rate_limits import MOST_ATTEMPTS, pause_after
from delivery.notices.send_outcomes import Outcome

HOLD = timedelta(minutes=5)  # longer than a sender can take
MOST_AT_ONCE = 50


def due(now: datetime) -> QuerySet:
    """Rows whose time has come, and rows whose sender died while it held them."""
    return Dispatch.objects.filter(
        Q(state=Dispatch.State.PENDING, due_at__lte=now)
        | Q(state=Dispatch.State.SENDING, holder_until__lt=now))


def claim(rows: QuerySet, now: datetime) -> tuple[str, list[Dispatch]]:
    """Take up to fifty of these due rows, oldest first. Returns the holder and its rows."""
    holder = secrets.token_hex(8)
    chosen = list(rows.order_by("pk").values_list("pk", flat=True)[:MOST_AT_ONCE])
    due(now).filter(pk__in=chosen).update(
        state=Dispatch.State.SENDING, holder=holder, holder_until=now + HOLD)
    return holder, list(held(holder).select_related("event__engagement").order_by("pk"))


def held(holder: str) -> QuerySet:
    return Dispatch.objects.filter(state=Dispatch.State.SENDING, holder=holder)


def withdraw(holder: str, rows: list[Dispatch]) -> None:
    """Rows whose addressee may no longer see them are never sent."""
    held(holder).filter(pk__in=[row.pk for row in rows]).update(
        state=Dispatch.State.WITHDRAWN, holder="", holder_until=None)


def settle(holder: str, outcome: Outcome, now: datetime) -> None:
    """Sent; or tried again after a growing pause; or given up, with the reason."""
    rows = held(holder)
    if outcome.is_ok:
        rows.update(state=Dispatch.State.SENT, sent_at=now, error="", holder="",
                    holder_until=None, attempts=F("attempts") + 1)
        return
    last = rows.all() if outcome.is_permanent else rows.filter(attempts__gte=MOST_ATTEMPTS - 1)
    common = {"attempts": F("attempts") + 1, "error": outcome.error, "holder": "",
              "holder_until": None}
    last.update(state=Dispatch.State.DEAD, **common)
    most = rows.order_by("-attempts").values_list("attempts", flat=True).first() or 0
    rows.update(state=Dispatch.State.PENDING,
                due_at=now + pause_after(most + 1, outcome.pause), **common)
