"""Alarms of nodes beside those of cards, and what a maintenance does with jobs that run."""

from datetime import timedelta

import pytest
from django.utils import timezone, translation

from delivery.notices.models import Notice
from engagements.errors import InvalidInput, WrongState
from engagements.models import AuditEntry, Role
from tests.cached_fixtures import cached_fixture
from tests.workers import fleet_world
from workers import queries, services
from workers.dispatch import forecast
from workers.models import CardAlarm, Job, Node, NodeReservation
from workers.nodes import card_leases, node_alarms
from workers.nodes.conditions import condition_of
from workers.services import card_alarms, jobs, node_calendar

pytestmark = pytest.mark.django_db
HOUR = fleet_world.HOUR


@pytest.fixture(autouse=True)
def english():
    with translation.override("en"):
        yield


@pytest.fixture
@cached_fixture
def fleet(people, engagement):
    return fleet_world.build(people, engagement)


def opened() -> set[tuple[str, str, str]]:
    return set(CardAlarm.objects.filter(card_index=None, cleared_at=None).values_list(
        "node__name", "kind", "value"))


def test_disk_clock_contact_and_software_raise_alarms_once(fleet):
    now = timezone.now()
    for at in (now, now + HOUR):
        node_alarms.watch(at)
        assert opened() == {
            ("npu-11", "away", "Does not answer"), ("npu-16", "disk", "12 MB"),
            ("npu-17", "software", "driver 23.0.6"), ("npu-18", "software", "cann 7.0.0"),
            ("npu-19", "clock", "95 s")}
    assert CardAlarm.objects.filter(card_index=None).count() == 5
    kinds = set(Notice.objects.values_list("event__kind", flat=True))
    assert kinds >= {"node_disk", "node_clock", "node_software"}


def test_a_short_absence_raises_none_and_an_alarm_ends_with_its_cause(fleet, settings):
    now, settings.NODE_AWAY_MINUTES = timezone.now(), 90
    node_alarms.watch(now)
    assert "npu-11" not in {name for name, _kind, _value in opened()}
    Node.objects.filter(name="npu-16").update(scratch_free_mb=500_000)
    settings.NODE_CLOCK_LIMIT = 100
    node_alarms.watch(now)
    assert {name for name, _kind, _value in opened()} == {"npu-17", "npu-18"}


def test_what_was_the_matter_stays_while_a_node_does_not_answer(fleet):
    now = timezone.now()
    node_alarms.watch(now)
    Node.objects.filter(name="npu-19").update(unreachable_since=now, clock_offset_seconds=0)
    node_alarms.watch(now)
    assert ("npu-19", "clock", "95 s") in opened()


def test_an_alarm_of_a_node_is_acknowledged_or_silent(fleet, people, client):
    now, operator = timezone.now(), people[Role.OPERATOR]
    node_alarms.watch(now)
    alarm = CardAlarm.objects.get(node__name="npu-16", card_index=None)
    card_alarms.acknowledge_alarm(actor=operator, alarm=alarm, note="清理中")
    node = Node.objects.get(name="npu-16")
    assert condition_of(node, now).level == "warning"
    assert condition_of(node, now).obstacle.word == "Disk full"
    client.force_login(operator)
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    text = client.get(f"/nodes/{node.pk}/").content.decode()
    assert ["Disk: 12 MB" in text, "清理中" in text, "folders of ended jobs" in text] == [True] * 3
    card_alarms.silence_alarm(actor=operator, alarm=alarm, until=now + HOUR, reason="x")
    assert [condition_of(Node.objects.get(name="npu-16"), at).level
            for at in (now, now + 2 * HOUR)] == ["info", "warning"]
    CardAlarm.objects.filter(pk=alarm.pk).update(cleared_at=now)
    node_alarms.watch(now)
    again = CardAlarm.objects.get(node=node, cleared_at=None)
    assert again.silenced_until == alarm.__class__.objects.get(pk=alarm.pk).silenced_until


def test_an_alarm_of_a_node_takes_no_card_away(fleet):
    before = card_leases.free_cards(Node.objects.get(name="npu-19"))
    node_alarms.watch(timezone.now())
    assert card_leases.free_cards(Node.objects.get(name="npu-19")) == before


def test_a_maintenance_without_an_end_is_told_once_it_lasts_long(fleet, people, settings, client):
    operator, node = people[Role.OPERATOR], Node.objects.get(name="npu-30")
    services.set_maintenance(actor=operator, node=node, is_on=True)
    began = Node.objects.get(pk=node.pk).maintenance_since
    node_alarms.watch(began + settings.MAINTENANCE_HOURS * HOUR)
    assert not CardAlarm.objects.filter(node=node).exists()
    later = began + (settings.MAINTENANCE_HOURS + 1) * HOUR
    for _look in range(2):
        node_alarms.watch(later)
    told = Notice.objects.filter(recipient=operator, event__kind="node_no_end")
    assert [notice.event.path for notice in told] == [f"/nodes/{node.pk}/"]
    Node.objects.filter(pk=node.pk).update(maintenance_since=began - 100 * HOUR)
    client.force_login(operator)
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    assert "no end was given: take the node back, or retire it" in client.get(
        f"/nodes/{node.pk}/").content.decode()
    services.set_maintenance(actor=operator, node=node, is_on=False)
    node_alarms.watch(later)
    assert not CardAlarm.objects.filter(node=node, cleared_at=None).exists()


def window(people, **fields) -> NodeReservation:
    now = timezone.now()
    return node_calendar.reserve(
        actor=people[Role.OPERATOR], node=Node.objects.get(name="npu-01"), reason="换卡",
        **{"starts_at": now, "ends_at": now + 5 * HOUR, **fields})


def test_what_runs_at_a_maintenance_goes_on_and_its_owner_is_told(fleet, people, client):
    window(people)
    assert jobs.stop_for_maintenance(timezone.now()) == []
    told = Notice.objects.filter(recipient=people[Role.CONSULTANT])
    assert [notice.event.kind for notice in told] == ["job_maintenance"]
    client.force_login(people[Role.CONSULTANT])
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    text = client.get(f"/jobs/{fleet['mine'].pk}/").content.decode()
    assert "Jobs that run go on to their end." in text


def test_a_maintenance_stops_at_its_time_what_still_runs(fleet, people):
    now = timezone.now()
    window(people, stops_jobs_at=now + HOUR / 2)
    assert jobs.stop_for_maintenance(now) == []
    found = forecast.forecasts(now)[fleet["waits"].pk]
    assert found.at == now + 5 * HOUR or found.at >= now + 4.9 * HOUR
    stopped = jobs.stop_for_maintenance(now + HOUR)
    assert {job.pk for job in stopped} == {fleet["mine"].pk, fleet["theirs"].pk}
    assert jobs.stop_for_maintenance(now + HOUR) == []
    assert Job.objects.get(pk=fleet["waits"].pk).cancel_requested_at is None
    entry = AuditEntry.objects.get(action="job.cancel", target_id=str(fleet["mine"].pk))
    assert entry.data["reason"] == "npu-01: 换卡"
    told = Notice.objects.filter(recipient=people[Role.CONSULTANT]).order_by("pk")
    assert [notice.event.kind for notice in told] == ["job_to_be_stopped", "job_stopped"]


def test_a_forecast_minds_the_stop_of_a_maintenance_elsewhere(fleet, people):
    """A job of unknown end is ended by the stop, so what waits behind it has a time."""
    now = timezone.now()
    Job.objects.filter(pk__in=[fleet["mine"].pk, fleet["theirs"].pk]).update(
        started_at=now - 100 * HOUR)
    waits = fleet["waits"].pk
    assert forecast.forecasts(now)[waits].at is None
    assert set(told_ends(people, now)) == {None}
    window(people, ends_at=now + 2 * HOUR, stops_jobs_at=now + HOUR)
    assert set(told_ends(people, now)) == {now + HOUR}
    assert abs(forecast.forecasts(now)[waits].at - (now + 2 * HOUR)) < timedelta(minutes=1)


def told_ends(people, now) -> list:
    """Of what runs on npu-01, by the queue and by the cards of the fleet."""
    node, operator = Node.objects.filter(name="npu-01"), people[Role.OPERATOR]
    [queue], [row] = queries.queues_of(node, operator, now), queries.fleet_of(node, operator, now)
    return [*(each["expected"] for each in queue["running"]),
            *(card.until for card in row.cards if card.is_held)]


def test_a_maintenance_over_a_reservation_is_confirmed_and_its_managers_are_told(
        fleet, people, engagement):
    window(people, engagement=engagement, cards=2)
    with pytest.raises(WrongState, match="1 reservation of an engagement lies in that time"):
        window(people)
    window(people, is_over_reservations=True)
    told = Notice.objects.filter(event__kind="reservation_maintenance")
    assert {notice.recipient for notice in told} == {
        people[Role.MANAGER], people[Role.ADMINISTRATOR]}
    assert NodeReservation.objects.filter(node__name="npu-01").count() == 2


@pytest.mark.parametrize("stop", [-1, 6])
def test_jobs_are_stopped_within_a_maintenance_only(fleet, people, engagement, stop):
    with pytest.raises(InvalidInput):
        window(people, stops_jobs_at=timezone.now() + stop * HOUR)
    with pytest.raises(InvalidInput):
        window(people, engagement=engagement, stops_jobs_at=timezone.now() + HOUR)
    with pytest.raises(InvalidInput):
        services.set_maintenance(actor=people[Role.OPERATOR], is_on=True,
                                 node=Node.objects.get(name="npu-30"),
                                 stops_jobs_at=timezone.now() + HOUR)
