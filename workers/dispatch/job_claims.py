"""Claims on jobs: taken by a conditional update, renewed while a step lasts, given up by silence.

Every write of a step carries the claim, so that a worker that was away too long changes nothing.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.db import connection
from django.db.models import Q, QuerySet
from django.utils import timezone

from workers.models import Job
from workers.models.job import OPEN_STATES

CLAIM = timedelta(seconds=45)
RENEW_SECONDS = 15


def due(now: datetime) -> QuerySet[Job]:
    """Open jobs whose next step is due and that no worker holds."""
    return Job.objects.filter(state__in=OPEN_STATES).filter(
        Q(next_step_at=None) | Q(next_step_at__lte=now)).unclaimed(now)


@contextmanager
def claimed(jobs: QuerySet[Job]) -> Iterator[str]:
    """Claim those of the jobs that are due. Yields the claim; empty if there were none."""
    now = timezone.now()
    claim = (due(now) & jobs).claim(now, CLAIM)
    if not claim:
        yield ""
        return
    timer = _renew_later(claim)
    try:
        yield claim
    finally:
        timer.cancel()


def _renew_later(claim: str) -> threading.Timer:
    timer = threading.Timer(RENEW_SECONDS, _renew, [claim])
    timer.daemon = True
    timer.start()
    return timer


def _renew(claim: str) -> None:
    """Runs beside a long step; ends with the claim, or with this process."""
    try:
        while Job.objects.claimed_with(claim).renew_claim(timezone.now(), CLAIM):
            threading.Event().wait(RENEW_SECONDS)
    finally:
        connection.close()
