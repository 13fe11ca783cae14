"""Whose turn it is for a node's cards, and when the others' may come."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from math import inf

from django.db.models import Count
from django.utils import timezone

from workers.dispatch import gang_turns
from workers.dispatch.admission import Admission, admission, start_between
from workers.dispatch.usual_durations import UsualDurations
from workers.models import CardLease, CardQuota, Job, Node, NodeReservation
from workers.models.job import OPEN_STATES, WAITING_STATES
from workers.nodes.card_leases import usable_cards


def line(node: Node) -> list[Job]:
    """Jobs that wait for cards of the node, in their order.

    Urgent ones first; then those of the engagement that holds the fewest cards; then the oldest.
    """
    jobs = Job.objects.filter(node=node, state__in=WAITING_STATES, cards_wanted__gt=0)
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
    quotas: dict[int, int] = field(default_factory=dict)  # cards by engagement
    elsewhere: Counter[int] = field(default_factory=Counter)  # held on other nodes, by engagement

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
        waiting = (job for job in self.jobs
                   if job.state in WAITING_STATES and job.cards_wanted)
        return _in_order(waiting, share)


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
    _add_quotas(loads.values())
    return list(loads.values())


def _add_quotas(loads: Iterable[Load]) -> None:
    """The quotas of engagements whose jobs wait, and what these hold on other nodes."""
    waiting = {job.engagement_id for load in loads for job in load.line} - {None}
    quotas = dict(CardQuota.objects.filter(engagement__in=waiting).values_list(
        "engagement", "cards")) if waiting else {}
    if not quotas:
        return
    held = Counter(dict(CardLease.objects.filter(
        released_at=None, job__engagement__in=quotas).order_by().values_list(
        "job__engagement").annotate(n=Count("pk"))))
    for load in loads:
        here = Counter(lease.job.engagement_id for lease in load.leases)
        load.quotas, load.elsewhere = quotas, held - here


def outlook(load: Load, now: datetime, usual: UsualDurations
            ) -> list[tuple[Job, datetime | None]]:
    """The line with the time at which each job's turn may come, none before the one ahead of it.

    From what runs now, how long its kinds usually take, and what is promised to others: a job that
    waits for the end of a maintenance or a reservation, or for its engagement's quota, holds up
    nobody. None for a job that no set of healthy cards can serve, which does not hold up those
    after it, and for one whose quota is used up on other nodes; and from the first job on that
    waits for an overdue one, of which nobody can say when it ends.
    """
    usable = len(usable_cards(load.node))
    turn, shares = _Turn(now, usable), _Shares(load)
    for running in load.running:
        if cards := len(load.cards_of(running)):
            turn.free -= cards
            turn.ends.append((expected_end(running, usual, now), cards))
            shares.add(running, *turn.ends[-1])
    found: list[tuple[Job, datetime | None]] = []
    for job in load.line:
        is_served = turn.advance(job.cards_wanted)
        start = turn.at if is_served else None
        if start and load.reservations:
            start = start_between(load.reservations, job, start, usual.of(job), usable)
        start = shares.start(job, start)
        if start:
            shares.add(job, start + usual.of(job), job.cards_wanted)
        found.append((job, start))
        if is_served and start == turn.at:
            turn.ends.append((turn.at and turn.at + usual.of(job), job.cards_wanted))
        elif is_served:
            turn.free += job.cards_wanted
    return found


class _Shares:
    """What engagements with a quota hold, and until when."""

    def __init__(self, load: Load) -> None:
        self.quotas, self.elsewhere = load.quotas, load.elsewhere
        self.ends: dict[int, list[tuple[datetime | None, int]]] = {}

    def add(self, job: Job, end: datetime | None, cards: int) -> None:
        """The engagement holds these cards until then; None where nobody can say."""
        if job.engagement_id in self.quotas:
            self.ends.setdefault(job.engagement_id, []).append((end, cards))

    def start(self, job: Job, at: datetime | None) -> datetime | None:
        """From when on the quota lets the job start, not before `at`; None if nobody can say."""
        quota = self.quotas.get(job.engagement_id)
        if at is None or quota is None:
            return at
        later = [(end, cards) for end, cards in self.ends.get(job.engagement_id, [])
                 if end is None or end > at]
        held = self.elsewhere[job.engagement_id] + sum(cards for _end, cards in later)
        for end, cards in sorted((each for each in later if each[0]), key=lambda each: each[0]):
            if held + job.cards_wanted <= quota:
                break
            held, at = held - cards, end
        return at if held + job.cards_wanted <= quota else None


@dataclass
class _Turn:
    """The moment up to which the line is served, None once it is not known; the cards free then,
    and the ends (time or None, cards) still to come."""

    at: datetime | None
    free: int
    ends: list[tuple[datetime | None, int]] = field(default_factory=list)

    def advance(self, wanted: int) -> bool:
        """Go on until that many cards are free, and take them; False if they never will be."""
        if self.free + sum(cards for _end, cards in self.ends) < wanted:
            return False
        self.ends.sort(key=lambda end: end[0].timestamp() if end[0] else inf)
        while self.free < wanted:
            self.at, cards = self.ends.pop(0)
            self.free += cards
        self.free -= wanted
        return True


def expected_start(job: Job, now: datetime) -> datetime | None:
    """When the job's turn may come; None where nobody can say."""
    [load] = loads_of([job.node])
    found = outlook(load, now, UsualDurations(load.jobs))
    return {other.pk: start for other, start in found}.get(job.pk)


def expected_end(job: Job, usual: UsualDurations, now: datetime) -> datetime | None:
    """When a job that was started may end, by its progress where it tells of it; None when it is
    overdue, as nobody can say."""
    if job.started_at and job.progress_done and job.progress_done < (job.progress_total or 0):
        elapsed = now - job.started_at
        return now + elapsed / job.progress_done * (job.progress_total - job.progress_done)
    end = (job.started_at or job.created_at) + usual.of(job)
    return end if end > now else None
