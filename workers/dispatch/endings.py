"""How a job ends other than by itself, and what keeps it from ending wrongly.

A job's cards are given back only with its final state, and a final state needs proof that
nothing of the job runs: an exit status, an empty session, another boot of the node.
"""

from datetime import datetime, timedelta

from django.utils import timezone
from django.utils.translation import gettext_noop

from workers import schedulers
from workers.dispatch.sentences import ATTRIBUTED, STILL_THERE, STOPPED_SENTENCES, TRACKED
from workers.logs import diagnosis
from workers.logs.diagnosis import Diagnosis
from workers.models import Job, JobState, Trouble
from workers.nodes import card_leases, reachability, ssh
from workers.remote import survivors
from workers.remote.replies import RemoteState
from workers.remote.survivors import Process, Survivors

STOPPED = (JobState.CANCELLED, JobState.TIMED_OUT)
TERM_TO_KILL = timedelta(seconds=10)
LONGEST_PAUSE = 60
LEAST_PAUSE = timedelta(seconds=2)  # between an answer and the next question about an old job
LINES_OF_LOG, LOOKS_AT_CARDS = 12, 3
LAST_TRIES = timedelta(seconds=20)
AT_LIMIT = "stopped_at_limit"  # in the results: signals were sent because of the time limit
SIGNALLED = (None, 143, 137, 130)  # ended by KILL of all, or the command by TERM, KILL, INT
CANCELLED_BEFORE = gettext_noop("Cancelled before it started.")


def end(state: str, message: str, cause: str = "", **values) -> dict:
    """The changes that make a state final, with its sentence and its technical cause."""
    return {"state": state, "message": message, "message_values": values,
            "technical_cause": cause[-20000:], "finished_at": timezone.now()}


def failed(message: str, cause: str = "", **values) -> dict:
    """The changes that end a job as failed. Only where nothing of it can be running."""
    return end(JobState.FAILED, message, cause=cause, **values)


def explained(judged: dict, found: Diagnosis | None, log: str) -> dict:
    """The changes of a failure with its cause as the sentence; what the kind judged is stored.

    Where no cause is known, the end of the log is the technical cause.
    """
    if found is None:
        return {**judged, "technical_cause": "\n".join(log.splitlines()[-LINES_OF_LOG:])}
    diagnosed = {**found.as_json(), "judged": {"message": judged["message"],
                                               "values": judged["message_values"]}}
    return {**judged, "message": found.cause.headline, "message_values": found.values,
            "technical_cause": found.excerpt[-20000:],
            "results": {**judged["results"], "diagnosis": diagnosed}}


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


def next_poll(job: Job, asked_at: datetime) -> datetime:
    """When a running job is asked again: an interval after it was asked, however long the answers
    of a busy desk's nodes take; never so soon that they would be asked without a pause."""
    now = timezone.now()
    interval = poll_interval(job, now)
    return max(asked_at + interval, now + min(interval, LEAST_PAUSE))


def desk_words(answer: ssh.Answer) -> list[str]:
    """The words after our own marker; a login shell may have printed before it.

    Raises AnswerIncomplete where the marker is missing: then nothing is known.
    """
    for line in answer.stdout.decode(errors="replace").splitlines():
        words = line.split()
        if words[:1] == ["desk"] and len(words) > 1:
            return words[1:]
    raise ssh.AnswerIncomplete(answer)


def is_overdue(job: Job) -> bool:
    return bool(job.started_at) and timezone.now() > _deadline(job)


def _deadline(job: Job) -> datetime:
    return job.started_at + timedelta(seconds=job.timeout_seconds)


def lost(state: RemoteState, job: Job) -> dict:
    """Nothing of it runs and it left no exit status."""
    if (job.cancel_requested_at or is_overdue(job)) and not _went_with_its_node(job, state):
        # killed by us: keep what it wrote
        return {"state": JobState.COLLECTING, "next_step_at": timezone.now()}
    if not state.is_present:
        return end(JobState.LOST, gettext_noop(
            "The job's folder on the node has vanished, and nothing of it runs."),
                   cause=state.line)
    if state.is_of_another_boot(job.remote):
        return end(JobState.LOST, gettext_noop(
            "The node restarted while the job ran: it shows another boot id."), cause=state.line)
    if not (state.boot_id and job.remote.get("boot_id")):
        return end(JobState.LOST, gettext_noop(
            "The command ended without an exit status; the node does not tell whether it "
            "restarted."), cause=state.line)
    return end(JobState.LOST, gettext_noop(
        "The command was killed together with the shell that watched it: it ended without an "
        "exit status. The node did not restart."), cause=state.line)


def _went_with_its_node(job: Job, state: RemoteState) -> bool:
    """Whether a rank ended because its node did. That its end was asked for tells nothing: it is
    asked for when the others fail, and they fail when they lose the node."""
    return job.rank is not None and (not state.is_present
                                     or state.is_of_another_boot(job.remote))


def lost_for_a_cause(state: RemoteState, job: Job, found: Diagnosis | None) -> dict:
    """As `lost`, with the cause that the log shows; a restart of the node is a cause itself."""
    changes = lost(state, job)
    is_open = state.is_present and not state.is_of_another_boot(job.remote)
    if changes["state"] != JobState.LOST or found is None or not is_open:
        return changes
    return explained({**changes, "results": job.results}, found, "")


def stop_when_due(job: Job) -> dict:
    """As `stop`; that the time limit was the reason is kept with the results."""
    changes = stop(job)
    if job.cancel_requested_at:
        return changes
    return {**changes, "results": {**job.results, **changes.get("results", {}), AT_LIMIT: True}}


def stop(job: Job, signal: str = "") -> dict:
    """TERM first, KILL after ten seconds. A job that never started is final at once."""
    if not signal:
        signal = "TERM" if timezone.now() < _stopped_at(job) + TERM_TO_KILL else "KILL"
    left = _signalled(job, signal)
    if left.is_gone and job.state == JobState.STARTING:
        return _stopped(job, JobState.CANCELLED, left)
    if left.running and _is_given_up(job):
        return _outlived(job, left)
    return _look_again(left)


def _stopped_at(job: Job) -> datetime:
    return job.cancel_requested_at or _deadline(job)


def _is_given_up(job: Job) -> bool:
    """Whether KILL was sent again and again in vain."""
    if was_stopped(job):
        return timezone.now() > _stopped_at(job) + TERM_TO_KILL + LAST_TRIES
    return job.troubles > LAST_TRIES.seconds


def end_leftovers(job: Job) -> dict:
    """The command ended and left processes behind: TERM, then KILL, before anything else."""
    left = _signalled(job, "TERM" if job.troubles < 3 else "KILL")
    if left.running and _is_given_up(job):
        return _outlived(job, left)
    return {**_look_again(left), **({} if was_stopped(job) else _left_behind(job, left.ended)),
            "troubles": job.troubles + 1}


def _look_again(left: Survivors) -> dict:
    return {"next_step_at": timezone.now() + timedelta(seconds=0 if left.is_gone else 1)}


def _left_behind(job: Job, processes: tuple[Process, ...]) -> dict:
    """The column `results` with processes that outlived the command: each once."""
    known = job.results.get("left_behind", [])
    new = [list(process) for process in processes if list(process) not in known]
    return {"results": {**job.results, "left_behind": known + new}} if new else {}


def _outlived(job: Job, left: Survivors) -> dict:
    """KILL does not end them. Cards stay leased while that is so; a job without any ends."""
    if job.cards_wanted:
        return {"message": STILL_THERE, "message_values": _values(left.running),
                "troubles": job.troubles + 1,
                "next_step_at": timezone.now() + timedelta(seconds=10)}
    return {"state": JobState.COLLECTING, "next_step_at": timezone.now(),
            "results": {**job.results, "still_running": [list(each) for each in left.running]}}


def _signalled(job: Job, signal: str) -> Survivors:
    return schedulers.of(job.node).signal(job, signal)


def was_stopped(job: Job) -> bool:
    """Whether a person or the time limit ended the job.

    Launchers that are told to stop end with a status of their own, as torchrun with 1; one that
    ended well was not stopped.
    """
    is_signalled = job.exit_status in SIGNALLED or (
        AT_LIMIT in job.results and job.exit_status != 0)
    return bool(job.cancel_requested_at) or (is_overdue(job) and is_signalled)


def how_stopped(job: Job) -> dict:
    """For a job that a person or its time limit stopped: one more look at the node and its cards,
    and the final changes or another try. Else nothing.

    Raises what `workers.nodes.ssh` raises.
    """
    if not was_stopped(job):
        return {}
    left = _survivors(job)
    is_given_up = _is_given_up(job)
    if left.running and (job.cards_wanted or not is_given_up):
        return stop(job)
    if _on_its_cards(job, left) and not is_given_up:
        return {"next_step_at": timezone.now() + timedelta(seconds=2)}
    return _stopped(
        job, JobState.CANCELLED if job.cancel_requested_at else JobState.TIMED_OUT, left)


def _survivors(job: Job) -> Survivors:
    return schedulers.of(job.node).survivors(job)


def left_on_cards(job: Job) -> dict:
    """For a job whose command ended: the column `results` with the processes that npu-smi still
    shows on its cards, or another look in two seconds; else nothing.

    Raises what `workers.nodes.ssh` raises.
    """
    found = _on_its_cards(job, _survivors(job)) if job.cards_wanted else ()
    if not found:
        return {}
    if job.troubles < LOOKS_AT_CARDS:
        return {"troubles": job.troubles + 1,
                "next_step_at": timezone.now() + timedelta(seconds=2)}
    return {"results": {**job.results, "on_cards": [list(each) for each in found]}}


def needs_last_look(job: Job) -> bool:
    """Whether the node is asked once more before the job is judged or final."""
    return was_stopped(job) or bool(job.cards_wanted)


def _stopped(job: Job, state: str, left: Survivors) -> dict:
    on_cards = _on_its_cards(job, left)
    clean, surviving, occupying = STOPPED_SENTENCES[state]
    values = {"seconds": job.timeout_seconds} if state == JobState.TIMED_OUT else {}
    cause = _cause_of_limit(job) if state == JobState.TIMED_OUT else {}
    if left.running:
        return end(state, surviving, **values, **_values(left.running)) | cause
    if on_cards:
        return end(state, occupying, **values, **_values(on_cards)) | cause
    if state == JobState.CANCELLED and not left.is_held:
        return end(state, TRACKED, tracking=left.tracking) if left.tracking \
            else end(state, ATTRIBUTED)
    return end(state, clean, **values) | cause


def _cause_of_limit(job: Job) -> dict:
    """Why the limit was reached; the headline stays that of the limit."""
    found = diagnosis.of_time_limit(job, _deadline(job))
    diagnosed = {**found.as_json(),
                 "judged": {"message": found.cause.headline, "values": found.values}}
    return {"technical_cause": found.excerpt[-20000:],
            "results": {**job.results, "diagnosis": diagnosed}}


def _values(processes: tuple[Process, ...]) -> dict:
    return {"n": len(processes), "which": survivors.listed(processes)}


def _on_its_cards(job: Job, left: Survivors) -> tuple[Process, ...]:
    """Processes that npu-smi shows on the cards that the job holds."""
    if not left.on_cards:
        return ()
    ids = dict(job.node.cards.values_list("index", "npu_id"))
    held = {ids.get(card, card) for card in card_leases.held_cards(job)}
    return tuple((number, f"{name}, NPU {npu}") for npu, number, name in left.on_cards
                 if npu in held)


# The node -----------------------------------------------------------------------

SENTENCES = {
    Trouble.QUEUE: gettext_noop(
        "The cluster's scheduler does not answer; the job's true state is not known."),
    Trouble.AWAY: gettext_noop("The node does not answer; the job's true state is not known."),
    Trouble.SHELL: gettext_noop(
        "The node lets us in, but its log-in shell does not run our commands: look at the "
        "start-up files of the user, such as .bashrc. The job's true state is not known."),
    Trouble.KEY: gettext_noop(
        "The node shows another host key than the pinned one; an operator must look. The job's "
        "true state is not known."),
    Trouble.LOGIN: gettext_noop(
        "The node refuses the login; check user and key. The job's true state is not known."),
    Trouble.ALGORITHM: gettext_noop(
        "The node answers, but its SSH server has no algorithm in common with us; the technical "
        "cause names what it offers. The job's true state is not known."),
    Trouble.CHANNEL: gettext_noop(
        "The node lets us in, but its SSH server opens no session: look at MaxSessions. The job's "
        "true state is not known."),
    Trouble.TIMEOUT: gettext_noop(
        "The node let us in, but a command did not end in time. The job's true state is not "
        "known."),
}


def unreachable(job: Job, error: Exception) -> dict:
    """The changes for a node that cannot be asked: unknown is not failed (PRODUCT rule 2)."""
    reason = reachability.trouble_of(error)
    reachability.missed(job.access, str(error), reason)
    true_state = job.state_before_unknown if job.state == JobState.UNKNOWN else job.state
    return {
        **trouble(job, SENTENCES[reason], cause=str(error)),
        "state": JobState.UNKNOWN, "state_before_unknown": true_state,
    }


def refused_by_node(job: Job, error: Exception) -> dict:
    """A changed host key quarantines the node; the job waits in `unknown`."""
    if isinstance(error, ssh.HostKeyChanged):
        reachability.quarantine(job.node)
    return unreachable(job, error)
