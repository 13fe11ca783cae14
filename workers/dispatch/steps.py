"""What a worker does for a job of one node in each state (`transitions.STEPS`)."""

import traceback
from collections import deque
from datetime import datetime, timedelta

from django.utils import timezone
from django.utils.translation import gettext_noop

from toolreaders.causes.log_parts import whole_lines
from toolreaders.verdicts.devices import NAMED
from workers import kinds, rule_checks, schedulers
from workers.artifacts.artifact_store import finite_json
from workers.dispatch import (
    card_queue,
    clusters,
    endings,
    gang_members,
    job_files,
    rest_of_log,
    staging,
)
from workers.dispatch.admission import admission
from workers.dispatch.endings import end, failed
from workers.dispatch.sentences import DISK_FULL, HELD, IN_LINE, REFUSALS, TOO_FEW_CARDS
from workers.kinds import Finished, Judgement, success_checks, unknown_kind
from workers.kinds.parameters import references_in
from workers.logs import diagnosis, live_log
from workers.models import Artifact, Job, JobState, Node, Purpose
from workers.nodes import card_leases, reachability, ssh
from workers.remote import replies, scripts
from workers.remote.replies import RemoteState
from workers.runtimes import chosen, command, software
from workers.runtimes.command import Launch

WAIT_FOR_CARDS = timedelta(seconds=3)
SLOW_STARTS = 6  # tries of five seconds each before a start is given up
LAST_PIECES = 4  # of a megabyte: of a log to be judged kept whole
MOST_LINES = 10_000  # kept of what stands before; the count of errors goes no further

NOT_READY = {
    Node.State.PENDING: gettext_noop("Waiting: the host key of the node is to be confirmed."),
    Node.State.UNTRIED: gettext_noop(
        "Waiting: the node has not passed its trial yet; an operator tries its log-in."),
    Node.State.MAINTENANCE: gettext_noop("Waiting: the node is in maintenance."),
    Node.State.QUARANTINED: gettext_noop(
        "Waiting: the node shows another host key and is in quarantine."),
    Node.State.RETIRED: gettext_noop("Waiting: the node is retired."),
}


def _why_not_ready(node: Node) -> dict | None:
    """What a job that would start says while its node starts none."""
    if node.state != Node.State.READY:
        return _wait(NOT_READY[node.state])
    if node.is_full:
        return _wait(DISK_FULL, free=node.scratch_free_mb, least=node.disk_limits[1])
    return None


def queued(job: Job) -> dict:
    if job.cancel_requested_at:
        return end(JobState.CANCELLED, endings.CANCELLED_BEFORE)
    kind = kinds.of_job(job)
    if not kind.is_known:
        return failed(unknown_kind.SENTENCE, kind=job.kind)
    if not kind.runs_on_node:
        return {"state": JobState.RUNNING, "started_at": timezone.now()}
    if references_in(kind.parameters, job.parameters):
        return {"state": JobState.STAGING}
    return {"state": JobState.LEASING, **lease(job)}


def stage(job: Job) -> dict:
    if job.cancel_requested_at:
        return end(JobState.CANCELLED, endings.CANCELLED_BEFORE)
    if waits := _why_not_ready(job.node):
        return waits
    return staging.step(job)


def lease(job: Job) -> dict:
    if job.cancel_requested_at:
        return end(JobState.CANCELLED, endings.CANCELLED_BEFORE)
    if job.hold_reason:
        return _wait(HELD, reason=job.hold_reason)
    if waits := _why_not_ready(job.node):
        return waits
    promises = admission(job.node, timezone.now())
    with promises.exclusively_for(job):
        if (obstacle := promises.obstacle(job)) and not card_leases.held_cards(job):
            return _wait(obstacle.message, **obstacle.values)
        leased = {}
        if job.cards_wanted and schedulers.of(job.node).leases_cards:
            place = card_queue.place_in_line(job, promises)
            cards = card_leases.take_cards(job) if place == 1 else None
            if cards is None:
                return _wait_for_cards(job, place)
            leased = {"results": {**job.results, "cards": cards}}
    return {"state": JobState.STARTING, "message": "", "message_values": {}, **leased}


def _wait_for_cards(job: Job, place: int) -> dict:
    usable = len(card_leases.usable_cards(job.node))
    if job.cards_wanted > usable:
        return _wait(TOO_FEW_CARDS, n=job.cards_wanted, usable=usable)
    return _wait(IN_LINE, n=job.cards_wanted,
                 free=len(card_leases.free_cards(job.node)), place=place)


def _wait(message: str, **values) -> dict:
    return {"message": message, "message_values": values,
            "next_step_at": timezone.now() + WAIT_FOR_CARDS}


def start(job: Job) -> dict:
    if job.cancel_requested_at:
        return endings.stop(job)
    if clusters.is_handed_over(job):
        return _ask(job)
    scheduler = schedulers.of(job.node)
    answer = ssh.run(job.access, scheduler.visit_script([(job, start_request(job))], []))
    return started(job, scheduler.start_words(answer.stdout, [job])[job.pk])


def start_request(job: Job) -> tuple[scripts.Place, str]:
    """Where the job shall start, and the text of its command."""
    return replies.place(job), command.text(_launch(job), chosen.of_job(job), job.node)


def started(job: Job, words: list[str]) -> dict:
    """What the node's words about a start mean for the job's row."""
    if (handed_over := clusters.started(job, words)) is not None:
        return handed_over
    if words[:1] == ["started"]:
        now = timezone.now()
        return {"state": JobState.RUNNING, "started_at": job.started_at or now,
                "message": "", "troubles": 0,
                "next_step_at": now + endings.poll_interval(job, now),
                "remote": dict(zip(("pid", "start_time", "boot_id"), words[1:], strict=False))}
    if words[:1] == ["refused"] and words[1] in REFUSALS:
        return failed(REFUSALS[words[1]], cause=" ".join(words))
    return _slow_start(job)


def never_started(job: Job, error: ssh.NoShell) -> dict:
    """For the first start of a job that no shell ran: proof that nothing of it ever did."""
    reachability.missed(job.access, str(error), reachability.trouble_of(error))
    return failed(gettext_noop(
        "The job was never started: the node lets us in, but its log-in shell does not run our "
        "commands. Look at the user's shell and its start-up files, such as .bashrc, and at "
        "ForceCommand in sshd_config."), cause=str(error))


def _slow_start(job: Job) -> dict:
    """The node has taken the job but shows no process yet; in the end it is made impossible."""
    if job.troubles < SLOW_STARTS:
        return endings.trouble(job, gettext_noop("The node has not started the command yet."))
    changes = endings.stop(job, signal="KILL")
    if changes.get("state") in endings.STOPPED:
        return failed(gettext_noop("The node did not start the command."))
    return changes


def _launch(job: Job) -> Launch:
    kind = kinds.of_job(job)
    variables = kind.environment(staging.placed_parameters(kind, job))
    cards = card_leases.held_cards(job) if job.cards_wanted else []
    if not job.gang_id:
        return Launch(job.command, variables, cards)
    return Launch(job.command, variables | gang_members.environment(job), cards,
                  gang_members.files(job), gang_members.paths(job))


def look_after(job: Job) -> dict:
    kind = kinds.of_job(job)
    if not kind.runs_on_node:
        judgement, outputs = kind.run_here(job, job.parameters)
        job_files.store_outputs(job, outputs)
        return _judged(judgement)
    return _ask(job)


def _ask(job: Job) -> dict:
    """Ask the scheduler of the job's node about it alone."""
    asked_at = timezone.now()
    return follow(job, schedulers.of(job.node).ask(job), asked_at)


def follow(job: Job, state: RemoteState, asked_at: datetime) -> dict:
    """What a running job's state on the node means for its row."""
    now, retained = timezone.now(), {}
    if state.container and job.results.get("container") != state.container:
        job.results = {**job.results, "container": state.container}
        retained = {"results": job.results}
    changes = {**retained, **job_files.follow_logs(job), **live_log.append(job, state),
               "heartbeat_at": state.heartbeat_at or job.heartbeat_at,
               "next_step_at": endings.next_poll(job, asked_at),
               **clusters.news(job, state, now)}
    if state.process == "gone" and state.has_more_log and state.exit_status is None:
        return {**changes, "next_step_at": now}
    if state.exit_status is not None:
        if state.oom_kills:
            job.remote = changes["remote"] = {**job.remote, "oom_kills": state.oom_kills}
        return {**changes, **_after_exit(job, state)}
    if state.is_lost(job.remote):
        return {**changes, **_without_status(job, state, "log_stored" in changes)}
    if job.cancel_requested_at or endings.is_overdue(job):
        return {**changes, **endings.stop_when_due(job)}
    if clusters.outlives_its_end(job, state):
        return {**changes, **endings.end_leftovers(job)}
    return changes


def _without_status(job: Job, state: RemoteState, has_new_log: bool) -> dict:
    """The command has ended without a word."""
    if has_new_log:  # keep this part first
        return {"next_step_at": timezone.now()}
    if ended := clusters.without_status(job, state):
        return ended
    job_files.store_log(job)
    return endings.lost_for_a_cause(state, job, diagnosis.of_job(job))


def _after_exit(job: Job, state: RemoteState) -> dict:
    """The command has ended: first ends what it left behind."""
    if state.process != "gone":
        return {"exit_status": state.exit_status, **endings.end_leftovers(job)}
    changes = {"state": JobState.COLLECTING, "exit_status": state.exit_status,
               "next_step_at": timezone.now()}
    if not state.has_more_log:
        return changes
    job.remote = {**job.remote, rest_of_log.SIZE: state.size}
    return {**changes, "remote": job.remote, **rest_of_log.said(
        state.exit_status, timezone.now(), state.offset + len(state.chunk), state.size)}


def collect(job: Job) -> dict:
    if rest_of_log.is_missing(job):
        return rest_of_log.fetch(job)
    try:
        changes = job_files.collect(job)
    except FileNotFoundError as error:
        return failed(gettext_noop(
            "The job's folder on the node has vanished; its files cannot be collected."),
                      cause=str(error))
    return {**changes, **_stopped_or_reading(job)}


def collected(job: Job, log: Artifact | None = None) -> dict:
    """The step after the command of a job that left no file to fetch: its log is stored."""
    job_files.store_log(job, log)
    return _stopped_or_reading(job)


def _stopped_or_reading(job: Job) -> dict:
    if stopped := endings.how_stopped(job):
        return stopped
    found = endings.left_on_cards(job)
    return found if "next_step_at" in found else {
        "state": JobState.READING, "message": "", "troubles": 0, "next_step_at": timezone.now(),
        **found}


def judge(job: Job) -> dict:
    if job.gang_id:
        return gang_members.judged(job)
    kind, artifacts = kinds.of_job(job), list(job.artifacts.all())
    finished = Finished(
        exit_status=job.exit_status, log=judged_text(job), parameters=job.parameters,
        readings=job_files.read_all(artifacts, kind), cards_wanted=job.cards_wanted,
        files=[artifact.name for artifact in artifacts],
        is_of_source=job.purpose == Purpose.SOURCE,
    )
    judgement = kind.judge(finished)
    kind.after(job, finished)
    outcome = rule_checks.of_job(job, artifacts)
    job.results = {**job.results, "rule_outcome": finite_json(outcome),
                   "software": software.of_job(job)}
    judged = _judged(judgement, job)
    if (true_end := clusters.true_end(job, judged)) is not judged:
        return true_end
    if judgement.is_success or (finished.exit_status == 0 and finished.readings):
        return judged  # a command that ended well failed for what its files show
    return endings.explained(judged, diagnosis.of_job(job), finished.log)


def judged_text(job: Job) -> str:
    """What of a log its kind judges: its end, and of what stands before it every line that counts.

    A line counts if it reports an error, names the device that was used, or was written by a
    script of ours: an error in the middle of a long log must not be missed. Of the further logs,
    where the processes of launchers such as msrun write, what names the device.
    """
    last: deque[str] = deque()
    further = job.logs.all() if job_files.log_globs(job) else ()
    before = [line for log in further for text in whole_lines(live_log.pieces(log))
              for line in filter(NAMED.search, text.splitlines())][:MOST_LINES]
    for text in whole_lines(live_log.pieces(job)):
        last.append(text)
        if len(last) > LAST_PIECES and len(before) < MOST_LINES:
            before += filter(success_checks.counts, last[0].splitlines())
        if len(last) > LAST_PIECES:
            last.popleft()
    return "".join([*(f"{line[:2000]}\n" for line in before[:MOST_LINES]), *last])


def _judged(judgement: Judgement, job: Job | None = None) -> dict:
    state = JobState.SUCCEEDED if judgement.is_success else JobState.FAILED
    retained = {"cards": [], **job.results} if job else {}
    return {**end(state, judgement.message, **finite_json(judgement.values)),
            "results": {**retained, **finite_json(judgement.results)}}


def traceback_text(error: Exception) -> str:
    """The traceback for engineers, kept apart from the sentence for people."""
    return "".join(traceback.format_exception(error))[-20000:]
