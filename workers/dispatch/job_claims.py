"""Claims on jobs: taken by a conditional update, renewed while a step lasts, given up by silence.

Every write of a step carries the claim, so that a worker that was away too long changes nothing.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.utils import timezone

from engagements.queue import renewed
from workers.models import Job
from workers.models.job import JobQuerySet

CLAIM = timedelta(seconds=45)
RENEW_SECONDS = 15


@contextmanager
def claimed(jobs: JobQuerySet) -> Iterator[str]:
    """Claim those of the jobs that are due. Yields the claim; empty if there were none."""
    now = timezone.now()
    claim = jobs.due(now).claim(now, CLAIM)
    if not claim:
        yield ""
        return
    with renewed(Job.objects.claimed_with(claim), CLAIM, RENEW_SECONDS):
        yield claim
