"""How long messages are kept: they are made from entries of the audit log, which stay for good."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet

from delivery.notices.models import Dispatch, Event, Notice, SendAttempt

BATCH, MOST_BATCHES = 1000, 50  # of one run; the next one goes on
ENDED = (Dispatch.State.SENT, Dispatch.State.DEAD, Dispatch.State.WITHDRAWN)


def remove_old(now: datetime) -> dict[str, int]:
    """Remove what is older than the settings NOTICE_DAYS and SEND_ATTEMPT_DAYS; how many of each.

    Notices go whether they were read or not; an event goes once nothing speaks of it. One that is
    announced once by its key stays, or it would be announced again.
    """
    before = now - timedelta(days=settings.NOTICE_DAYS)
    return {name: sum(_removed(rows)) for name, rows in {
        "attempts": SendAttempt.objects.filter(
            at__lt=now - timedelta(days=settings.SEND_ATTEMPT_DAYS)),
        "dispatches": Dispatch.objects.filter(state__in=ENDED, due_at__lt=before),
        "notices": Notice.objects.filter(event__at__lt=before),
        "events": _unneeded(before)}.items()}


def _unneeded(before: datetime) -> QuerySet:
    return Event.objects.filter(at__lt=before, key=None).exclude(
        Exists(Notice.objects.filter(event=OuterRef("pk")))).exclude(
        Exists(Dispatch.objects.filter(event=OuterRef("pk"))))


def _removed(rows: QuerySet) -> Iterator[int]:
    """Batch by batch, oldest first, so that no lock is held for long."""
    for _batch in range(MOST_BATCHES):
        keys = list(rows.order_by("pk").values_list("pk", flat=True)[:BATCH])
        if not keys:
            return
        rows.model.objects.filter(pk__in=keys).delete()
        yield len(keys)
