"""Whose turn it is for cards, and that nobody takes them who may not."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from engagements.models import Engagement
from workers.dispatch import card_queue, forecast
from workers.dispatch.usual_durations import UsualDurations
from workers.models import Card, CardLease, Job, JobState, Node, Priority
from workers.nodes import card_leases

pytestmark = pytest.mark.django_db


@pytest.fixture
def server(db) -> Node:
    return Node.objects.create(name="bms-1", host="192.0.2.1", username="desk",
                               state=Node.State.READY, cards_total=8)


@pytest.fixture
def wait(server, engagement, people):
    """A job that waits for cards of the server."""

    def go(cards=1, priority=Priority.NORMAL, of=engagement, state=JobState.LEASING, **fields):
        return Job.objects.create(
            kind="env.npu_info", node=server, engagement=of, cards_wanted=cards, state=state,
            priority=priority, created_by=people["consultant"], claim_token="me", **fields)

    return go


def test_urgent_first_then_the_engagement_with_fewer_cards_then_the_older(wait, engagement):
    other = Engagement.objects.create(code="EP2", name="另一项目", customer=engagement.customer)
    busy = wait(cards=2, state=JobState.RUNNING)
    card_leases.take_cards(busy)
    first, second = wait(), wait()
    theirs, urgent = wait(of=other), wait(priority=Priority.URGENT)
    assert card_queue.line(busy.node) == [urgent, theirs, first, second]
    assert card_queue.place_in_line(second) == 4


def test_job_that_no_healthy_cards_can_serve_does_not_block_the_others(wait, server):
    for index in range(8):
        Card.objects.create(node=server, index=index, health="Alarm" if index == 3 else "OK",
                            read_at=timezone.now())
    whole, small = wait(cards=8), wait(cards=1)
    assert card_queue.place_in_line(small) == 1
    assert card_leases.take_cards(whole) is None


def test_expected_start_follows_from_what_runs_and_what_is_ahead(wait):
    now = timezone.now()
    running = wait(cards=8, state=JobState.RUNNING, started_at=now - timedelta(minutes=10),
                   timeout_seconds=1800)
    card_leases.take_cards(running)
    ahead, mine = wait(cards=8, timeout_seconds=3600), wait(cards=2)
    assert forecast.of_job(ahead, now).at == now + timedelta(minutes=20)
    assert forecast.of_job(mine, now).at == now + timedelta(minutes=80)


def test_nobody_starts_before_the_one_ahead_nor_when_an_overdue_job_ends(wait):
    """Cards that are left over when the one ahead starts are not free now."""
    now = timezone.now()
    running = wait(cards=8, state=JobState.RUNNING, started_at=now - timedelta(minutes=10),
                   timeout_seconds=1800)
    card_leases.take_cards(running)
    waiting = [wait(cards=cards, timeout_seconds=3600) for cards in (1, 1, 7)]
    assert [forecast.of_job(job, now).at for job in waiting] == [
        now + timedelta(minutes=20), now + timedelta(minutes=20), now + timedelta(minutes=80)]
    later = now + timedelta(minutes=25)
    assert [forecast.of_job(job, later).at for job in waiting] == [None] * 3


def test_a_job_that_tells_its_progress_ends_by_it_not_by_its_kind(wait):
    now = timezone.now()
    wait(state=JobState.SUCCEEDED, started_at=now, finished_at=now + timedelta(seconds=20))
    running = wait(state=JobState.RUNNING, started_at=now - timedelta(minutes=10),
                   progress_done=100, progress_total=300)
    usual = UsualDurations([running])
    assert forecast.expected_end(running, usual, now) == now + timedelta(minutes=20)
    running.progress_done = 300
    assert forecast.expected_end(running, usual, now) is None


def test_usual_duration_is_the_median_of_past_runs(wait):
    now = timezone.now()
    for minutes in (1, 2, 30):
        wait(state=JobState.SUCCEEDED, started_at=now, finished_at=now + timedelta(minutes=minutes))
    assert UsualDurations([mine := wait()]).of(mine) == timedelta(minutes=2)


def test_worker_without_the_claim_takes_no_cards(wait):
    job = wait(cards=2)
    Job.objects.filter(pk=job.pk).update(claim_token="somebody else")
    assert card_leases.take_cards(job) is None
    assert not CardLease.objects.exists()


def test_fences_grow_with_every_lease_of_a_node(wait):
    for _n in range(3):
        card_leases.take_cards(wait(cards=2))
    assert list(CardLease.objects.order_by("pk").values_list("fence", flat=True)) == [
        1, 1, 2, 2, 3, 3]


def test_the_database_refuses_a_second_holder(wait, server):
    first, second = wait(), wait()
    [card] = card_leases.take_cards(first)
    with pytest.raises(IntegrityError, match=r"one_holder_per_card|workers_cardlease"), \
            transaction.atomic():
        CardLease.objects.create(node=server, card_index=card, job=second, fence=9,
                                 taken_at=timezone.now())


def test_ring_size_is_data_of_the_node():
    assert card_leases.choose_cards([1, 2, 3, 4, 5, 6, 7], 4) == [4, 5, 6, 7]
    assert card_leases.choose_cards([0, 1, 4, 5], 3) is None
    assert card_leases.choose_cards([0, 1, 4, 5], 3, ring_size=8) == [0, 1, 4]
