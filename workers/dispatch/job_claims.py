"""Claims on jobs: taken by a conditional update, renewed while a step lasts, given up by silence.

Every write of a step carries the claim, so that a worker that was away too long changes nothing.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone

from engagements.queue.claim_renewal import renewed
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
    with renewed(Job.objects.claimed_with(claim), CLAIM, RENEW_SECONDS):
        yield claim
