"""What contacts with a node tell about it: when it was seen, since when it is away."""

from datetime import timedelta

from django.utils import timezone

from workers.models import Node, NodeContact
from workers.remote_state import RemoteState, clock_offset_seconds

OFTEN_ENOUGH = timedelta(seconds=10)


def seen(node: Node, state: RemoteState | None = None) -> None:
    """The node answered. Written at most every ten seconds, at once after an absence."""
    now = timezone.now()
    if node.unreachable_since is None and node.last_seen_at \
            and now - node.last_seen_at < OFTEN_ENOUGH:
        return
    changes = {"last_seen_at": now, "last_error": "", "unreachable_since": None}
    if state is not None:
        changes["clock_offset_seconds"] = clock_offset_seconds(state, now)
    returned = Node.objects.filter(pk=node.pk, unreachable_since__isnull=False).update(**changes)
    if returned:
        NodeContact.objects.create(node=node, is_reachable=True, at=now)
    else:
        Node.objects.filter(pk=node.pk).update(**changes)
    for name, value in changes.items():
        setattr(node, name, value)


def missed(node: Node, cause: str) -> None:
    """The node did not answer; its absence is counted from the first time."""
    now, cause = timezone.now(), cause[:400]
    left = Node.objects.filter(pk=node.pk, unreachable_since=None).update(
        unreachable_since=now, last_error=cause)
    if left:
        NodeContact.objects.create(node=node, is_reachable=False, cause=cause, at=now)
