"""Forecasts of seeded queues against the dispatch itself, with a clock that jumps."""

import random
from datetime import timedelta

import pytest
from django.utils import timezone

from engagements.models import Engagement, Role
from tests.workers.gangs.conftest import GangKind
from workers import queries
from workers.dispatch import forecast, transitions
from workers.kinds import base as registry
from workers.models import Gang, Job, JobState, Node, NodeReservation, Priority
from workers.models.job import WAITING_STATES
from workers.nodes import card_leases
from workers.services import node_calendar
from workers.services.jobs import stop_for_maintenance

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)


@pytest.fixture
def clock(monkeypatch):
    """The time; a test sets it."""
    at = [timezone.now()]
    monkeypatch.setattr("django.utils.timezone.now", lambda: at[0])
    return at


def seeded(seed: int, people, engagement, now) -> None:
    """Three nodes with jobs of two projects in all sizes, one on two nodes, promises, a quota, and
    a maintenance that of every second seed stops what runs."""
    chance = random.Random(seed)
    other = Engagement.objects.create(code="EP2", name="另一项目", customer=engagement.customer)
    nodes = [Node.objects.create(name=f"n{i}", host=f"192.0.2.{i}", username="desk",
                                 state="ready", cards_total=8) for i in range(3)]
    node_calendar.set_quota(actor=people[Role.OPERATOR], engagement=other, cards=9)
    for node, whom, cards in ((nodes[0], None, 0), (nodes[1], other, 4)):
        start = now + chance.randint(1, 9) * 10 * MINUTE
        NodeReservation.objects.create(node=node, engagement=whom, cards=cards, reason="x",
                                       starts_at=start, ends_at=start + 40 * MINUTE,
                                       stops_jobs_at=start if seed % 2 and not whom else None)

    def job(node, of, cards, **fields):
        return Job.objects.create(**{
            "kind": "test.none", "node": node, "engagement": of, "cards_wanted": cards,
            "claim_token": "me", "created_by": people[Role.CONSULTANT],
            "state": JobState.LEASING, "timeout_seconds": 60 * chance.randint(3, 50),
            "priority": chance.choice(Priority.values), **fields})

    for node in nodes:
        first = job(node, chance.choice([engagement, other]), chance.choice([2, 4, 5]))
        card_leases.take_cards(first)
        Job.objects.filter(pk=first.pk).update(state=JobState.RUNNING,
                                               started_at=now - chance.randint(0, 2) * MINUTE)
    for _n in range(6):
        job(chance.choice(nodes), chance.choice([engagement, other]),
            chance.choice([0, 1, 2, 3, 4, 6, 8]))
    whole = job(None, engagement, 3, kind=GangKind.code, nodes_wanted=2, priority=Priority.NORMAL)
    gang = Gang.objects.create(job=whole)
    for rank, node in enumerate(nodes[1:]):
        job(node, engagement, 3, kind=GangKind.code, gang=gang, rank=rank,
            priority=Priority.NORMAL)
        Job.objects.filter(gang=gang).update(timeout_seconds=whole.timeout_seconds)


def played(clock) -> dict[int, object]:
    """What the dispatch does if each job takes as long as its time limit: start by job."""
    starts, ends = {}, {}
    for job in Job.objects.filter(state=JobState.RUNNING):
        ends[job] = job.started_at + timedelta(seconds=job.timeout_seconds)
    promised = {at for pair in NodeReservation.objects.values_list("starts_at", "ends_at")
                for at in pair}
    while True:
        for job in [job for job, end in ends.items() if end <= clock[0]]:
            Job.objects.filter(pk=job.pk).update(state=JobState.FAILED, finished_at=clock[0])
            card_leases.release_cards(job)
            del ends[job]
        stopped = stop_for_maintenance(clock[0])
        for job in [job for job in ends if job.pk in {each.pk for each in stopped} or (
                job.gang and job.gang.job in stopped)]:
            ends[job] = clock[0]
        if stopped:
            continue
        while started := next(filter(starts_now, Job.objects.filter(
                state__in=WAITING_STATES, gang=None).order_by("pk")), None):
            for each in (started, *Job.objects.filter(gang__job=started)):
                starts[each.pk] = clock[0]
                Job.objects.filter(pk=each.pk).update(
                    state=JobState.RUNNING, started_at=clock[0])
                ends[each] = clock[0] + timedelta(seconds=each.timeout_seconds)
        later = [at for at in (*ends.values(), *promised) if at > clock[0]]
        if not later or not Job.objects.filter(state__in=WAITING_STATES).exists():
            return starts
        clock[0] = min(later)


def starts_now(job: Job) -> bool:
    return transitions.step(job).get("state") == JobState.STARTING


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_no_forecast_is_earlier_than_what_the_dispatch_then_does(
        seed, people, engagement, clock, monkeypatch):
    monkeypatch.setitem(registry._kinds, GangKind.code, GangKind())
    seeded(seed, people, engagement, clock[0])
    told = {pk: found.at for pk, found in forecast.forecasts(clock[0]).items()}
    starts = played(clock)
    assert starts.keys() >= {pk for pk, at in told.items() if at}
    too_early = {pk: (at, starts[pk]) for pk, at in told.items() if at and at < starts[pk]}
    assert too_early == {}
    assert sum(told[pk] == start for pk, start in starts.items()
               if told.get(pk)) > len(told) // 2, "nor is it put off for nothing"


def test_a_job_without_an_end_is_named_and_nothing_rolls(people, engagement, clock):
    node = Node.objects.create(name="n", host="192.0.2.1", username="desk", state="ready",
                               cards_total=8)
    fields = {"kind": "test.none", "node": node, "engagement": engagement, "cards_wanted": 8,
              "created_by": people[Role.CONSULTANT], "claim_token": "me"}
    holder = Job.objects.create(state=JobState.LEASING, timeout_seconds=60, **fields)
    card_leases.take_cards(holder)
    Job.objects.update(state=JobState.RUNNING, started_at=clock[0] - 5 * MINUTE)
    first, second = (Job.objects.create(state=JobState.LEASING, **fields) for _n in range(2))

    def told():
        [queue] = queries.queues_of([node], people[Role.OPERATOR], clock[0])
        return [row["expected_text"] for row in queue["waiting"]]

    before = told()
    assert [f"#{holder.pk}" in text for text in before] == [True, True]
    clock[0] += timedelta(seconds=61)
    assert told() == before
    [row] = queries.why_waiting(second, people[Role.OPERATOR], clock[0])
    assert f"#{holder.pk}" in row["sentences"][0]
    assert f"#{first.pk}" in row["sentences"][1]
    assert before[1] in row["sentences"][-1]
