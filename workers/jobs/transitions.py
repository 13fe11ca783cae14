"""What a person may do with a job; its states change by what happens on the node."""

from django.db import models
from django.utils.translation import gettext as _

from engagements.access import Can, allowed
from engagements.errors import WrongState
from engagements.models import User
from engagements.transitions import TransitionTable, transition
from workers import kinds
from workers.models import Job, JobState
from workers.models.job import FINAL_STATES, OPEN_STATES


class JobMove(models.TextChoices):
    """Values are the names of the API's endpoints."""

    CANCEL = "cancel"
    RETRY = "retry"


def _runs(user: User, job: Job) -> bool:
    return allowed(user, Can.WORK if job.engagement_id else Can.OPERATE)


def _kind_is_known(_user: User, job: Job) -> None:
    kinds.get(job.kind)


def _is_newest_attempt(_user: User, job: Job) -> None:
    for again in job.retries.all():
        raise WrongState(_("It was tried again already: job %(job)s.") % {"job": again})


def _is_whole(_user: User, job: Job) -> None:
    if job.gang_id:
        raise WrongState(_("It is a part of job #%(job)d; do it there.") % {
            "job": job.gang.job_id})


def refusal(_job: Job, move: str) -> str:
    """The sentence why a job's state does not allow a move."""
    if move == JobMove.CANCEL:
        return _("The job has already ended.")
    return _("Only a job that ended without success can be tried again.")


TRANSITIONS = TransitionTable({
    JobMove.CANCEL: transition(*OPEN_STATES, by=_runs, guards=(_is_whole,)),
    JobMove.RETRY: transition(*FINAL_STATES - {JobState.SUCCEEDED}, by=_runs,
                              guards=(_is_whole, _kind_is_known, _is_newest_attempt)),
}, refusal=refusal)
