"""The life of a job: what people may do with it, what a worker does for it in each state, and which
state follows from what happens on its node."""

from collections.abc import Callable
from typing import NamedTuple

from django.db import models
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from engagements.access import Can, allowed
from engagements.errors import WrongState
from engagements.models import User
from engagements.transitions import AuditAction, TransitionTable, automatic, transition
from workers import kinds
from workers.dispatch import gang_steps, steps
from workers.models import Job, JobState
from workers.models.job import FINAL_STATES, OPEN_STATES


class JobMove(models.TextChoices):
    """Values are the names of the API's endpoints."""

    CANCEL = "cancel"
    RETRY = "retry"
    HOLD = "hold"
    RELEASE = "release"
    PRIORITY = "priority"


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


def _is_not_held(_user: User, job: Job) -> None:
    if job.hold_reason:
        raise WrongState(_("The job is held already."))


def _is_held(_user: User, job: Job) -> None:
    if not job.hold_reason:
        raise WrongState(_("Nobody holds the job."))


def refusal(_job: Job, move: str) -> str:
    """The sentence why a job's state does not allow a move."""
    if move == JobMove.CANCEL:
        return _("The job has already ended.")
    if move == JobMove.RETRY:
        return _("Only a job that ended without success can be tried again.")
    return _("Only a job that waits is held, released or moved in the queue.")


S = JobState
WAITS = (S.QUEUED, S.STAGING, S.LEASING)
ASKED = (S.STAGING, S.STARTING, S.RUNNING, S.COLLECTING)  # their step asks the node
ENDED = AuditAction("job.end", gettext_lazy("Job ended"))
TRANSITIONS = TransitionTable({
    JobMove.CANCEL: transition(*OPEN_STATES, by=(_runs, Can.OPERATE), guards=(_is_whole,),
                               label=gettext_lazy("Cancel"),
                               audit=("job.cancel", gettext_lazy("Job cancelled"))),
    JobMove.RETRY: transition(*FINAL_STATES - {S.SUCCEEDED}, by=_runs,
                              guards=(_is_whole, _kind_is_known, _is_newest_attempt),
                              label=gettext_lazy("Try again")),
    JobMove.HOLD: transition(*WAITS, by=Can.OPERATE, guards=(_is_whole, _is_not_held),
                             needs_reason=True, label=gettext_lazy("Hold"),
                             audit=("job.hold", gettext_lazy("Job held in the queue"))),
    JobMove.RELEASE: transition(*WAITS, by=Can.OPERATE, guards=(_is_whole, _is_held),
                                label=gettext_lazy("Release"),
                                audit=("job.release", gettext_lazy("Held job released"))),
    JobMove.PRIORITY: transition(*WAITS, by=Can.OPERATE, guards=(_is_whole,),
                                 needs_reason=True, label=gettext_lazy("Change the priority"),
                                 audit=("job.priority", gettext_lazy("Job's priority changed"))),
}, refusal=refusal, automatic={
    "inputs are to be brought": automatic(S.QUEUED, to=S.STAGING),
    "nothing is to be brought": automatic(S.QUEUED, to=S.LEASING),
    "a worker runs it itself": automatic(S.QUEUED, to=S.RUNNING),
    "the inputs are there": automatic(S.STAGING, to=S.LEASING),
    "it has its cards": automatic(S.QUEUED, S.LEASING, to=S.STARTING),
    "a node went away before the start": automatic(S.STARTING, to=S.LEASING),
    "its command runs": automatic(S.STARTING, to=S.RUNNING),
    "its command has ended": automatic(S.STARTING, S.RUNNING, to=S.COLLECTING),
    "its nodes begin again": automatic(S.COLLECTING, to=S.LEASING),
    "its nodes begin again, inputs first": automatic(S.COLLECTING, to=S.STAGING),
    "its files are stored": automatic(S.STARTING, S.RUNNING, S.COLLECTING, to=S.READING),
    "the node does not answer": automatic(*ASKED, to=S.UNKNOWN),
    "the node answers again": automatic(S.UNKNOWN, to=S.RUNNING),  # or the state before
    "its results are as wanted": automatic(S.RUNNING, S.READING, to=S.SUCCEEDED, audit=ENDED),
    "it failed": automatic(S.QUEUED, *ASKED, S.READING, to=S.FAILED, audit=ENDED),
    "it was cancelled": automatic(S.QUEUED, S.LEASING, *ASKED, S.READING, to=S.CANCELLED,
                                  audit=ENDED),
    "its time limit was reached": automatic(S.COLLECTING, S.READING, to=S.TIMED_OUT,
                                            audit=ENDED),
    "nothing of it runs and it left no status": automatic(
        S.STARTING, S.RUNNING, S.COLLECTING, S.READING, to=S.LOST, audit=ENDED),
})


class Step(NamedTuple):
    """What a worker does for a job in a state, on one node and on several: something short, which
    returns the columns that it changes, the next state among them."""

    one_node: Callable[[Job], dict]
    nodes: Callable[[Job], dict]


STEPS = {
    S.QUEUED: Step(steps.queued, gang_steps.queued),
    S.STAGING: Step(steps.stage, gang_steps.stage),
    S.LEASING: Step(steps.lease, gang_steps.lease),
    S.STARTING: Step(steps.start, gang_steps.start),
    S.RUNNING: Step(steps.look_after, gang_steps.look_after),
    S.COLLECTING: Step(steps.collect, gang_steps.collect),
    S.READING: Step(steps.judge, steps.judge),
}


def step(job: Job) -> dict:
    """Do the next thing for the job. Raises what `workers.nodes.ssh` raises."""
    back = {}
    if job.state == S.UNKNOWN:
        job.state = job.state_before_unknown or S.RUNNING
        back = {"state": job.state, "message": ""}
    one_node, nodes = STEPS[job.state]
    return back | (nodes if job.nodes_wanted > 1 else one_node)(job)
