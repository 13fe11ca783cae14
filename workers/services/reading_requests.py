"""Stored files that a worker reads: asked for by whoever stored them, done once, tried again.

A request for a file is a row. Its message may be lost and may come twice: the periodic sweep finds
what is due, a claim lets one worker read, and what it found is kept with the end of the claim.
"""

import logging
from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from engagements.audit import audit_log
from engagements.errors import WrongState
from engagements.models import User
from engagements.queue import enqueue, enqueue_on_commit, renewed
from toolreaders.base import ReadError, Reading
from workers import rule_checks
from workers.artifacts import artifact_store
from workers.artifacts.reading_state import is_being_read
from workers.models import Artifact, ReadingRequest, ReadingState

READ = "workers.read_upload"
CLAIM, RENEW_SECONDS = timedelta(seconds=45), 15
MOST_ATTEMPTS = 3
MOST_AT_ONCE = 200  # messages of one sweep
logger = logging.getLogger(__name__)


def request_reading(artifact: Artifact, again_by: User | None = None) -> ReadingRequest:
    """Have a worker read the file once this transaction has committed.

    Raises WrongState for a file that is being read.
    """
    if again_by and is_being_read(artifact):
        raise WrongState(_("The file is being read already."))
    request, _is_new = ReadingRequest.objects.update_or_create(artifact=artifact, defaults={
        "state": ReadingState.BEING_READ, "again_by": again_by, "attempts": 0, "ended_at": None,
        "refusal_code": "", "refusal": "", "claim_token": "", "claimed_until": None})
    enqueue_on_commit(READ, request.pk)
    return request


def enqueue_due_readings() -> None:
    """Ask for files again whose message was lost or whose worker died."""
    due = ReadingRequest.objects.due(timezone.now()).order_by("pk")
    for pk in due.values_list("pk", flat=True)[:MOST_AT_ONCE]:
        enqueue(READ, pk, expires=30)


def read_requested(pk: int) -> bool:
    """Read a file if that is still due. Returns whether this call brought it to an end."""
    token = ReadingRequest.objects.due(timezone.now()).filter(pk=pk).claim(
        timezone.now(), CLAIM, attempts=F("attempts") + 1)
    if not token:
        return False
    request = ReadingRequest.objects.select_related(
        "artifact__engagement", "artifact__model", "again_by").get(pk=pk)
    try:
        with renewed(ReadingRequest.objects.claimed_with(token), CLAIM, RENEW_SECONDS):
            outcome = _outcome(request)
    except Exception:  # a store that does not answer: the sweep tries again
        logger.exception("file %s could not be read", request.artifact_id)
        return False
    return _keep(request, token, outcome)


def _outcome(request: ReadingRequest) -> Reading | ReadError | None:
    if request.attempts > MOST_ATTEMPTS:
        return ReadError("reading_given_up", f"Reading it was tried {MOST_ATTEMPTS} times; the "
                         "worker ended each time or could not fetch the file.")
    if request.again_by and not artifact_store.is_intact(request.artifact):
        return ReadError("file_changed", "The stored file no longer has its recorded checksum.")
    return artifact_store.found_in(request.artifact, anew=bool(request.again_by))


@transaction.atomic
def _keep(request: ReadingRequest, token: str, outcome: Reading | ReadError | None) -> bool:
    """Keep what was found and the end of the request, if the claim still holds."""
    mine = ReadingRequest.objects.select_for_update(of=("self",), no_key=True).filter(
        pk=request.pk).claimed_with(token)
    if not mine.exists():
        return False
    artifact = Artifact.objects.select_related("engagement", "model").get(pk=request.artifact_id)
    known = artifact.readings.count()
    artifact_store.keep_found(artifact, outcome)
    if not artifact.job_id:  # a job keeps in its results what the rules say of its files
        artifact.rules = rule_checks.of_upload(artifact)
        artifact.save(update_fields=["rules"])
    mine.release(ended_at=timezone.now(), **_ending(outcome))
    _record(request, artifact, artifact.readings.count() - known)
    return True


def _ending(outcome: Reading | ReadError | None) -> dict:
    if isinstance(outcome, ReadError):
        return {"state": ReadingState.REFUSED, "refusal_code": outcome.code[:40],
                "refusal": outcome.message[:400]}
    return {"state": ReadingState.READ}


def _record(request: ReadingRequest, artifact: Artifact, new_readings: int) -> None:
    if request.again_by:
        audit_log.record(actor=request.again_by, action="artifact.read_again", target=artifact,
                         engagement=artifact.engagement, data={"new_readings": new_readings})
    else:
        audit_log.record(actor=None, action="artifact.read", target=artifact,
                         engagement=artifact.engagement, data={"files": 1})
