"""Advances a job by one short step at a time. The row is the truth (PRODUCT rule 4).

A step is claimed by a conditional update; every write of the step carries the claim, so that a
worker that was away too long changes nothing.
"""

import logging
import time
import uuid
from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_noop

from engagements import audit
from workers import steps
from workers.leases import release_cards
from workers.models import Job, JobState, StoredReading
from workers.models.job import FINAL_STATES, OPEN_STATES
from workers.signals import job_succeeded
from workers.ssh import HostKeyChanged, LoginRefused, Unreachable

log = logging.getLogger(__name__)
CLAIM = timedelta(minutes=10)


def due_jobs(limit: int = 200) -> list[int]:
    """Ids of open jobs whose next step is due and that no worker holds."""
    now = timezone.now()
    return list(_due(now).order_by("next_step_at").values_list("pk", flat=True)[:limit])


def advance_while_due(job_id: int, most: int = 20) -> None:
    """Advance the job until it is final or its next step lies in the future."""
    for _step in range(most):
        if not advance(job_id):
            return


def drive(job: Job, timeout: float = 120, pause: float = 0.1) -> Job:
    """Advance a job to its end in this process. For commands and tests; workers use messages.

    Raises TimeoutError when the job is not final in time.
    """
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        advance_while_due(job.pk)
        job.refresh_from_db()
        if job.is_final:
            return job
        time.sleep(pause)
    raise TimeoutError(f"{job} is still {job.state}")


def advance(job_id: int) -> bool:
    """Claim the job, do one step, give it back. False if it was not due or not ours."""
    claim = uuid.uuid4().hex
    now = timezone.now()
    if not _due(now).filter(pk=job_id).update(holder=claim, holder_until=now + CLAIM):
        return False
    job = Job.objects.select_related("node", "engagement", "model").get(pk=job_id)
    changes = _one_step(job)
    changes.update(holder="", holder_until=None)
    changes.setdefault("next_step_at", timezone.now())
    is_final = changes.get("state") in FINAL_STATES
    with transaction.atomic():
        kept = Job.objects.filter(pk=job_id, holder=claim).update(**changes)
        if kept and is_final:
            _settle(job_id)
    return bool(kept) and not is_final


def _due(now):
    return Job.objects.filter(state__in=OPEN_STATES).filter(
        Q(next_step_at=None) | Q(next_step_at__lte=now),
        Q(holder="") | Q(holder_until__lt=now),
    )


def _one_step(job: Job) -> dict:
    """The changes of one step; expected failures of the node become states."""
    try:
        return steps.step(job)
    except Unreachable as error:
        return steps.unreachable(job, str(error))
    except (HostKeyChanged, LoginRefused) as error:
        return steps.refused_by_node(job, error)
    except Exception as error:
        log.exception("%s: step %s failed", job, job.state)
        return steps.failed(
            gettext_noop("An internal error stopped the job; the cause is recorded."),
            cause=steps.traceback_text(error))


def _settle(job_id: int) -> None:
    """What belongs to the end of a job, in one transaction with it."""
    job = Job.objects.get(pk=job_id)
    release_cards(job)
    audit.record(actor=None, action="job.end", target=job, engagement=job.engagement,
                 data={"state": job.state, "exit_status": job.exit_status})
    if job.state == JobState.SUCCEEDED:
        job_succeeded.send(
            sender=type(job), job=job,
            readings=list(StoredReading.objects.filter(artifact__job=job).order_by("pk")))

