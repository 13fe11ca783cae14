"""How a job ends other than by itself, and what keeps it from ending wrongly.

A job's cards are given back only with its final state, and a final state needs proof that
nothing of the job runs: an exit status, an empty session, another boot of the node.
"""

from datetime import datetime, timedelta

from django.utils import timezone
from django.utils.translation import gettext_noop

from workers import remote
from workers.models import Job, JobState, Trouble
from workers.nodes import reachability, ssh
from workers.remote import replies
from workers.remote.replies import RemoteState

STOPPED = (JobState.CANCELLED, JobState.TIMED_OUT)
GRACE = timedelta(seconds=10)
LONGEST_PAUSE = 60
SIGNALLED = (None, 143, 137, 130)  # ended by KILL of all, or the command by TERM, KILL, INT


def end(state: str, message: str, cause: str = "", **values) -> dict:
    """The changes that make a state final, with its sentence and its technical cause."""
    return {"state": state, "message": message, "message_values": values,
            "technical_cause": cause[-20000:], "finished_at": timezone.now()}


def failed(message: str, cause: str = "", **values) -> dict:
    """The changes that end a job as failed. Only where nothing of it can be running."""
    return end(JobState.FAILED, message, cause=cause, **values)


def trouble(job: Job, message: str, cause: str = "", **values) -> dict:
    """The changes for a step that could not be done now: same state, tried again later."""
    pause = min(2 ** min(job.troubles, 10), LONGEST_PAUSE)
    return {"troubles": min(job.troubles + 1, 1000), "message": message,
            "message_values": values, "technical_cause": cause[-20000:],
            "next_step_at": timezone.now() + timedelta(seconds=pause)}


def poll_interval(job: Job, now: datetime) -> timedelta:
    """Three times a second at first; every five seconds once a job has run for ten minutes."""
    age = (now - (job.started_at or now)).total_seconds()
    return timedelta(seconds=0.3 if age < 3 else 1 if age < 60 else 2 if age < 600 else 5)


def desk_words(answer: ssh.Answer) -> list[str]:
    """The words after our own marker; a login shell may have printed before it.

    Raises NoShell where the marker is missing: then nothing is known.
    """
    for line in answer.stdout.decode(errors="replace").splitlines():
        words = line.split()
        if words[:1] == ["desk"] and len(words) > 1:
            return words[1:]
    raise ssh.no_shell(answer.stdout + answer.stderr)


def is_overdue(job: Job) -> bool:
    return bool(job.started_at) and timezone.now() > _deadline(job)


def _deadline(job: Job) -> datetime:
    return job.started_at + timedelta(seconds=job.timeout_seconds)


def lost(state: RemoteState, job: Job) -> dict:
    """Nothing of it runs and it left no exit status."""
    if job.cancel_requested_at or is_overdue(job):  # killed by us: keep what it wrote
        return {"state": JobState.COLLECTING, "next_step_at": timezone.now()}
    if not state.is_present:
        return end(JobState.LOST, gettext_noop(
            "The job's folder on the node has vanished, and nothing of it runs."),
                   cause=state.line)
    return end(JobState.LOST, gettext_noop(
        "The node restarted or the command was killed: it ended without an exit status."),
               cause=state.line)


def stop(job: Job, signal: str = "") -> dict:
    """TERM first, KILL after ten seconds. A job that never started is final at once."""
    left = _left_after(job, signal or _signal(job))
    if left == "0" and job.state == JobState.STARTING:
        return _cancelled()
    return {"next_step_at": timezone.now() + timedelta(seconds=0 if left == "0" else 1)}


def _signal(job: Job) -> str:
    asked_at = job.cancel_requested_at or _deadline(job)
    return "TERM" if timezone.now() < asked_at + GRACE else "KILL"


def end_leftovers(job: Job) -> dict:
    """The command ended and left processes behind: TERM, then KILL, before anything else."""
    left = _left_after(job, "TERM" if job.troubles < 3 else "KILL")
    pause = timedelta(seconds=0 if left == "0" else 1)
    return {"troubles": job.troubles + 1, "next_step_at": timezone.now() + pause}


def _left_after(job: Job, signal: str) -> str:
    answer = ssh.run(job.access, remote.cancel_script(replies.place(job), signal))
    words = desk_words(answer)
    return words[1] if words[0] == "left" and len(words) > 1 else "unknown"


def how_stopped(job: Job) -> dict:
    """The final changes of a job that a person or its time limit stopped; else nothing."""
    if job.cancel_requested_at:
        return _cancelled()
    if is_overdue(job) and job.exit_status in SIGNALLED:
        return end(JobState.TIMED_OUT, gettext_noop(
            "Stopped after its time limit of %(seconds)d s."), seconds=job.timeout_seconds)
    return {}


def _cancelled() -> dict:
    return end(JobState.CANCELLED, gettext_noop("Cancelled; nothing of it runs any more."))


# The node -----------------------------------------------------------------------

SENTENCES = {
    Trouble.AWAY: gettext_noop("The node does not answer; the job's true state is not known."),
    Trouble.SHELL: gettext_noop(
        "The node lets us in, but its log-in shell does not run our commands: look at the "
        "start-up files of the user, such as .bashrc. The job's true state is not known."),
    Trouble.KEY: gettext_noop(
        "The node shows another host key than the pinned one; an operator must look. The job's "
        "true state is not known."),
    Trouble.LOGIN: gettext_noop(
        "The node refuses the login; check user and key. The job's true state is not known."),
}


def unreachable(job: Job, error: Exception) -> dict:
    """The changes for a node that cannot be asked: unknown is not failed (PRODUCT rule 2)."""
    reason = reachability.trouble_of(error)
    reachability.missed(job.access, str(error), reason)
    return {
        **trouble(job, SENTENCES[reason], cause=f"{type(error).__name__}: {error}"),
        "state": JobState.UNKNOWN, "state_before_unknown": _true_state(job),
    }


def _true_state(job: Job) -> str:
    return job.state_before_unknown if job.state == JobState.UNKNOWN else job.state


def refused_by_node(job: Job, error: Exception) -> dict:
    """A changed host key quarantines the node; the job waits in `unknown`."""
    if isinstance(error, ssh.HostKeyChanged):
        reachability.quarantine(job.node)
    return unreachable(job, error)
