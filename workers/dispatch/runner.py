"""Advances jobs by one short step at a time. The row is the truth (PRODUCT rule 4)."""

import logging
import time
from datetime import datetime

from django.db import DatabaseError, transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext_noop

from engagements.audit import audit_log
from engagements.log_context import log_context
from engagements.queue import NO_CLAIM
from workers.artifacts import provenance
from workers.artifacts.transfer import FileChanged
from workers.dispatch import endings, enqueueing, steps, transitions
from workers.dispatch.job_claims import claimed
from workers.models import Job, JobState, StoredReading
from workers.models.job import FINAL_STATES, WAITING_STATES
from workers.nodes import reachability
from workers.nodes.card_leases import release_cards
from workers.nodes.ssh import HostKeyChanged, LoginRefused, ScriptFailed, Unreachable
from workers.signals import job_succeeded, job_unproven

log = logging.getLogger(__name__)
SAFE_TO_FAIL = (*WAITING_STATES, JobState.STAGING, JobState.READING)  # nothing of it runs


def advance_while_due(job_id: int, most: int = 20) -> None:
    """Under one claim, advance the job until it is final or its next step lies in the future."""
    with claimed(Job.objects.filter(pk=job_id)) as claim:
        if not claim:
            return
        job = Job.objects.select_related("node", "engagement", "model").get(pk=job_id)
        with log_context(job_id=job_id):
            for step in range(most):
                if not write(job, guarded(job, lambda: _stepped(job)), keep=step < most - 1):
                    break
    look_again_soon([job])


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


def _stepped(job: Job) -> dict:
    asks_the_node = job.node_id and job.state not in (*SAFE_TO_FAIL, JobState.COLLECTING)
    changes = transitions.step(job)
    if asks_the_node:
        reachability.seen(job.node)
    return without_troubles(job, changes)


def without_troubles(job: Job, changes: dict) -> dict:
    """The same changes; a step that went well ends a row of troubles."""
    if job.troubles:
        changes.setdefault("troubles", 0)
    return changes


def write(job: Job, changes: dict, keep: bool = False) -> bool:
    """Keep a step's changes if the claim still stands.

    True if the next step is due at once and, with `keep`, the claim is still ours.
    """
    _complete(job, changes, timezone.now())
    goes_on = keep and _goes_on(changes)
    _take(job, changes)
    ours = Job.objects.filter(pk=job.pk, claim_token=job.claim_token)
    if changes["state"] in FINAL_STATES:
        _end(job, ours, changes)
        return False
    return bool(ours.update(**changes, **({} if goes_on else NO_CLAIM))) and goes_on


@transaction.atomic(savepoint=False)
def _end(job: Job, ours: QuerySet[Job], changes: dict) -> None:
    if ours.update(**changes, **NO_CLAIM):
        _settle(job)


def write_alike(found: list[tuple[Job, dict]]) -> list[Job]:
    """As `write` with `keep`; jobs of one claim whose changes are equal share one update.

    Returns those whose next step is due at once and whose claim is still ours.
    """
    now, groups = timezone.now(), {}
    for job, changes in found:
        _complete(job, changes, now)
        groups.setdefault(repr(sorted(changes.items())), []).append((job, changes))
    going_on = []
    for group in groups.values():
        changes = group[0][1]
        if len(group) > 1 and _goes_on(changes):
            going_on += _write_alike([job for job, _changes in group], changes)
        else:
            going_on += [job for job, changes in group if write(job, changes, keep=True)]
    return going_on


def _write_alike(jobs: list[Job], changes: dict) -> list[Job]:
    ours = Job.objects.filter(pk__in=[job.pk for job in jobs], claim_token=jobs[0].claim_token)
    for job in jobs:
        _take(job, changes)
    if ours.update(**changes) == len(jobs):
        return jobs
    still_claimed = set(ours.values_list("pk", flat=True))
    return [job for job in jobs if job.pk in still_claimed]


def _complete(job: Job, changes: dict, now: datetime) -> None:
    """Every write of a step says what state the job is in: the audit log asks no more of one that
    is under way."""
    changes.setdefault("next_step_at", now)
    changes.setdefault("state", job.state)


def _goes_on(changes: dict) -> bool:
    return (changes["state"] not in FINAL_STATES
            and changes["next_step_at"] <= timezone.now())


def _take(job: Job, changes: dict) -> None:
    for name, value in changes.items():
        setattr(job, name, value)


def look_again_soon(jobs: list[Job]) -> None:
    """Short commands end before the clock of the worker ticks again: wake somebody for them."""
    now, pauses = timezone.now(), {}
    for job in jobs:
        pause = (job.next_step_at - now).total_seconds() if job.next_step_at else 1
        if job.state == JobState.RUNNING and job.node_id and pause < 1:
            pauses[job.node_id] = min(pause, pauses.get(job.node_id, 1))
        elif job.state in (JobState.STAGING, JobState.COLLECTING) and pause <= 0:
            enqueueing.advance(job.pk)
    for node_id, pause in pauses.items():
        enqueueing.poll([node_id], after_seconds=max(0.0, pause))


def guarded(job: Job, step) -> dict:
    """The changes of one step. What goes wrong outside becomes a state, never a wrong end.

    A database that is away raises: then nothing can be written, and the claim runs out.
    """
    try:
        return step()
    except Unreachable as error:
        return endings.unreachable(job, error)
    except (HostKeyChanged, LoginRefused) as error:
        return endings.refused_by_node(job, error)
    except DatabaseError:
        raise
    except (ScriptFailed, FileChanged, OSError) as error:
        return _tried_again(job, error)
    except Exception as error:
        log.exception("%s: step %s failed", job, job.state)
        return _internal_error(job, steps.traceback_text(error))


def _tried_again(job: Job, error: Exception) -> dict:
    if isinstance(error, ScriptFailed):
        return endings.trouble(job, gettext_noop(
            "The node answers, but a script of the system failed on it; it is tried again. The "
            "technical cause is what the script said."), cause=str(error))
    if isinstance(error, FileChanged):
        return endings.trouble(job, gettext_noop(
            "The file %(name)s changed while it was collected; it is fetched again."),
            name=str(error))
    return endings.trouble(job, gettext_noop(
        "The files cannot be stored (%(why)s); it is tried again."), why=str(error))


def _internal_error(job: Job, cause: str) -> dict:
    is_safe = job.state in SAFE_TO_FAIL or job.node_id is None
    if is_safe and (job.nodes_wanted == 1 or job.state == JobState.READING):
        return endings.failed(gettext_noop(
            "An internal error stopped the job; the cause is recorded."), cause=cause)
    return endings.trouble(job, gettext_noop(
        "An internal error; the cause is recorded and the step is tried again."), cause=cause)


def _settle(job: Job) -> None:
    """What belongs to the end of a job, in one transaction with it."""
    if job.cards_wanted:
        release_cards(job)
    audit_log.record(actor=None, action="job.member_end" if job.gang_id else transitions.ENDED.code,
                     target=job, engagement=job.engagement,
                     data={"state": job.state, "exit_status": job.exit_status})
    if job.gang_id:
        enqueueing.advance_on_commit(job.gang.job_id)
    elif job.state == JobState.SUCCEEDED:
        job_succeeded.send(
            sender=type(job), job=job,
            readings=list(StoredReading.objects.filter(artifact__job=job).order_by("pk")))
    elif job.results.get("not_provable") == provenance.NO_DEVICE:
        job_unproven.send(sender=type(job), job=job)
