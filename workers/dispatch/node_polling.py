"""Visits: one script starts and polls all jobs of a node that are due; all nodes at once.

A hundred short jobs cost a handful of scripts, and a thousand long ones a hundred polls.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from workers import kinds, schedulers
from workers.artifacts import transfer
from workers.artifacts.artifact_store import found_in
from workers.dispatch import (
    clusters,
    endings,
    enqueueing,
    job_files,
    rest_of_log,
    steps,
    transitions,
)
from workers.dispatch.job_claims import claimed
from workers.dispatch.runner import guarded, look_again_soon, without_troubles, write, write_alike
from workers.models import Artifact, Job, JobState, Node
from workers.models.job import WAITING_STATES
from workers.nodes import reachability, ssh
from workers.nodes.cards import samples
from workers.remote import scripts
from workers.remote.replies import RemoteState

SHORT_LOG = 64 * 1024  # bytes of one that is judged in the transaction of the end
POLLED = (*WAITING_STATES, JobState.STARTING, JobState.RUNNING)
STARTS = 16  # of one node at once: their processes begin together
QUIET = {"heartbeat_at", "next_step_at"}  # the changes of a job that has no news


def due_jobs(limit: int = 200) -> list[int]:
    """Ids of due jobs that take a step of their own, apart from visits."""
    jobs = Job.objects.due(timezone.now()).exclude(state__in=POLLED, node__isnull=False)
    return list(jobs.order_by("next_step_at").values_list("pk", flat=True)[:limit])


def due_nodes() -> tuple[list[int], list[int]]:
    """Ids of nodes with jobs to ask about: those that answered last time, and the others."""
    waiting = Job.objects.due(timezone.now()).filter(state__in=POLLED, node__isnull=False)
    nodes = Node.objects.filter(pk__in=waiting.values("node"))
    found = list(nodes.values_list("pk", "unreachable_since"))
    return ([pk for pk, since in found if since is None],
            [pk for pk, since in found if since is not None])


def poll_nodes(node_ids: list[int]) -> None:
    """Start and poll what is due on these nodes, and finish what has ended there."""
    with claimed(Job.objects.filter(state__in=POLLED, node__in=node_ids)) as claim:
        if not claim:
            return
        waiting = {jobs[0].access: jobs for jobs in _by_access(claim) if jobs}
        scripts = [(access, _script(jobs)) for access, jobs in waiting.items()]
        asked_at = timezone.now()
        for access, answer in ssh.run_many(scripts):
            _apply_answer(waiting[access], answer, asked_at)


def _by_access(claim: str) -> Iterator[list[Job]]:
    """The jobs to be asked about, by node and log-in; those that wait for something are written."""
    found: dict[tuple, list[Job]] = {}
    jobs = Job.objects.filter(claim_token=claim).order_by("pk")
    for job in jobs.select_related("node", "login", "engagement", "model", "created_by"):
        found.setdefault((job.node_id, job.login_id), []).append(job)
    for jobs in found.values():
        asked = _to_be_asked(jobs)
        starts, running = _apart(asked)
        for job in starts[STARTS:]:
            write(job, {})
        if starts[STARTS:]:
            enqueueing.poll([jobs[0].node_id])
        yield running + starts[:STARTS]


def _to_be_asked(jobs: list[Job]) -> list[Job]:
    """Those that start or run, in their order. They are `starting` before a node hears of them."""
    asked, changed = {job.pk for job in jobs if not _is_ours_to_step(job)}, []
    for job in jobs:
        if job.pk not in asked:
            changed.append((job, guarded(job, lambda job=job: transitions.step(job))))
    for job in write_alike(changed):
        if job.state == JobState.STAGING:  # takes as long as files do: a step of its own
            write(job, {})
            enqueueing.advance(job.pk)
        else:
            job.is_first_start = True  # no node has heard of it
            asked.add(job.pk)
    return [job for job in jobs if job.pk in asked]


def _is_ours_to_step(job: Job) -> bool:
    """Whether the next step is one without the node, or one that ends a start."""
    return job.state in WAITING_STATES or bool(
        job.state == JobState.STARTING and job.cancel_requested_at)


def _script(jobs: list[Job]) -> str:
    starts, running = _apart(jobs)
    seconds = samples.wanted_seconds(jobs[0].node, timezone.now()) if running else 0
    return schedulers.of(jobs[0].node).visit_script(
        [(job, steps.start_request(job)) for job in starts], jobs,
        {job.directory_name for job in jobs if job_files.wants_files(job)}, seconds)


def _apart(jobs: list[Job]) -> tuple[list[Job], list[Job]]:
    """Those that start, and those that run or that a scheduler has."""
    starts = [job for job in jobs if _is_to_start(job)]
    return starts, [job for job in jobs if job not in starts]


def _is_to_start(job: Job) -> bool:
    return job.state == JobState.STARTING and not clusters.is_handed_over(job)


@dataclass
class NodeReply:
    """What a node replied about its jobs, or in its place what went wrong.

    Args:
        words: of each start. states: of each job. listing: files of those that have ended.
        logs: whose bytes are stored, and whose rows are to be with the end of the job.
        asked_at: before the node was asked.
    """

    words: dict[int, list[str]] | Exception
    states: dict[int, RemoteState] | Exception
    listing: transfer.Listing = field(default_factory=dict)
    logs: dict[int, Artifact | None] = field(default_factory=dict)
    asked_at: datetime = field(default_factory=timezone.now)


def _understood(jobs: list[Job], answer: ssh.Answer | Exception) -> NodeReply:
    if isinstance(answer, Exception):
        return NodeReply(answer, answer)
    scheduler = schedulers.of(jobs[0].node)
    try:
        words = scheduler.start_words(answer.stdout, _apart(jobs)[0])
    except ssh.ScriptFailed:
        failed = ssh.AnswerIncomplete(answer)
        return NodeReply(failed, failed)
    except ssh.Unreachable as error:
        return NodeReply(error, error)
    try:
        states, end = scheduler.read_states(answer.stdout, jobs)
        return NodeReply(words, states, _listing(jobs, states, answer.stdout, end))
    except ssh.ScriptFailed:
        return NodeReply(words, ssh.AnswerIncomplete(answer))
    except ssh.Unreachable as error:
        return NodeReply(words, error)


def _listing(jobs: list[Job], states: dict[int, RemoteState], output: bytes, position: int
             ) -> transfer.Listing:
    if any(states[job.pk].has_ended and job_files.wants_files(job) for job in jobs):
        return transfer.read_listing(output, position)
    return {}


def _apply_answer(jobs: list[Job], answer: ssh.Answer | Exception, asked_at: datetime) -> None:
    """Write what one node answered about its jobs; those without news share one update."""
    reply, quiet = _understood(jobs, answer), []
    reply.asked_at = asked_at
    for job in jobs:
        changes = _changes(job, reply, (_started, _followed))
        if _ends_at_once(job, reply):
            _end_at_once(job, reply, changes)
            continue
        changes |= _changes(job, reply, (_collected, _read))
        if set(changes) == QUIET:
            quiet.append((job, changes))
        else:
            write(job, changes)
    _write_quiet(quiet)
    if isinstance(answer, ssh.Answer):
        samples.keep(jobs[0].node, answer.stdout, scripts.SAMPLE_MARK)
    look_again_soon(jobs)


def _ends_at_once(job: Job, reply: NodeReply) -> bool:
    """Whether the job ended by itself with a short log, and no node is asked any more."""
    return (job.state == JobState.COLLECTING and reply.states[job.pk].size <= SHORT_LOG
            and not job.gang_id and _is_collected(job, reply))


def _end_at_once(job: Job, reply: NodeReply, changes: dict) -> None:
    """The log and the end in one transaction, with one entry in the audit log: half of what a
    trivial job costs are entries. What takes long, the log's reading, comes before."""
    if trouble := guarded(job, lambda: _keep_log(job, reply)):
        write(job, changes | trouble)
        return
    with transaction.atomic():
        ours = Job.objects.filter(pk=job.pk, claim_token=job.claim_token)
        if ours.select_for_update(of=("self",), no_key=True).exists():
            write(job, changes | _changes(job, reply, (_collected, _read)))


def _keep_log(job: Job, reply: NodeReply) -> dict:
    log = reply.logs[job.pk] = job_files.kept_log(job)
    if log and kinds.of_job(job).reads_log:
        found_in(log)  # and remembers it
    return {}


def _changes(job: Job, reply: NodeReply, allowed: tuple[Callable, ...]) -> dict:
    """What the answer means for one job: all the steps it allows, and they are written at once.

    The steps are those of `transitions.STEPS`; each can be repeated after a crash before the
    write.
    """
    changes: dict = {}
    for step in allowed:
        more = guarded(job, lambda step=step: step(job, reply))
        changes |= more
        for name, value in more.items():
            setattr(job, name, value)
    return changes


def _started(job: Job, reply: NodeReply) -> dict:
    if not _is_to_start(job):
        return {}
    if isinstance(reply.words, ssh.NoShell) and getattr(job, "is_first_start", False):
        return steps.never_started(job, reply.words)
    if isinstance(reply.words, Exception):
        raise reply.words
    changes = steps.started(job, reply.words[job.pk])
    reachability.seen(job.node)
    return changes


def _followed(job: Job, reply: NodeReply) -> dict:
    if job.state != JobState.RUNNING and not clusters.is_handed_over(job):
        return {}
    if isinstance(reply.states, Exception):
        raise reply.states
    state = reply.states[job.pk]
    reachability.seen(job.node, state)
    return without_troubles(job, steps.follow(job, state, reply.asked_at))


def _collected(job: Job, reply: NodeReply) -> dict:
    """For a job that left nothing to fetch; the transfers of others are steps of their own, and so
    is the last look for what runs of a job that was stopped or had cards."""
    if job.state != JobState.COLLECTING or not _is_collected(job, reply):
        return {}
    return steps.collected(job, reply.logs.get(job.pk))


def _is_collected(job: Job, reply: NodeReply) -> bool:
    if endings.needs_last_look(job) or job_files.log_globs(job) or rest_of_log.is_missing(job):
        return False
    found = reply.listing.get(job.directory_name) if job_files.wants_files(job) else []
    return not (found is None or job_files.missing_files(job, found)
                or job_files.special_files(job, found))


def _read(job: Job, reply: NodeReply) -> dict:
    return transitions.step(job) if job.state == JobState.READING else {}


def _write_quiet(found: list[tuple[Job, dict]]) -> None:
    groups: dict[tuple, list[Job]] = {}
    for job, changes in found:
        job.next_step_at = changes["next_step_at"].replace(microsecond=0)
        groups.setdefault((changes["heartbeat_at"], job.next_step_at), []).append(job)
    for (heartbeat, next_step), jobs in groups.items():
        Job.objects.filter(pk__in=[job.pk for job in jobs], claim_token=jobs[0].claim_token).update(
            claim_token="", claimed_until=None, heartbeat_at=heartbeat, next_step_at=next_step)
