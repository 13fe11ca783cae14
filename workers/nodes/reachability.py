"""What contacts with a node tell about it: when it was seen, since when it is away, and why."""

import re
from datetime import datetime, timedelta
from typing import Protocol

from django.db import transaction
from django.utils import timezone

from engagements.audit import audit_log
from workers.models import Node, NodeContact, NodeLogin, Trouble
from workers.nodes import ssh

OFTEN_ENOUGH = timedelta(seconds=10)
BELOW = re.compile(r"\[Errno -?\d+\] [^'\"()<>\[]+|(?:connection |read |connect )?timed out|"
                   r"certificate verify failed[^'\"()<>\[]*", re.IGNORECASE)
CLOCKS_AGREE = 5  # seconds: an answer is on its way, and a busy node takes its time


class SchedulerAway(ssh.Unreachable):
    """The log-in node answers, its cluster's scheduler does not."""


def scheduler_away(error: Exception) -> SchedulerAway:
    """For an error of a cluster's client: what lies below the names of the libraries' classes."""
    found = BELOW.search(str(error))
    return SchedulerAway(found[0].strip() if found else str(error) or "no answer")


class ClockReading(Protocol):
    """An answer that may tell the node's own time."""

    node_time: datetime | None
    boot_id: str


def clock_offset_seconds(reading: ClockReading, now: datetime) -> int | None:
    """Seconds that the node's clock is ahead of ours (AR-17); None if it did not say."""
    return round((reading.node_time - now).total_seconds()) if reading.node_time else None


def seen(node: Node, state: ClockReading | None = None) -> None:
    """The node answered. Written at most every ten seconds, at once after an absence."""
    now = timezone.now()
    if node.unreachable_since is None and node.last_seen_at \
            and now - node.last_seen_at < OFTEN_ENOUGH \
            and not _tells_another_clock(node, state, now):
        return
    changes = {"last_seen_at": now, "last_error": "", "trouble": "", "unreachable_since": None}
    if state is not None:
        changes["clock_offset_seconds"] = clock_offset_seconds(state, now)
        changes["boot_id"] = state.boot_id or node.boot_id
    returned = Node.objects.filter(pk=node.pk, unreachable_since__isnull=False).update(**changes)
    if returned:
        NodeContact.objects.create(node=node, is_reachable=True, at=now)
    else:
        Node.objects.filter(pk=node.pk).update(**changes)
    for name, value in changes.items():
        setattr(node, name, value)


def _tells_another_clock(node: Node, state: ClockReading | None, now: datetime) -> bool:
    offset = clock_offset_seconds(state, now) if state else None
    return offset is not None and (node.clock_offset_seconds is None
                                   or abs(offset - node.clock_offset_seconds) > CLOCKS_AGREE)


def missed(access: Node | NodeLogin, cause: str, trouble: str = Trouble.AWAY) -> None:
    """The node could not be asked; its absence is counted from the first time.

    A log-in of one engagement that is refused says nothing about the node: it is kept there.
    """
    now, cause = timezone.now(), cause[:400]
    if isinstance(access, NodeLogin):
        if trouble in (Trouble.LOGIN, Trouble.SHELL):
            NodeLogin.objects.filter(pk=access.pk).update(refused_at=now, refused_cause=cause)
            return
        access = access.node
    away = {"unreachable_since": now, "last_error": cause, "trouble": trouble}
    if Node.objects.filter(pk=access.pk, unreachable_since=None).update(**away):
        NodeContact.objects.create(node=access, is_reachable=False, cause=cause, at=now,
                                   trouble=trouble)
    else:  # still away, perhaps for another reason
        Node.objects.filter(pk=access.pk).exclude(trouble=trouble).update(
            last_error=cause, trouble=trouble)


def trouble_of(error: Exception) -> Trouble:
    """Which trouble an exception of `workers.nodes.ssh` means."""
    kinds = {ssh.HostKeyChanged: Trouble.KEY, ssh.LoginRefused: Trouble.LOGIN,
             ssh.NoShell: Trouble.SHELL, SchedulerAway: Trouble.QUEUE,
             ssh.NoAlgorithm: Trouble.ALGORITHM, ssh.ChannelRefused: Trouble.CHANNEL,
             ssh.CommandTimedOut: Trouble.TIMEOUT}
    return kinds.get(type(error), Trouble.AWAY)


@transaction.atomic
def quarantine(node: Node) -> None:
    """No job starts any more on a node that shows another host key; written once."""
    changed = Node.objects.filter(pk=node.pk).exclude(
        state__in=(Node.State.QUARANTINED, Node.State.PENDING)).update(state=Node.State.QUARANTINED)
    if changed:
        audit_log.record(actor=None, action="node.quarantine", target=node)
