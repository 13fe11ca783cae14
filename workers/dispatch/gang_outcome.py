"""How a job on several nodes ended: which rank failed first and why, and whose files are read."""

import re
from datetime import timedelta

from django.db import transaction
from django.utils.translation import gettext_noop

from engagements.audit import audit_log
from engagements.text.nested_sentences import nested
from workers.dispatch import endings, gang_members
from workers.dispatch.sentences import FAILED_FIRST, STOPPED_SENTENCES
from workers.logs.live_log import LOG_NAME
from workers.models import Artifact, Job, JobState
from workers.nodes import ssh
from workers.remote import replies

# What a rank says when another one has gone: it waited, or its connection broke.
FOLLOWS = re.compile(
    r"connection (?:closed|reset|refused)|broken pipe|connectfull|socket[^\n]{0,40}time ?d? ?out|"
    r"hccl[^\n]{0,80}time ?d? ?out|heartbeat|rendezvous|remote (?:process|peer)|SIGTERM",
    re.IGNORECASE)
WAITED_FOR_OTHERS = frozenset({"hccl_timeout"})
CLOCKS_AGREE = timedelta(seconds=2)
CLEAN = STOPPED_SENTENCES[JobState.CANCELLED][0]


def has_failed(member: Job) -> bool:
    """Whether the member's end means the end of all; also before it is final."""
    if member.is_final:
        return member.state != JobState.SUCCEEDED
    return bool(member.exit_status) and member.cancel_requested_at is None


def first_failed(members: list[Job]) -> Job | None:
    """The member whose failure made the others fail; None where none failed by itself.

    First comes a node that was lost; then a rank whose log shows a cause of its own, before those
    that lost a connection or waited in vain; among equals the one whose command ended first.
    """
    failed = [member for member in members
              if member.state in (JobState.FAILED, JobState.LOST, JobState.TIMED_OUT)]
    if len(failed) < 2:
        return failed[0] if failed else None
    ended = _ends(failed)
    return min(failed, key=lambda member: (_weight(member), ended.get(member.pk, float("inf")),
                                           member.rank))


def _weight(member: Job) -> int:
    if member.state == JobState.LOST:
        return 0
    found = member.results.get("diagnosis")
    if found and found["cause"] not in WAITED_FOR_OTHERS:
        return 1
    if found or FOLLOWS.search(member.technical_cause):
        return 3
    return 2 if member.state == JobState.FAILED else 4


def _ends(members: list[Job]) -> dict[int, float]:
    """When the commands ended, in seconds by the desk's clock, of nodes that answer."""
    by_access = {member.access: member for member in members}
    found = {}
    for access, answer in ssh.run_many([
            (access, f'{replies.place(member).text()}stat -c %.6Y "$job/exit" 2>/dev/null || '
                     'stat -c %Y "$job/exit"\n') for access, member in by_access.items()]):
        if isinstance(answer, ssh.Answer) and (words := answer.stdout.split()):
            member = by_access[access]
            offset = timedelta(seconds=member.node.clock_offset_seconds or 0)
            shift = offset.total_seconds() if abs(offset) > CLOCKS_AGREE else 0
            try:
                found[member.pk] = float(words[-1]) - shift
            except ValueError:
                continue
    return found


def failure(first: Job, restarts: int) -> dict:
    """The final changes of the job for the member that failed first, with its diagnosis."""
    values = {"rank": first.rank, "node": first.node.name,
              "why": nested(first.message, first.message_values), "restarts": restarts}
    message = gettext_noop("Node %(rank)d (%(node)s) failed first: %(why)s")
    if restarts:
        message = FAILED_FIRST
    return {**endings.end(first.state, message, cause=first.technical_cause, **values),
            "exit_status": first.exit_status}


def cancelled(members: list[Job]) -> dict:
    """The final changes of a job that a person cancelled: what the nodes say of the rest."""
    unclean = next((member for member in members if member.state == JobState.CANCELLED
                    and member.message not in (CLEAN, gang_members.NEVER_STARTED)), None)
    if unclean:
        return endings.end(
            JobState.CANCELLED, gettext_noop("On %(node)s: %(why)s"), node=unclean.node.name,
            why=nested(unclean.message, unclean.message_values))
    return endings.end(JobState.CANCELLED, gettext_noop(
        "Cancelled on all %(n)d nodes; nothing of it runs any more."), n=len(members))


def speaker(members: list[Job]) -> Job:
    """Whose log stands for the job: the last rank that shows a loss (Megatron prints it there),
    else the first."""
    return next((member for member in reversed(members) if member.last_loss is not None),
                members[0])


def take_over(job: Job, members: list[Job], main: Job) -> None:
    """Give the job the files of its members, so that they are read and judged as one.

    Names are those in the work folders. Of a name that several nodes have, the file of `main` is
    taken, else that of the lowest rank; so is the log. The others stay with their members.
    """
    have = set(job.artifacts.values_list("name", flat=True))
    new = []
    for member in [main, *(each for each in members if each != main)]:
        for artifact in member.artifacts.order_by("pk"):
            if artifact.name in have or (artifact.name == LOG_NAME and member != main):
                continue
            have.add(artifact.name)
            new.append(Artifact(
                job=job, engagement=job.engagement, model=job.model, name=artifact.name,
                file=artifact.file.name, size=artifact.size, sha256=artifact.sha256,
                node_sha256=artifact.node_sha256, masking=artifact.masking,
                is_practice=artifact.is_practice))
    with transaction.atomic():
        Artifact.objects.bulk_create(new)
        if new:
            audit_log.record(actor=None, action="artifact.store", target=new[0],
                             engagement=job.engagement, data={"files": len(new)})
