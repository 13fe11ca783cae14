"""Visits: one script starts and polls all jobs of a node that are due; all nodes at once.

A hundred short jobs cost a handful of scripts, and a thousand long ones a hundred polls.
"""

from collections.abc import Iterator

from django.utils import timezone

from workers import collecting, dispatch, reachability, remote, remote_state, ssh, steps
from workers.claims import claimed, due
from workers.models import Job, JobState, Node
from workers.runner import guarded, look_again_soon, without_troubles, write
from workers.ssh import Unreachable

VISITED = (JobState.QUEUED, JobState.LEASING, JobState.STARTING, JobState.RUNNING)
STARTS = 16  # of one node at once: their processes begin together
QUIET = {"heartbeat_at", "next_step_at"}  # the changes of a job that has no news


def due_jobs(limit: int = 200) -> list[int]:
    """Ids of due jobs that take a step of their own, apart from visits."""
    jobs = due(timezone.now()).exclude(state__in=VISITED, node__isnull=False)
    return list(jobs.order_by("next_step_at").values_list("pk", flat=True)[:limit])


def due_nodes() -> tuple[list[int], list[int]]:
    """Ids of nodes with jobs to ask about: those that answered last time, and the others."""
    waiting = due(timezone.now()).filter(state__in=VISITED, node__isnull=False)
    nodes = Node.objects.filter(pk__in=waiting.values("node"))
    found = list(nodes.values_list("pk", "unreachable_since"))
    return ([pk for pk, since in found if since is None],
            [pk for pk, since in found if since is not None])


def visit_nodes(node_ids: list[int]) -> None:
    """Start and poll what is due on these nodes, and finish what has ended there."""
    with claimed(Job.objects.filter(state__in=VISITED, node__in=node_ids)) as claim:
        if not claim:
            return
        waiting = {jobs[0].access: jobs for jobs in _by_access(claim) if jobs}
        scripts = [(access, _script(jobs)) for access, jobs in waiting.items()]
        for access, answer in ssh.run_many(scripts):
            _apply_answer(waiting[access], answer)


def _by_access(claim: str) -> Iterator[list[Job]]:
    """The jobs to be asked about, by node and log-in; those that wait for something are written."""
    found: dict[tuple, list[Job]] = {}
    for job in Job.objects.filter(holder=claim).select_related(
            "node", "engagement", "login").order_by("pk"):
        found.setdefault((job.node_id, job.login_id), []).append(job)
    for jobs in found.values():
        asked = [job for job in jobs if _is_to_be_asked(job)]
        starts, running = _apart(asked)
        for job in starts[STARTS:]:
            write(job, {})
        if starts[STARTS:]:
            dispatch.send_visit([jobs[0].node_id])
        yield running + starts[:STARTS]


def _is_to_be_asked(job: Job) -> bool:
    while job.state in (JobState.QUEUED, JobState.LEASING) or (
            job.state == JobState.STARTING and job.cancel_requested_at):
        if not write(job, guarded(job, lambda: steps.step(job)), keep=True):
            return False
    return True


def _script(jobs: list[Job]) -> str:
    starts, running = _apart(jobs)
    return remote.visit_script([steps.start_request(job) for job in starts],
                               remote_state.poll_requests(running))


def _apart(jobs: list[Job]) -> tuple[list[Job], list[Job]]:
    """Those that start, and those that run."""
    return ([job for job in jobs if job.state == JobState.STARTING],
            [job for job in jobs if job.state == JobState.RUNNING])


def _apply_answer(jobs: list[Job], answer: ssh.Answer | Exception) -> None:
    """Write what one node answered about its jobs; those without news share one update."""
    words, states = _understood(jobs, answer)
    quiet, ended = [], []
    for job in jobs:
        changes = guarded(job, lambda job=job: _changes(job, words, states))
        if set(changes) == QUIET:
            quiet.append((job, changes))
        elif write(job, changes, keep=changes.get("state") == JobState.COLLECTING):
            ended.append(job)
    _write_quiet(quiet)
    finish(ended)
    look_again_soon(jobs)


def _understood(jobs: list[Job], answer) -> tuple[dict | Exception, dict | Exception]:
    """Words of starts and states of runs by job; in their place, what went wrong."""
    starts, running = _apart(jobs)
    if isinstance(answer, Exception):
        return answer, answer
    return (_or_error(remote_state.start_words, answer.stdout, starts),
            _or_error(remote_state.parse, answer.stdout, running))


def _or_error(parse, output: bytes, jobs: list[Job]) -> dict | Exception:
    try:
        return parse(output, jobs)
    except Unreachable as error:
        return error


def _changes(job: Job, words, states) -> dict:
    """What the answer means for one job. Raises what the node gave in place of an answer."""
    found = words if job.state == JobState.STARTING else states
    if isinstance(found, Exception):
        raise found
    if job.state == JobState.STARTING:
        reachability.seen(job.node)
        return steps.started(job, found[job.pk])
    reachability.seen(job.node, found[job.pk])
    return without_troubles(job, steps.follow(job, found[job.pk]))


def _write_quiet(found: list[tuple[Job, dict]]) -> None:
    groups: dict[tuple, list[Job]] = {}
    for job, changes in found:
        job.next_step_at = changes["next_step_at"].replace(microsecond=0)
        groups.setdefault((changes["heartbeat_at"], job.next_step_at), []).append(job)
    for (heartbeat, next_step), jobs in groups.items():
        Job.objects.filter(pk__in=[job.pk for job in jobs], holder=jobs[0].holder).update(
            holder="", holder_until=None, heartbeat_at=heartbeat, next_step_at=next_step)


def finish(jobs: list[Job]) -> None:
    """Jobs of one node that have just ended: their files are listed together.

    What has no file to fetch is finished here; the transfers of others are steps of their own.
    """
    missing = collecting.missing_files(jobs) if jobs else {}
    for job in jobs:
        files = missing[job.pk]
        if isinstance(files, Exception):
            write(job, guarded(job, lambda error=files: _raise(error)))
        elif files:
            write(job, {})
        else:
            goes_on = write(job, guarded(job, lambda job=job: steps.collected(job)), keep=True)
            while goes_on:
                goes_on = write(job, guarded(job, lambda job=job: steps.step(job)), keep=True)


def _raise(error: Exception) -> dict:
    raise error
