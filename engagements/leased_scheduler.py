"""Celery's clock on several hosts: all of them run, one at a time sends.

The holder renews its lease while it ticks; when it dies or is cut off from the database, another
takes over after LEASE. What a message asks for is found in the database anyway, so that a gap of
some seconds delays work and loses none.
"""

import logging
import os
import socket
import time
from datetime import timedelta

from celery.beat import PersistentScheduler
from django.db import DatabaseError, close_old_connections, connection
from django.db.models import Q
from django.db.models.functions import Now

from engagements import database_clock
from engagements.models import Lease

LEASE = timedelta(seconds=30)
RENEWED_AFTER = 10  # seconds
CLOCK = "clock"

logger = logging.getLogger(__name__)


def take(name: str, holder: str, duration: timedelta = LEASE) -> bool:
    """Take or renew a lease by the database's clock; False while somebody else holds it."""
    free = Lease.objects.filter(Q(holder=holder) | Q(until__lt=Now()), name=name)
    if free.update(holder=holder, until=Now() + duration):
        return True
    made = Lease(name=name, holder=holder, until=Now() + duration)
    return bool(Lease.objects.bulk_create([made], ignore_conflicts=True)) and (
        Lease.objects.filter(name=name, holder=holder).exists())


def give_back(name: str, holder: str) -> None:
    """Let the next one begin at once."""
    Lease.objects.filter(name=name, holder=holder).delete()


class LeasedScheduler(PersistentScheduler):
    """Sends what is due while it holds the lease."""

    def __init__(self, *args, **kwargs):
        self.holder = f"{socket.gethostname()}:{os.getpid()}"
        self._renew_at, self._holds = 0.0, False
        super().__init__(*args, **kwargs)

    def tick(self, *args, **kwargs) -> float:
        """Seconds until the next look."""
        if not self._is_mine():
            return 1.0
        return super().tick(*args, **kwargs)

    def _is_mine(self) -> bool:
        now = time.monotonic()  # a clock that is set back must not keep it from renewing
        if now >= self._renew_at or not self._holds:
            self._holds = self._took()
            self._renew_at = now + RENEWED_AFTER
        return self._holds

    def _took(self) -> bool:
        try:
            if not connection.in_atomic_block:
                close_old_connections()
            database_clock.look("clock")
            return take(CLOCK, self.holder)
        except DatabaseError as error:
            logger.warning("The clock waits for the database: %s", error)
            return False

    def close(self) -> None:
        try:
            give_back(CLOCK, self.holder)
        except DatabaseError as error:
            logger.warning("The clock's lease was not given back: %s", error)
        super().close()
