"""When a job on several nodes may take its cards, and whom it holds back while it waits.

All such jobs are ordered by priority and age, the same on every node; none holds cards while it
waits for others. So no two of them can wait for each other. The first of them on all its nodes
holds back those behind it in its nodes' lines, else small jobs would keep it waiting for ever; but
it lets pass whose time limit ends before it could start itself, and everybody while a node of it is
not ready or has too few healthy cards, or a promise to others is in its way on one of them.
"""

from datetime import datetime, timedelta

from django.utils import timezone

from workers.dispatch.admission import admission
from workers.models import CardLease, Gang, Job
from workers.models.job import WAITING_STATES
from workers.nodes.card_leases import usable_cards


def order(member: Job) -> tuple[int, int]:
    """The place among all waiting jobs on several nodes."""
    return -member.priority, member.gang_id


def lets_pass(member: Job, job: Job) -> bool:
    """Whether a waiting member does not hold back a job that stands behind it on its node."""
    if member.gang_id == job.gang_id:
        return True
    now = timezone.now()
    # A maintenance, a reservation or the quota may be in its way on any of its nodes.
    if not can_start_ever(member.gang) or any(
            admission(each.node, now).obstacle(each) for each in member.gang.present()):
        return True
    if job.gang_id:
        return order(job) < order(member)
    if not _is_first(member):
        return True
    start = max(_enough_free(each, now) for each in member.gang.present())
    return now + timedelta(seconds=job.timeout_seconds) <= start


def can_start_ever(gang: Gang) -> bool:
    """Whether all its nodes are ready and have enough healthy cards, leased or not."""
    return all(member.node.is_ready and len(usable_cards(member.node)) >= member.cards_wanted
               for member in gang.present())


def _is_first(member: Job) -> bool:
    nodes = list(member.gang.present().values_list("node", flat=True))
    others = Job.objects.filter(node__in=nodes, state__in=WAITING_STATES, hold_reason="").exclude(
        gang=None).exclude(gang=member.gang_id).select_related("gang")
    return not any(order(other) < order(member) and can_start_ever(other.gang)
                   for other in others)


def _enough_free(member: Job, now: datetime) -> datetime:
    leases = CardLease.objects.filter(node=member.node, released_at=None).select_related("job")
    ends = sorted(_limit(lease.job, now) for lease in leases)
    missing = member.cards_wanted - (len(usable_cards(member.node)) - len(ends))
    return now if missing <= 0 else ends[min(missing, len(ends)) - 1]


def _limit(job: Job, now: datetime) -> datetime:
    return (job.started_at or now) + timedelta(seconds=job.timeout_seconds)
