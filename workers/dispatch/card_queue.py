"""Whose turn it is for a node's cards."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from django.utils import timezone

from workers.dispatch import gang_turns
from workers.dispatch.admission import Admission, admission
from workers.models import CardLease, Job, Node, NodeReservation
from workers.models.job import OPEN_STATES, WAITING_STATES
from workers.nodes.card_leases import usable_cards


def line(node: Node) -> list[Job]:
    """Jobs that wait for cards of the node, in their order.

    Urgent ones first; then those of the engagement that holds the fewest cards; then the oldest.
    """
    jobs = Job.objects.filter(node=node, state__in=WAITING_STATES, cards_wanted__gt=0,
                              hold_reason="")
    share = Counter(CardLease.objects.filter(released_at=None, node=node).values_list(
        "job__engagement", flat=True))
    return _in_order(jobs.select_related("engagement", "gang"), share)


def _in_order(jobs: Iterable[Job], share: Counter) -> list[Job]:
    return sorted(jobs, key=lambda job: (-job.priority, share[job.engagement_id], job.pk))


def place_in_line(job: Job, promises: Admission | None = None) -> int:
    """1 for the job whose turn it is.

    Passed are jobs that no set of healthy cards can serve, those that a promise holds up, and
    those on several nodes as `gang_turns` says.
    """
    usable = len(usable_cards(job.node))
    promises = promises or admission(job.node, timezone.now())
    everybody = line(job.node)
    before = everybody[:everybody.index(job)] if job in everybody else []
    ahead = [other for other in everybody if other.pk == job.pk or (
        other.cards_wanted <= usable and promises.obstacle(other) is None
        and not (other.gang_id and other in before and gang_turns.lets_pass(other, job)))]
    return [other.pk for other in ahead].index(job.pk) + 1 if job in ahead else 1


@dataclass
class Load:
    """What is open on a node: its jobs, and the leases of its cards."""

    node: Node
    jobs: list[Job]
    leases: list[CardLease]
    reservations: list[NodeReservation] = field(default_factory=list)

    def cards_of(self, job: Job) -> list[int]:
        return sorted(lease.card_index for lease in self.leases if lease.job_id == job.pk)

    @property
    def running(self) -> list[Job]:
        return [job for job in self.jobs if job.state not in WAITING_STATES]

    @property
    def free(self) -> list[int]:
        busy = {lease.card_index for lease in self.leases}
        return [card for card in usable_cards(self.node) if card not in busy]

    @property
    def line(self) -> list[Job]:
        """As `line`."""
        share = Counter(lease.job.engagement_id for lease in self.leases)
        return _in_order((job for job in self.jobs
                          if job.state in WAITING_STATES and job.cards_wanted
                          and not job.hold_reason), share)


def loads_of(nodes: Iterable[Node]) -> list[Load]:
    """The load of each node; asks as often for many as for one. Prefetch their cards."""
    loads = {node.pk: Load(node, [], []) for node in nodes}
    jobs = Job.objects.filter(node__in=loads, state__in=OPEN_STATES)
    for job in jobs.select_related("engagement").order_by("pk"):
        loads[job.node_id].jobs.append(job)
    leases = CardLease.objects.filter(node__in=loads, released_at=None).select_related("job")
    for lease in leases.defer(*(f"job__{name}" for name in Job.LONG_COLUMNS)):
        loads[lease.node_id].leases.append(lease)
    for one in NodeReservation.objects.filter(node__in=loads, ends_at__gt=timezone.now()):
        loads[one.node_id].reservations.append(one)
    return list(loads.values())
