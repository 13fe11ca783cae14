"""ModelArts' phases in sentences for people.

https://support.huaweicloud.com/intl/en-us/api-modelarts/ShowTrainingJobDetails.html
"""

from django.utils.translation import gettext_noop

from engagements.text.nested_sentences import nested
from workers.models import JobState
from workers.remote.scheduled import Scheduled

WAITING = gettext_noop("Waiting in ModelArts as its job %(id)s: %(why)s")
PHASES = {
    "Creating": gettext_noop("it is being created (Creating)."),
    "Pending": gettext_noop("it is queued in the resource pool (Pending)."),
}
ABNORMAL = gettext_noop("ModelArts calls it abnormal (%(reason)s).")


def is_waiting(scheduled: Scheduled) -> bool:
    """Whether ModelArts has the job and no container of it runs yet."""
    return not scheduled.has_begun and scheduled.state in PHASES


def waiting(scheduled: Scheduled) -> tuple[str, dict]:
    """Message and values for a job that waits."""
    message = PHASES.get(scheduled.state, ABNORMAL)
    return WAITING, {"id": scheduled.job_id,
                     "why": nested(message, {"reason": scheduled.reason or scheduled.state})}


def is_over(scheduled: Scheduled) -> bool:
    """Whether no container of it runs or may start any more."""
    return bool(scheduled.state) and not scheduled.is_live


def ended_itself(scheduled: Scheduled) -> bool:
    """Whether the command ended by itself."""
    return scheduled.state in ("Completed", "Failed") and not scheduled.detail


TERMINATED = gettext_noop(
    "Terminated in ModelArts (job %(id)s), not through the desk, or at ModelArts' time limit. "
    "%(detail)s")
CREATE_FAILED = gettext_noop(
    "ModelArts could not create its container (job %(id)s, %(reason)s). %(detail)s %(output)s")
NOT_SHARED = gettext_noop(
    "ModelArts ran it (job %(id)s, exit code %(exit)s), but its container did not begin in the "
    "job's folder: the scratch folder must lie on the SFS Turbo that containers and the log-in "
    "node share, under one path. %(output)s")
KILLED = gettext_noop(
    "Its container ended without leaving an exit status (ModelArts' job %(id)s, %(reason)s, exit "
    "code %(exit)s). %(detail)s")
FORGOTTEN = gettext_noop(
    "ModelArts does not know the job any more, and it left no exit status: it was deleted there, "
    "not through the desk.")


def ended(scheduled: Scheduled) -> tuple[str, str, dict]:
    """State, message and values for a job that left no exit status and runs no more."""
    values = {"id": scheduled.job_id or "–", "exit": scheduled.exit_code or "–",
              "reason": scheduled.reason or scheduled.state, "detail": scheduled.detail,
              "output": scheduled.output}
    if not scheduled.state:
        return JobState.LOST, FORGOTTEN, values
    if scheduled.state == "Terminated":
        return JobState.CANCELLED, TERMINATED, values
    if scheduled.has_begun:
        return JobState.LOST, KILLED, values
    is_made = scheduled.exit_code != ""
    return JobState.FAILED, NOT_SHARED if is_made else CREATE_FAILED, values


def overrides(scheduled: Scheduled) -> tuple[str, str, dict] | None:
    """The same for a job that left an exit status, where ModelArts knows a truer cause."""
    return ended(scheduled) if scheduled.state == "Terminated" else None
