"""Work queues whose truth is a database row: claiming rows, and asking workers to look at them.

One worker at a time claims a row, keeps it by renewing its claim, and gives it back. A claim is a
conditional UPDATE, so a message that is delivered twice does its work once. Every later write
filters by the claim token: a worker that lost its claim changes nothing.

Statements that write several rows lock them in the order of their keys first: two UPDATEs meet the
rows in whatever order their plans find them, and would wait for each other.

A message carries ids only. Losing one costs time and no data, since periodic tasks find due rows in
the database; receiving one twice does no harm, since rows are claimed.
"""

import contextlib
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from celery import signature
from django.db import connection, models, transaction
from django.db.models import Q
from django.utils import timezone
from kombu.exceptions import OperationalError

NO_CLAIM = {"claim_token": "", "claimed_until": None}


class ClaimableRow(models.Model):
    """The two columns of a claim; an empty token means that nobody holds the row."""

    claim_token = models.CharField(max_length=40, blank=True, editable=False)
    claimed_until = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        abstract = True


class ClaimableQuerySet(models.QuerySet):
    """Queries of a ClaimableRow. Which rows are due is the model's own matter."""

    def unclaimed(self, now: datetime) -> "ClaimableQuerySet":
        """Rows that nobody holds, or whose claim has expired because its worker died."""
        return self.filter(Q(claim_token="") | Q(claimed_until__lt=now))

    def claim(self, now: datetime, duration: timedelta, **values) -> str:
        """Claim these rows and set `values` on them.

        Returns:
            the token of the claim, or "" if there was no row to claim. A row that is being
            claimed or written just then is left out.
        """
        token = secrets.token_hex(8)
        claimed = self._update_in_order(skip_locked=True, claim_token=token,
                                        claimed_until=now + duration, **values)
        return token if claimed else ""

    def claimed_with(self, token: str) -> "ClaimableQuerySet":
        """Rows that the claim still holds."""
        return self.filter(claim_token=token)

    def renew_claim(self, now: datetime, duration: timedelta) -> int:
        """Keep the claim for longer; returns the number of rows, 0 once the claim is lost."""
        return self._update_in_order(claimed_until=now + duration)

    def release(self, **values) -> int:
        """Give the rows back with these values; returns the number of rows."""
        return self._update_in_order(**NO_CLAIM, **values)

    @transaction.atomic
    def _update_in_order(self, *, skip_locked: bool = False, **values) -> int:
        """Update rows that were locked by key, without those that another holds if skipping."""
        locked = self.order_by("pk").select_for_update(
            of=("self",), no_key=True, skip_locked=skip_locked)
        return self.model._default_manager.filter(pk__in=locked.values("pk")).update(**values)


@contextmanager
def renewed(rows: ClaimableQuerySet, duration: timedelta, every_seconds: float) -> Iterator[None]:
    """Renew the claim of the rows beside the work; nothing of it is left once the work is done.

    Args:
        rows: as `claimed_with` finds them; where there are none any more, nothing is renewed.
    """
    is_over = threading.Event()
    thread = threading.Thread(
        target=_renew, args=(rows, duration, every_seconds, is_over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _renew(rows: ClaimableQuerySet, duration: timedelta, every_seconds: float,
           is_over: threading.Event) -> None:
    try:
        while not is_over.wait(every_seconds) and rows.renew_claim(timezone.now(), duration):
            pass
    finally:
        connection.close()


def enqueue(task: str, *args, expires: float = 60, countdown: float | None = None) -> None:
    """Send a message now. An unreachable broker is ignored.

    Args:
        task: the registered name of a Celery task.
        args: JSON-able arguments, row ids as a rule.
        expires: seconds after which a worker drops the message.
        countdown: seconds before a worker may take it.
    """
    options = {"expires": expires, **({"countdown": countdown} if countdown else {})}
    with contextlib.suppress(OSError, OperationalError):
        signature(task, args=args, options=options).apply_async(retry=False)


def enqueue_on_commit(task: str, *args, expires: float = 60) -> None:
    """As `enqueue`, once the current transaction has committed."""
    transaction.on_commit(lambda: enqueue(task, *args, expires=expires))
