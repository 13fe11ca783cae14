"""Whose turn it is for a node's cards, and when the others' may come."""

from collections import Counter
from datetime import datetime, timedelta
from statistics import median

from django.db.models import F

from workers.models import CardLease, Job, JobState, Node
from workers.models.job import OPEN_STATES
from workers.nodes.leases import held_cards, usable_cards

WAITING = (JobState.QUEUED, JobState.LEASING)
HISTORY = 20  # past runs of a kind that its usual duration is taken from


def line(node: Node) -> list[Job]:
    """Jobs that wait for cards of the node, in their order.

    Urgent ones first; then those of the engagement that holds the fewest cards; then the oldest.
    """
    jobs = Job.objects.filter(node=node, state__in=WAITING, cards_wanted__gt=0)
    share = Counter(CardLease.objects.filter(released_at=None, node=node).values_list(
        "job__engagement", flat=True))
    return sorted(jobs.select_related("engagement"),
                  key=lambda job: (-job.priority, share[job.engagement_id], job.pk))


def place_in_line(job: Job) -> int:
    """1 for the job whose turn it is. A job that no set of healthy cards can serve is passed."""
    usable = len(usable_cards(job.node))
    ahead = [other for other in line(job.node)
             if other.cards_wanted <= usable or other.pk == job.pk]
    return [other.pk for other in ahead].index(job.pk) + 1 if job in ahead else 1


class UsualDurations:
    """How long jobs of a kind usually take; each kind is looked up once."""

    def __init__(self) -> None:
        self._known: dict[str, timedelta | None] = {}

    def of(self, job: Job) -> timedelta:
        """Median of the last runs of this kind; the time limit where there is none."""
        if job.kind not in self._known:
            self._known[job.kind] = _median_of(job.kind)
        usual = self._known[job.kind]
        return timedelta(seconds=job.timeout_seconds) if usual is None else usual


def _median_of(kind: str) -> timedelta | None:
    past = Job.objects.filter(kind=kind, state=JobState.SUCCEEDED).annotate(
        took=F("finished_at") - F("started_at")).values_list("took", flat=True)[:HISTORY]
    known = [took for took in past if took is not None]
    return median(known) if known else None


def outlook(node: Node, now: datetime) -> list[tuple[Job, datetime | None]]:
    """The line with the time at which each job's turn may come.

    From what runs now and how long its kinds usually take. None for a job that no set of healthy
    cards can serve; those after it are not held up by it.
    """
    usual, free = UsualDurations(), len(usable_cards(node))
    ends: list[tuple[datetime, int]] = []
    for running in _running_on(node):
        cards = len(held_cards(running))
        free -= cards
        ends.append((max(now, expected_end(running, usual)), cards))
    found: list[tuple[Job, datetime | None]] = []
    for job in line(node):
        start, then_free, then_ends = _next_start(now, free, ends, job.cards_wanted)
        found.append((job, start))
        if start is not None:
            free, ends = then_free, [*then_ends, (start + usual.of(job), job.cards_wanted)]
    return found


def expected_start(job: Job, now: datetime) -> datetime | None:
    """When the job's turn may come; None where nobody can say."""
    return {other.pk: start for other, start in outlook(job.node, now)}.get(job.pk)


def _next_start(now, free, ends, wanted):
    """(start, free cards then, ends still to come); start is None if it can never be served."""
    start, ends = now, sorted(ends, key=lambda end: end[0])
    while free < wanted and ends:
        start, cards = ends.pop(0)
        free += cards
    return (start, free - wanted, ends) if free >= wanted else (None, free, ends)


def _running_on(node: Node) -> list[Job]:
    return list(Job.objects.filter(
        node=node, state__in=OPEN_STATES, leases__released_at=None).exclude(
        state__in=WAITING).distinct())


def expected_end(job: Job, usual: UsualDurations) -> datetime:
    """When a job that was started may end."""
    return (job.started_at or job.created_at) + usual.of(job)
