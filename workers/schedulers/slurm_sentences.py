"""Slurm's states and reasons in sentences for people.

State codes and reasons: squeue(1), sections JOB STATE CODES and JOB REASON CODES.
"""

from django.utils.translation import gettext_noop

from engagements.text.nested_sentences import nested
from workers.models import JobState
from workers.remote.scheduled import Scheduled
from workers.schedulers.slurm_answers import canceller

WAITING = gettext_noop("Waiting in Slurm's queue as its job %(id)s: %(why)s")
OTHER_STATE = gettext_noop("Slurm's job %(id)s is “%(state)s” (%(reason)s).")
REASONS = {
    "": gettext_noop("Slurm has not said why yet."),
    "Resources": gettext_noop("the cards or processors that it wants are in use (Resources)."),
    "Priority": gettext_noop("other jobs come first (Priority)."),
    "Dependency": gettext_noop("another job has to end first (Dependency)."),
    "BeginTime": gettext_noop("its time has not come yet (BeginTime)."),
    "JobHeldUser": gettext_noop("a user holds it (JobHeldUser); scontrol release lets it go."),
    "JobHeldAdmin": gettext_noop(
        "an administrator of the cluster holds it (JobHeldAdmin); only they can let it go."),
    "PartitionTimeLimit": gettext_noop(
        "its time limit is longer than the partition allows (PartitionTimeLimit); it will never "
        "start like this. Give the node a shorter time limit or another partition."),
    "PartitionNodeLimit": gettext_noop(
        "it wants more nodes than the partition allows (PartitionNodeLimit); it will never start "
        "like this."),
    "PartitionDown": gettext_noop("the partition is closed (PartitionDown)."),
    "PartitionInactive": gettext_noop("the partition is inactive (PartitionInactive)."),
    "ReqNodeNotAvail": gettext_noop("nodes it needs are down or reserved (ReqNodeNotAvail)."),
    "Reservation": gettext_noop("it waits for its reservation (Reservation)."),
    "Licenses": gettext_noop("licences that it wants are in use (Licenses)."),
    "InvalidAccount": gettext_noop("its account is not valid (InvalidAccount)."),
    "InvalidQOS": gettext_noop("its quality of service is not valid (InvalidQOS)."),
}
LIMIT = gettext_noop("a limit of its account or quality of service is reached (%(reason)s).")
OTHER_REASON = gettext_noop("Slurm gives the reason “%(reason)s”.")
LIMITS = ("Assoc", "QOS", "AssociationJobLimit", "MaxJobs")


def is_waiting(scheduled: Scheduled) -> bool:
    """Whether Slurm holds the job without running it."""
    return not scheduled.has_begun and scheduled.state in (
        "PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD")


def is_over(scheduled: Scheduled) -> bool:
    """Whether Slurm calls the job ended."""
    return scheduled.state in ("COMPLETED", "FAILED", *ENDINGS)


def ended_itself(scheduled: Scheduled) -> bool:
    """Whether the command ended by itself."""
    return scheduled.state in ("COMPLETED", "FAILED")


def waiting(scheduled: Scheduled) -> tuple[str, dict]:
    """Message and values for a job that Slurm holds without running it."""
    if scheduled.state != "PENDING":
        return OTHER_STATE, {"id": scheduled.job_id, "state": scheduled.state,
                             "reason": scheduled.reason or "–"}
    word = scheduled.reason.partition(",")[0].strip("()")
    message = REASONS.get(word) or (LIMIT if word.startswith(LIMITS) else OTHER_REASON)
    return WAITING, {"id": scheduled.job_id, "why": nested(message, {"reason": scheduled.reason})}


# How Slurm ended a job whose command did not end by itself: state of the job, sentence.
ENDINGS = {
    "TIMEOUT": (JobState.TIMED_OUT, gettext_noop(
        "Slurm ended it (job %(id)s on %(nodes)s) at Slurm's time limit (TIMEOUT).")),
    "DEADLINE": (JobState.TIMED_OUT, gettext_noop(
        "Slurm ended it (job %(id)s) at its deadline (DEADLINE).")),
    "OUT_OF_MEMORY": (JobState.FAILED, gettext_noop(
        "Slurm's job %(id)s on %(nodes)s ran out of the main memory that it was given "
        "(OUT_OF_MEMORY). Ask for more with --mem among the options for sbatch, or use less.")),
    "NODE_FAIL": (JobState.LOST, gettext_noop(
        "The compute node failed while it ran (Slurm's job %(id)s on %(nodes)s, NODE_FAIL).")),
    "BOOT_FAIL": (JobState.FAILED, gettext_noop(
        "The compute node could not be started for it (Slurm's job %(id)s, BOOT_FAIL).")),
    "PREEMPTED": (JobState.FAILED, gettext_noop(
        "Slurm ended it for a job that comes first (job %(id)s on %(nodes)s, PREEMPTED).")),
    "CANCELLED": (JobState.CANCELLED, gettext_noop(
        "Cancelled in Slurm (job %(id)s), not through the desk; Slurm does not tell by whom.")),
    "REVOKED": (JobState.CANCELLED, gettext_noop(
        "Another cluster of the federation took it (Slurm's job %(id)s, REVOKED).")),
}
CANCELLED_BY = gettext_noop(
    "Cancelled in Slurm (job %(id)s) by the user with the number %(who)s, not through the desk.")
NOT_SHARED = gettext_noop(
    "Slurm ran it (job %(id)s on %(nodes)s), but the compute node did not reach the job's folder: "
    "the scratch folder must lie on storage that log-in and compute nodes share.")
LAUNCH_FAILED = gettext_noop(
    "Slurm could not start it, or it was killed from outside (job %(id)s on %(nodes)s, %(state)s, "
    "%(reason)s, exit code %(exit)s).")
STARTED_AGAIN = gettext_noop(
    "Its first run ended without an exit status, as when a compute node fails, and Slurm started "
    "it again (job %(id)s on %(nodes)s); the desk runs a command once.")
FORGOTTEN = gettext_noop(
    "Slurm does not know the job %(id)s any more, and it left no exit status.")


def ended(scheduled: Scheduled) -> tuple[str, str, dict]:
    """State, message and values for a job that left no exit status and runs no more."""
    values = {"id": scheduled.job_id or "–", "nodes": scheduled.nodes or "–",
              "state": scheduled.state, "reason": scheduled.reason or "–",
              "exit": scheduled.exit_code or "–"}
    if not scheduled.state:
        return JobState.LOST, FORGOTTEN, values
    if scheduled.state == "CANCELLED" and (who := canceller(scheduled)):
        return JobState.CANCELLED, CANCELLED_BY, {**values, "who": who}
    if scheduled.state in ENDINGS:
        return *ENDINGS[scheduled.state], values
    if scheduled.state == "COMPLETED" and scheduled.has_begun:  # see the first lines of batch.sh
        return JobState.LOST, STARTED_AGAIN, values
    return JobState.FAILED, LAUNCH_FAILED if scheduled.has_begun else NOT_SHARED, values


def overrides(scheduled: Scheduled) -> tuple[str, str, dict] | None:
    """The same for a job that left an exit status, where Slurm knows a truer cause."""
    if scheduled.state in ("OUT_OF_MEMORY", "TIMEOUT", "DEADLINE", "PREEMPTED", "NODE_FAIL"):
        return ended(scheduled)
    if scheduled.state == "CANCELLED":
        return ended(scheduled)
    return None
