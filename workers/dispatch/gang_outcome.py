"""How a job on several nodes ended: which rank failed first and why, and whose files are read."""

import contextlib
import re

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_noop

from engagements.audit import audit_log
from engagements.text.nested_sentences import nested
from toolreaders.causes.log_causes import SYMPTOMS
from workers.dispatch import endings, gang_members
from workers.dispatch.sentences import ATTRIBUTED, FAILED_FIRST, STOPPED_SENTENCES
from workers.logs.live_log import LOG_NAME
from workers.models import Artifact, Job, JobState
from workers.nodes import ssh
from workers.remote import replies

# What a rank says when another one has gone: it waited, or its connection broke.
FOLLOWS = re.compile(
    r"connection (?:closed|reset|refused)|broken pipe|connectfull|socket[^\n]{0,40}time ?d? ?out|"
    r"hccl[^\n]{0,80}time ?d? ?out|heartbeat|rendezvous|remote (?:process|peer)|SIGTERM",
    re.IGNORECASE)
# With a name or rank on the line: what a rank says of another one that failed.
OF_ANOTHER = re.compile(
    rf"{FOLLOWS.pattern}|fail|lost|exited|terminat|died|dead|abort|kill|time ?d? ?out|unreachable|"
    r"not respond", re.IGNORECASE)
OWN_PREFIX = re.compile(r"^\W*(?:default\d+\W*)?\[?rank[ :]?\d+\]?:", re.IGNORECASE)  # of torch
RANK = re.compile(r"rank(?:[ _]?id)?[\s:=\[(#]*(\d+)", re.IGNORECASE)
UNSPECIFIC = {cause.code for cause in SYMPTOMS}  # only their words tell whether they follow
TOLD_APART = 1  # seconds that an answer may take
CLEAN = STOPPED_SENTENCES[JobState.CANCELLED][0]


def has_failed(member: Job) -> bool:
    """Whether the member's end means the end of all; also before it is final."""
    if member.is_final:
        return member.state != JobState.SUCCEEDED
    return bool(member.exit_status) and member.cancel_requested_at is None


def first_failed(members: list[Job]) -> Job | None:
    """The member whose failure made the others fail; None where none failed by itself.

    A rank that only lost another one, or waited for it, comes after all that ended by themselves;
    so does one whose log names another that failed and does not name it.
    Of its equals the one whose command ended first counts; where the nodes' answers do not tell
    two ends apart, a lost node, then a rank whose log shows a cause.
    """
    failed = [member for member in members
              if member.state in (JobState.FAILED, JobState.LOST, JobState.TIMED_OUT)]
    if len(failed) < 2:
        return failed[0] if failed else None
    standing = {member.pk: max(_standing(member), int(any(
        names(member, other) and not names(other, member) for other in failed)))
        for member in failed}
    equals = [member for member in failed if standing[member.pk] == min(standing.values())]
    ended = dict.fromkeys((member.pk for member in equals), float("inf")) | _ends(equals)
    earliest = min(ended.values())
    at_once = [member for member in equals if ended[member.pk] <= earliest + TOLD_APART]
    return min(at_once, key=lambda member: (
        member.state != JobState.LOST, "diagnosis" not in member.results, ended[member.pk],
        member.rank))


def _standing(member: Job) -> int:
    """0 for a rank that ended by itself, 1 for one that lost or awaited another, 2 at the limit."""
    if member.state != JobState.FAILED:
        return 0 if member.state == JobState.LOST else 2
    if (found := member.results.get("diagnosis")) is None:
        return int(bool(FOLLOWS.search(member.technical_cause)))
    return int(bool(found.get("waits") or (
        found["cause"] in UNSPECIFIC and FOLLOWS.search(found["quote"]))))


def names(member: Job, other: Job) -> bool:
    """Whether the end of a rank's log tells that another one failed, by the name or the address of
    its node or by a rank: of a process where the cards tell how many each node has."""
    if member == other or member.state != JobState.FAILED:
        return False
    words = {getattr(other.node, name) for name in ("name", "host", "cluster_address")} - {
        "", member.node.name, member.node.host, member.node.cluster_address}
    named = re.compile("|".join(rf"(?<![\w.-]){re.escape(word)}(?![\w-]|\.\w)" for word in words)
                       or "(?!)")
    each = max(1, member.cards_wanted)
    return any(OF_ANOTHER.search(line) and (
        named.search(line) or any(int(number) // each == other.rank
                                  for number in RANK.findall(OWN_PREFIX.sub("", line))))
               for line in member.technical_cause.splitlines())


def _ends(members: list[Job]) -> dict[int, float]:
    """When the commands ended, by the desk's clock: each node tells how long ago that was by its
    own. Of a lost node, when it was last seen to run it; nothing of nodes that do not answer."""
    found = {member.pk: member.heartbeat_at.timestamp() - (member.node.clock_offset_seconds or 0)
             for member in members if member.state == JobState.LOST and member.heartbeat_at}
    by_access = {member.access: member for member in members if member.pk not in found}
    for access, answer in ssh.run_many([
            (access, f'{replies.place(member).text()}stat -Lc %.6Y "$job/exit" /proc/self '
                     '2>/dev/null || stat -Lc %Y "$job/exit" /proc/self\n')
            for access, member in by_access.items()]):
        arrived = timezone.now().timestamp()
        if isinstance(answer, ssh.Answer):
            with contextlib.suppress(ValueError):
                end, now = map(float, answer.stdout.split()[-2:])
                found[by_access[access].pk] = arrived - (now - end)
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
                    and member.message not in (
                        CLEAN, ATTRIBUTED, gang_members.NEVER_STARTED)), None)
    if unclean:
        return endings.end(
            JobState.CANCELLED, gettext_noop("On %(node)s: %(why)s"), node=unclean.node.name,
            why=nested(unclean.message, unclean.message_values))
    if any(member.message == ATTRIBUTED for member in members):
        return endings.end(JobState.CANCELLED, gettext_noop(
            "Cancelled on all %(n)d nodes; no process that can be attributed to it runs any "
            "more."), n=len(members))
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
