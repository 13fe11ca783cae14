"""Maintenance windows, reservations and quotas hold jobs up, say so, and let others pass."""

from datetime import timedelta

import pytest
from django.utils import timezone

from engagements.errors import InvalidInput
from engagements.models import Engagement, Role
from tests.workers.gangs.conftest import GangKind
from workers import services
from workers.dispatch import admission, card_queue, forecast, sentences, transitions
from workers.kinds import base as registry
from workers.models import Job, JobState, Node, NodeReservation
from workers.nodes import card_leases
from workers.services import node_calendar

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


@pytest.fixture
def server(db):
    return Node.objects.create(name="bms-1", host="192.0.2.1", username="desk",
                               state=Node.State.READY, cards_total=8)


@pytest.fixture
def other(engagement):
    return Engagement.objects.create(code="EP2", name="另一项目", customer=engagement.customer)


@pytest.fixture
def wait(server, engagement, people):
    def go(cards=1, of=engagement, minutes=60, **fields):
        return Job.objects.create(
            kind="test.none", node=fields.pop("node", server), engagement=of, cards_wanted=cards,
            state=JobState.LEASING, created_by=people["consultant"], claim_token="me",
            timeout_seconds=60 * minutes, **fields)

    return go


def reserve(people, node, start, end, **fields):
    now = timezone.now()
    return node_calendar.reserve(actor=people[Role.OPERATOR], node=node, starts_at=now + start,
                                 ends_at=now + end, reason="驱动升级", **fields)


def printed(job):
    changes = transitions.step(job)
    return changes.get("message", ""), changes.get("state")


def test_job_that_would_not_end_before_the_maintenance_waits_and_a_short_one_starts(
        wait, server, people):
    window = reserve(people, server, HOUR, 2 * HOUR)
    long, short, cardless = wait(minutes=90), wait(minutes=30), wait(cards=0, minutes=90)
    assert printed(long)[0] == printed(cardless)[0] == admission.BEFORE_MAINTENANCE
    assert printed(short) == ("", JobState.STARTING)
    sentence = Job(message=admission.BEFORE_MAINTENANCE,
                   message_values=transitions.step(long)["message_values"]).sentence
    assert "驱动升级" in sentence
    NodeReservation.objects.update(starts_at=timezone.now() - HOUR)
    assert printed(wait(minutes=1))[0] == admission.UNDER_MAINTENANCE
    node_calendar.end_reservation(actor=people[Role.OPERATOR], reservation=window)
    assert printed(long) == ("", JobState.STARTING)


def test_reserved_cards_are_kept_free_for_the_engagement(wait, server, people, engagement, other):
    reserve(people, server, -HOUR, HOUR, engagement=other, cards=6)
    four, two, theirs = wait(cards=4), wait(cards=2), wait(cards=4, of=other)
    assert printed(four)[0] == sentences.RESERVED
    assert card_queue.place_in_line(two) == 1, "who is held up holds up nobody"
    assert printed(two) == ("", JobState.STARTING)
    assert printed(theirs) == ("", JobState.STARTING)
    assert printed(wait(cards=1))[0] == sentences.RESERVED, "two of the six are still theirs"
    assert card_leases.free_cards(server), "though cards are free"


def test_reservation_that_begins_later_holds_up_only_what_would_reach_into_it(
        wait, server, people, other):
    reserve(people, server, 2 * HOUR, 3 * HOUR, engagement=other, cards=8)
    assert printed(wait(cards=8, minutes=180))[0] == sentences.RESERVED
    assert printed(wait(cards=8, minutes=60)) == ("", JobState.STARTING)


def test_running_job_that_ends_before_the_reservation_takes_none_of_it(
        wait, server, people, other):
    running = wait(cards=4, minutes=30, started_at=timezone.now())
    card_leases.take_cards(running)
    Job.objects.filter(pk=running.pk).update(state=JobState.RUNNING)
    reserve(people, server, HOUR, 3 * HOUR, engagement=other, cards=4)
    assert printed(wait(cards=4, minutes=180)) == ("", JobState.STARTING)


def test_quota_counts_the_cards_of_all_nodes(wait, people, engagement, other):
    second = Node.objects.create(name="bms-2", host="192.0.2.2", username="desk", state="ready",
                                 cards_total=8)
    node_calendar.set_quota(actor=people[Role.OPERATOR], engagement=engagement, cards=4)
    assert printed(wait(cards=3)) == ("", JobState.STARTING)
    held_up = wait(cards=2, node=second)
    assert printed(held_up)[0] == admission.OVER_QUOTA
    assert printed(wait(cards=1, node=second)) == ("", JobState.STARTING)
    assert printed(wait(cards=5))[0] == sentences.NEVER_IN_QUOTA
    assert printed(wait(cards=5, of=other)) == ("", JobState.STARTING)
    node_calendar.set_quota(actor=people[Role.OPERATOR], engagement=engagement, cards=None)
    assert printed(held_up) == ("", JobState.STARTING)


def test_operator_keeps_the_calendar_on_its_page_and_by_api(people, server, engagement, client):
    client.force_login(people[Role.OPERATOR])
    start = timezone.localtime(timezone.now() + HOUR)
    client.post("/nodes/calendar/", {
        "node": server.pk, "engagement": "", "cards": "", "reason": "换风扇",
        "starts_at": f"{start:%Y-%m-%dT%H:%M}", "ends_at": f"{start + HOUR:%Y-%m-%dT%H:%M}"})
    window = NodeReservation.objects.get()
    assert "换风扇" in client.get("/nodes/calendar/").content.decode()
    client.post("/nodes/quotas/", {"engagement": engagement.pk, "cards": "4"})
    client.post(f"/nodes/calendar/{window.pk}/end/")
    made = client.post("/api/v1/node-reservations/", {
        "node": server.pk, "engagement": engagement.pk, "cards": 2, "reason": "x",
        "starts_at": start.isoformat(), "ends_at": (start + HOUR).isoformat()},
        content_type="application/json")
    assert (made.status_code, NodeReservation.objects.get().cards) == (201, 2)
    assert client.get("/api/v1/card-quotas/").json()["results"][0]["cards"] == 4


def test_more_than_the_node_has_cannot_be_reserved(people, server, engagement, other):
    reserve(people, server, HOUR, 2 * HOUR, engagement=engagement, cards=6)
    with pytest.raises(InvalidInput):
        reserve(people, server, HOUR, 3 * HOUR, engagement=other, cards=3)
    with pytest.raises(InvalidInput):
        reserve(people, server, -2 * HOUR, -HOUR)


def test_the_forecast_keeps_to_what_is_promised_to_others(wait, server, people, other, engagement):
    now = timezone.now()
    window = reserve(people, server, HOUR, 2 * HOUR)
    long, short = wait(minutes=90), wait(minutes=30)
    assert forecast.of_job(long, now).at == window.ends_at
    assert forecast.of_job(short, now).at == now
    theirs = reserve(people, server, 2 * HOUR, 4 * HOUR, engagement=other, cards=6)
    wide = wait(cards=4, minutes=90)
    assert forecast.of_job(wide, now).at == theirs.ends_at
    assert forecast.of_job(wait(cards=4, minutes=90, of=other), now).at == window.ends_at


def test_the_forecast_keeps_to_the_quota(wait, people, engagement, other):
    """Of four cards the engagement holds three; whoever waits for its quota holds up nobody."""
    second = Node.objects.create(name="bms-2", host="192.0.2.2", username="desk", state="ready",
                                 cards_total=8)
    node_calendar.set_quota(actor=people[Role.OPERATOR], engagement=engagement, cards=4)
    running = wait(cards=3, minutes=40)
    assert printed(running) == ("", JobState.STARTING)
    now = timezone.now()
    Job.objects.filter(pk=running.pk).update(state=JobState.RUNNING, started_at=now)
    small, large, never = wait(cards=1), wait(cards=2, minutes=10), wait(cards=5)
    theirs = wait(cards=4, of=other)
    starts = [forecast.of_job(job, now).at for job in (small, large, never, theirs)]
    assert starts == [now, now + timedelta(minutes=40), None, now]
    elsewhere = wait(cards=1, node=second)
    later = wait(cards=2, node=second)
    assert [forecast.of_job(job, now).at for job in (elsewhere, later)] == [
        now + timedelta(minutes=40), now + timedelta(minutes=50)]


def test_jobs_on_several_nodes_ask_for_windows_reservations_and_quotas(
        server, people, engagement, other, monkeypatch):
    monkeypatch.setitem(registry._kinds, GangKind.code, GangKind())
    second = Node.objects.create(name="bms-2", host="192.0.2.2", username="desk", state="ready",
                                 cards_total=8)

    def queue(nodes=(server, second)):
        return services.queue_job(
            actor=people["consultant"], kind=GangKind.code, nodes=list(nodes),
            engagement=engagement, parameters={"script": "true", "cards": 3})

    job = queue()
    window = reserve(people, second, -HOUR, HOUR)
    assert "bms-2" in Job(**dict(zip(("message", "message_values"), _waits(job), strict=True))
                          ).sentence
    short = wait_for_card(job, server)
    assert card_queue.place_in_line(short) == 1, "who waits for a promise holds up nobody"
    node_calendar.end_reservation(actor=people[Role.OPERATOR], reservation=window)
    stored = reserve(people, second, -HOUR, HOUR, engagement=other, cards=6)
    assert _waits(job)[1]["node"] == "bms-2"
    node_calendar.end_reservation(actor=people[Role.OPERATOR], reservation=stored)
    node_calendar.set_quota(actor=people[Role.OPERATOR], engagement=engagement, cards=5)
    assert _waits(job)[1]["node"] == "bms-1", "six cards of both nodes together"
    node_calendar.set_quota(actor=people[Role.OPERATOR], engagement=engagement, cards=6)
    assert printed(job) == ("", JobState.STARTING)
    Node.objects.filter(pk=second.pk).update(scheduler="slurm")
    with pytest.raises(InvalidInput, match="bms-2"):
        queue(Node.objects.order_by("pk"))


def _waits(job):
    changes = transitions.step(job)
    assert changes["state"] == JobState.LEASING, changes
    return changes["message"], changes["message_values"]


def wait_for_card(job, node):
    return Job.objects.create(
        kind="test.none", node=node, engagement=job.engagement, cards_wanted=6,
        state=JobState.LEASING, created_by=job.created_by, timeout_seconds=10**7)
