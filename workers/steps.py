"""What happens to a job in each state. A step is short and returns the columns it changes."""

import traceback
from datetime import timedelta

from django.utils import timezone
from django.utils.translation import gettext_noop

from workers import collecting, kinds, leases, livelog, remote, ssh
from workers.artifacts import finite_json
from workers.kinds import Finished, Judgement
from workers.models import Job, JobState
from workers.remote_state import RemoteState

POLL = timedelta(seconds=1)
WAIT_FOR_CARDS = timedelta(seconds=3)
AWAY = timedelta(seconds=10)
LOG_CHUNK = 512 * 1024

REFUSALS = {
    "no_setsid": gettext_noop("The node has no setsid command; install util-linux or busybox."),
    "not_writable": gettext_noop("The scratch folder of the node cannot be written."),
    "no_space": gettext_noop("The scratch folder of the node has less than 20 MB free."),
    "not_started": gettext_noop("The node did not start the command within five seconds."),
}


def step(job: Job) -> dict:
    """Do the next thing for the job. Raises what `workers.ssh` raises."""
    if job.state == JobState.UNKNOWN:
        job.state = job.state_before_unknown or JobState.RUNNING
        return {"state": job.state, "message": "", **_STEPS[job.state](job)}
    return _STEPS[job.state](job)


def _queued(job: Job) -> dict:
    if job.cancel_requested_at:
        return _end(JobState.CANCELLED, gettext_noop("Cancelled before it started."))
    if not kinds.get(job.kind).runs_on_node:
        return {"state": JobState.RUNNING, "started_at": timezone.now()}
    return {"state": JobState.LEASING}


def _leasing(job: Job) -> dict:
    if job.cancel_requested_at:
        return _end(JobState.CANCELLED, gettext_noop("Cancelled before it started."))
    if job.node.state != job.node.State.READY:
        return _wait(gettext_noop("Waiting: the node is not ready."))
    cards = leases.take_cards(job)
    if cards is None:
        return _wait(gettext_noop("Waiting for %(n)d free cards."), n=job.cards_wanted)
    return {"state": JobState.STARTING, "message": "", "message_values": {},
            "results": {**job.results, "cards": cards}}


def _wait(message: str, **values) -> dict:
    return {"message": message, "message_values": values,
            "next_step_at": timezone.now() + WAIT_FOR_CARDS}


def _starting(job: Job) -> dict:
    kind = kinds.get(job.kind)
    environment = kind.environment(job.parameters)
    cards = leases.held_cards(job)
    if cards:
        environment["ASCEND_RT_VISIBLE_DEVICES"] = ",".join(map(str, cards))
    command = remote.command_text(job.command, environment, job.node.set_env)
    answer = ssh.run(job.node, remote.start_script(
        job.node.scratch_dir, job.directory_name, command))
    words = _desk_words(answer.stdout)
    if words[:1] == ["started"]:
        return {"state": JobState.RUNNING, "started_at": job.started_at or timezone.now(),
                "remote": dict(zip(("pid", "start_time", "boot_id"), words[1:], strict=False))}
    reason = words[1] if words[:1] == ["refused"] and len(words) > 1 else ""
    return failed(REFUSALS.get(reason, gettext_noop("The node could not start the command.")),
                  cause=(answer.stdout + answer.stderr).decode(errors="replace"))


def _desk_words(output: bytes) -> list[str]:
    """The words after our own marker; a login shell may have printed before it."""
    for line in output.decode(errors="replace").splitlines():
        if line.startswith("desk "):
            return line.split()[1:]
    return []


def _running(job: Job) -> dict:
    kind = kinds.get(job.kind)
    if not kind.runs_on_node:
        return _run_here(job, kind)
    state = RemoteState.ask(job, LOG_CHUNK)
    changes = {**livelog.append(job, state), "heartbeat_at": state.heartbeat_at,
               "next_step_at": timezone.now() + POLL, **_seen(job)}
    if state.has_more_log and state.exit_status is not None:
        return {**changes, "next_step_at": timezone.now()}
    if state.exit_status is not None:
        return {**changes, "state": JobState.COLLECTING, "exit_status": state.exit_status,
                "next_step_at": timezone.now()}
    if state.is_lost(job.remote):
        return {**changes, **_lost(state, job)}
    if job.cancel_requested_at or _is_overdue(job):
        return {**changes, **_stop(job)}
    return changes


def _run_here(job: Job, kind) -> dict:
    judgement, outputs = kind.run_here(job, job.parameters)
    collecting.store_outputs(job, outputs)
    return _judged(judgement)


def _seen(job: Job) -> dict:
    type(job.node).objects.filter(pk=job.node_id).update(last_seen_at=timezone.now(), last_error="")
    return {}


def _is_overdue(job: Job) -> bool:
    return timezone.now() > job.started_at + timedelta(seconds=job.timeout_seconds)


def _lost(state: RemoteState, job: Job) -> dict:
    if job.cancel_requested_at:
        return _end(JobState.CANCELLED, gettext_noop("Cancelled; nothing of it runs any more."))
    return _end(JobState.LOST, gettext_noop(
        "The node restarted or the command was killed: it ended without an exit status."),
        cause=state.line)


def _stop(job: Job) -> dict:
    """TERM first, KILL after ten seconds; the state changes only when the group is gone."""
    asked_at = job.cancel_requested_at or job.started_at + timedelta(seconds=job.timeout_seconds)
    signal = "TERM" if timezone.now() < asked_at + timedelta(seconds=10) else "KILL"
    answer = ssh.run(job.node, remote.cancel_script(
        job.node.scratch_dir, job.directory_name, signal))
    if _desk_words(answer.stdout) != ["left", "0"]:
        return {"next_step_at": timezone.now() + POLL}
    return _stopped(job)


def _stopped(job: Job) -> dict:
    collecting.collect(job)
    if job.cancel_requested_at:
        return _end(JobState.CANCELLED, gettext_noop("Cancelled; nothing of it runs any more."))
    return _end(JobState.TIMED_OUT, gettext_noop("Stopped after its time limit of %(seconds)d s."),
                seconds=job.timeout_seconds)


def _collecting(job: Job) -> dict:
    collecting.collect(job)
    if job.cancel_requested_at:
        return _end(JobState.CANCELLED, gettext_noop("Cancelled; nothing of it runs any more."))
    if _is_overdue(job) and job.exit_status in (143, 137):
        return _stopped(job)
    return {"state": JobState.READING}


def _reading(job: Job) -> dict:
    kind = kinds.get(job.kind)
    finished = Finished(
        exit_status=job.exit_status, log=livelog.tail(job), parameters=job.parameters,
        readings=collecting.read_all(job, kind), cards_wanted=job.cards_wanted,
        files=list(job.artifacts.values_list("name", flat=True)),
    )
    judgement = kind.judge(finished)
    kind.after(job, finished)
    return _judged(judgement, job)


def _judged(judgement: Judgement, job: Job | None = None) -> dict:
    state = JobState.SUCCEEDED if judgement.is_success else JobState.FAILED
    kept = job.results if job else {}
    return {**_end(state, judgement.message, **finite_json(judgement.values)),
            "results": {**kept, **finite_json(judgement.results)}}


def failed(message: str, cause: str = "") -> dict:
    """The changes that end a job as failed."""
    return _end(JobState.FAILED, message, cause=cause)


def _end(state: str, message: str, cause: str = "", **values) -> dict:
    return {"state": state, "message": message, "message_values": values,
            "technical_cause": cause[-20000:], "finished_at": timezone.now()}


def unreachable(job: Job, cause: str) -> dict:
    """The changes for a node that does not answer: unknown is not failed (PRODUCT rule 2)."""
    type(job.node).objects.filter(pk=job.node_id).update(last_error=cause[:400])
    before = job.state_before_unknown if job.state == JobState.UNKNOWN else job.state
    return {
        "state": JobState.UNKNOWN, "state_before_unknown": before,
        "message": gettext_noop("The node does not answer; the job's true state is not known."),
        "message_values": {}, "technical_cause": cause, "next_step_at": timezone.now() + AWAY,
    }


def refused_by_node(job: Job, error: Exception) -> dict:
    """A changed host key quarantines the node; the job waits in `unknown`."""
    changes = unreachable(job, f"{type(error).__name__}: {error}")
    if isinstance(error, ssh.HostKeyChanged):
        type(job.node).objects.filter(pk=job.node_id).update(state=job.node.State.QUARANTINED)
        changes["message"] = gettext_noop(
            "The node shows another host key than the pinned one; an operator must look.")
    else:
        changes["message"] = gettext_noop("The node refuses the login; check user and key.")
    return changes


def traceback_text(error: Exception) -> str:
    """The traceback for engineers, kept apart from the sentence for people."""
    return "".join(traceback.format_exception(error))[-20000:]


_STEPS = {
    JobState.QUEUED: _queued,
    JobState.LEASING: _leasing,
    JobState.STARTING: _starting,
    JobState.RUNNING: _running,
    JobState.COLLECTING: _collecting,
    JobState.READING: _reading,
}
