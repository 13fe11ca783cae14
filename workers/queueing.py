"""Whose turn it is for a node's cards, and when the others' may come."""

from collections import Counter
from datetime import datetime, timedelta
from statistics import median

from django.db.models import F

from workers.leases import held_cards, usable_cards
from workers.models import CardLease, Job, JobState, Node
from workers.models.job import OPEN_STATES

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


def expected_start(job: Job, now: datetime) -> datetime | None:
    """When the job's turn may come, from what runs now and how long its kinds usually take."""
    free = len(usable_cards(job.node))
    ends: list[tuple[datetime, int]] = []
    for running in _running_on(job.node):
        cards = len(held_cards(running))
        free -= cards
        ends.append((max(now, _expected_end(running)), cards))
    for waiting in line(job.node):
        start, free, ends = _next_start(now, free, ends, waiting.cards_wanted)
        if start is None or waiting.pk == job.pk:
            return start
        ends.append((start + usual_duration(waiting), waiting.cards_wanted))
    return None


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


def _expected_end(job: Job) -> datetime:
    start = job.started_at or job.created_at
    return start + usual_duration(job)


def usual_duration(job: Job) -> timedelta:
    """Median of the last runs of this kind; the time limit where there is none."""
    past = Job.objects.filter(kind=job.kind, state=JobState.SUCCEEDED).annotate(
        took=F("finished_at") - F("started_at")).values_list("took", flat=True)[:HISTORY]
    known = [took for took in past if took is not None]
    return median(known) if known else timedelta(seconds=job.timeout_seconds)
