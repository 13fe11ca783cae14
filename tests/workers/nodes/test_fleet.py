"""What an operator asks of forty nodes, answered by the pages as the database has it."""

from datetime import UTC, datetime, timedelta
from io import BytesIO

import pytest
from django.utils import timezone
from openpyxl import load_workbook

from delivery.notices.models import Notice
from delivery.operation.figures import FIGURES
from engagements.errors import InvalidInput, WrongState
from engagements.models import Role
from tests.cached_fixtures import cached_fixture
from tests.workers import fleet_world
from workers import card_usage, queries, services
from workers.dispatch import disks
from workers.labels.card_timeline import MOST_SPANS, card_timeline
from workers.models import Card, CardAlarm, CardLease, Job, Node, NodeReservation
from workers.nodes import card_leases
from workers.nodes.cards.readings import keep_cards
from workers.nodes.conditions import condition_of
from workers.services import card_alarms, node_calendar

pytestmark = pytest.mark.django_db
HOUR = fleet_world.HOUR
MINUTE_UP = timedelta(seconds=59)  # times are told to the minute that has come


@pytest.fixture
@cached_fixture
def fleet(people, engagement):
    return fleet_world.build(people, engagement)


@pytest.fixture
def rows(fleet, people):
    found = queries.fleet_of(Node.objects.all(), people[Role.OPERATOR], timezone.now())
    return {row.node.name: row for row in found}


@pytest.fixture
def page(client, people):
    """The text of a page as the operator sees it."""
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    client.force_login(people[Role.OPERATOR])
    return lambda url: client.get(url).content.decode()


def test_which_node_is_sick_stands_first_and_none_in_alarm_is_called_ready(rows, page):
    words = [(name, row.condition.worst.word) for name, row in rows.items()]
    assert [name for name, _word in words[:4]] == ["npu-07", "npu-11", "npu-12", "npu-16"]
    text = page("/nodes/")
    assert text.index("npu-07") < text.index("npu-11") < text.index("npu-19") < text.index("npu-01")
    assert "Card 3: Temperature: 97 °C" in text
    assert [name for name, row in rows.items() if row.condition.level == "ok"] == [
        f"npu-{n:02}" for n in range(1, 41) if n not in (7, 11, 12, 13, 14, 15, 16, 19)]
    home = page("/")
    assert "Card 3: Temperature: 97 °C" in home
    assert "4 nodes in trouble" in home


def test_the_same_word_on_list_page_queue_and_api(fleet, page, client):
    sick = Node.objects.get(name="npu-07")
    word = "Card 3: Temperature: 97 °C"
    assert [word in page(url) for url in ("/nodes/", f"/nodes/{sick.pk}/")] == [True, True]
    found = client.get(f"/api/v1/nodes/{sick.pk}/").json()["condition"]
    assert (found["level"], found["word"]) == ("danger", word)
    assert found["reasons"][0]["card"] == 3


def test_which_nodes_differ_in_their_software(rows, page):
    assert {name: row.condition.differing for name, row in rows.items()
            if row.condition.differing} == {
        "npu-17": {"driver": "24.1.rc1"}, "npu-18": {"cann": "8.0.RC3"}}
    assert page("/nodes/").count("≠") == 2


def test_free_cards_of_no_use_say_why(rows):
    unused = {name: (row.free, row.unused) for name, row in rows.items() if row.unused}
    ends = unused.pop("npu-21")
    assert ends[0] == 4
    assert "EP-OTHER" not in str(ends[1])
    assert {name: free for name, (free, _why) in unused.items()} == {
        "npu-07": 7, "npu-11": 0, "npu-12": 0, "npu-13": 0, "npu-14": 0, "npu-15": 0, "npu-16": 0}
    summary = queries.fleet_summary(rows.values())
    assert (summary["cards"], summary["held"], summary["free"]) == (320, 8, 320 - 8 - 1 - 6 * 8 - 4)


def test_a_free_card_in_use_by_somebody_else_and_the_age_of_the_reading(fleet, people, page):
    """Not a card whose power our own job drew, which has ended since."""
    node = Node.objects.get(name="npu-05")
    read = timezone.now() - 3 * HOUR
    Card.objects.filter(node=node).update(read_at=read)
    Card.objects.filter(node=node, index__in=[2, 5]).update(power_w=310)
    Card.objects.filter(node=node, index=6).update(memory_used_mb=40_000)
    CardLease.objects.create(node=node, card_index=5, job=fleet["last_night"], fence=9,
                             taken_at=read - HOUR, released_at=read + HOUR)
    [row] = queries.fleet_of([node], people[Role.OPERATOR], timezone.now())
    assert [card.index for card in row.cards if card.seems_used] == [2, 6]
    text = page("/nodes/")
    assert text.count("in use by somebody else?") == 2
    assert "3\xa0hours old" in text


def test_what_nobody_has_read_of_a_node_is_not_known(page, fleet):
    node = Node.objects.create(name="new-one", host="192.0.2.99", username="desk", cards_total=8)
    text = page(f"/nodes/{node.pk}/")
    facts = text[text.index("Address"):text.index("NPU cards")]
    assert ("never" in facts, facts.count("not known"), "--" in facts) == (True, 2, False)


def test_a_card_in_alarm_is_leased_to_nobody(fleet):
    sick = Node.objects.get(name="npu-07")
    assert card_leases.free_cards(sick) == [0, 1, 2, 4, 5, 6, 7]
    CardAlarm.objects.update(cleared_at=timezone.now())
    assert len(card_leases.free_cards(sick)) == 8
    Card.objects.filter(node=sick, index=0).update(health="Critical")
    assert condition_of(sick, timezone.now()).worst.card == 0


def test_a_holder_of_another_project_is_not_named_and_the_end_is_told(rows, fleet):
    first, last = rows["npu-01"].cards[0], rows["npu-01"].cards[7]
    assert (first.job, first.until) == (
        fleet["mine"], fleet["mine"].started_at + fleet_world.HOUR * 2)
    assert (last.is_held, last.job) == (True, None)


def test_who_waits_for_whom_and_why(fleet, page, client):
    text = page(f"/jobs/{fleet['waits'].pk}/")
    assert "It wants 4 of 8 healthy cards, of which 0 are free." in text
    assert f"Held: 2 (#{fleet['mine'].pk}), 6 (another project)." in text
    end = timezone.localtime(fleet["theirs"].started_at + fleet_world.HOUR * 2 + MINUTE_UP)
    told = client.get(f"/api/v1/jobs/{fleet['waits'].pk}/waiting/").json()
    assert told[0]["node"] == "npu-01"
    assert f"starts about {end:%Y-%m-%d %H}" in told[0]["sentences"][-1]
    assert "EP-OTHER" not in str(told)


def test_who_used_card_3_last_night(fleet, page):
    text = page("/nodes/history/?node=npu-03&card=3&from=2025-11-03T18:00&to=2025-11-04T09:00")
    assert f"/jobs/{fleet['last_night'].pk}/" in text
    assert "Consultant" in text
    assert "2025-11-03 23:00" in text
    jobs = page("/jobs/?node=npu-03&card=3")
    assert f"#{fleet['last_night'].pk} " in jobs
    assert f"#{fleet['mine'].pk} " not in jobs
    assert f"#{fleet['last_night'].pk} " not in page("/jobs/?card=4")


def test_utilisation_in_october_by_project(fleet, client, people):
    client.force_login(people[Role.OPERATOR])
    asked = {"from": "2025-10-01", "to": "2025-11-01", "by": "project"}
    rows = client.get("/api/v1/card-usage/", asked).json()
    mine, theirs = rows
    assert (mine["label"], mine["held"], mine["busy"], mine["idle"], mine["unknown"]) == (
        "EP2501", 20, 5, 5, 10)
    assert (theirs["held"], theirs["unknown"]) == (8, 8)
    assert "EP-OTHER" not in str(rows)
    file = client.get("/nodes/history/", {**asked, "file": "xlsx"}).content
    sums, leases = load_workbook(BytesIO(file)).worksheets
    assert [cell.value for cell in sums[2]] == ["EP2501", 20, 10, 5, 5, 10]
    assert leases.max_row == 1 + 4
    by_day = client.get("/api/v1/card-usage/", {**asked, "by": "day"}).json()
    assert [(row["label"], row["held"]) for row in by_day] == [("2025-10-05", 28)]
    assert client.get("/api/v1/card-usage/", {"from": "x"}).status_code == 400


def test_cards_over_a_period_are_drawn_with_their_load_and_reservations(fleet, people, page):
    node = Node.objects.get(name="npu-03")
    start, end = (datetime(2025, 11, day, hour, tzinfo=UTC) for day, hour in ((3, 10), (4, 1)))
    NodeReservation.objects.create(node=node, engagement=None, cards=0, reason="换卡",
                                   starts_at=end - 3 * HOUR, ends_at=end + HOUR)
    asked = card_usage.Question(start, end, node="npu-03")
    leases = card_usage.leases_of(people[Role.OPERATOR], asked, end)
    kept = node_calendar.reservations_ahead(people[Role.OPERATOR], start)
    drawn = card_timeline(leases, kept, start, end)
    [row] = drawn.rows
    [held], [reserved] = row.held, row.reserved
    width = drawn.right - drawn.left
    assert (row.label, held.job, held.load) == ("npu-03 · 3", fleet["last_night"].pk, None)
    assert float(held.width) == pytest.approx(width * 2 / 15, abs=0.1)  # two of fifteen hours
    assert float(reserved.x) + float(reserved.width) == pytest.approx(drawn.right, abs=0.1)
    assert "换卡" in reserved.words
    leases[0].measured, leases[0].busy = HOUR, HOUR * 0.6
    assert card_timeline(leases, [], start, end).rows[0].held[0].load == 50
    crowded = card_timeline(leases * (MOST_SPANS + 3), [], start, end)
    assert (len(crowded.rows[0].held), crowded.earlier) == (MOST_SPANS, 3)
    text = page("/nodes/history/?node=npu-03&from=2025-11-03T18:00&to=2025-11-04T09:00")
    assert 'class="desk-cards"' in text
    assert "EP2501 · 11-03 23:00" in text


def test_the_calendar_draws_what_is_reserved_by_node(fleet, page):
    text = page("/nodes/calendar/")
    drawing = text[text.index('class="desk-cards"'):text.index("</svg>", text.index("desk-cards"))]
    assert (drawing.count("is-reserved"), "npu-14" in drawing, "npu-21" in drawing) == (
        2, True, True)
    assert ("Maintenance: 换风扇" in drawing, "EP-OTHER" in drawing) == (True, False)


def test_leases_and_jobs_of_a_night_by_the_api(fleet, client, people):
    client.force_login(people[Role.OPERATOR])
    night = {"from": "2025-11-03T18:00", "to": "2025-11-04T09:00", "node": "npu-03", "card": "3"}
    [lease] = client.get("/api/v1/card-usage/leases/", night).json()
    assert (lease["job"], lease["project"], lease["hours"]) == (
        fleet["last_night"].pk, "EP2501", 2)
    asked = {"since": "2025-11-03T10:00:00Z", "until": "2025-11-04T01:00:00Z", "card": 3,
             "node": fleet["last_night"].node_id}
    found = client.get("/api/v1/jobs/", asked).json()["results"]
    assert [job["id"] for job in found] == [fleet["last_night"].pk]
    assert client.get("/api/v1/jobs/", {**asked, "card": 4}).json()["results"] == []


def test_what_fills_the_disk_of_a_node_and_how_long_it_lasts(fleet, page):
    """The tenth question: in two clicks from the fleet."""
    node = Node.objects.get(name="npu-16")
    Job.objects.filter(pk=fleet["mine"].pk).update(node=node, folder_kb=5_000_000)
    Job.objects.filter(pk=fleet["theirs"].pk).update(node=node, folder_kb=2_000_000)
    assert f"/nodes/{node.pk}/disk/" in page(f"/nodes/{node.pk}/")
    text = page(f"/nodes/{node.pk}/disk/")
    assert [word in text for word in ("EP2501", "another project", "The disk is full.")] == [
        True] * 3
    assert "EP-OTHER" not in text
    rows = disks.contents(node, fleet["mine"].created_by)
    assert [(row["name"], round(row["mb"])) for row in rows[:1]] == [("EP2501", 4883)]


def test_which_cards_stand_free_though_somebody_waits(fleet, people, page):
    """The eleventh: free cards by node beside what waits there."""
    queue = {row["node"].name: row for row in queries.queues_of(
        Node.objects.all(), people[Role.OPERATOR], timezone.now())}
    waiting = {name: (row["free"], len(row["waiting"])) for name, row in queue.items()
               if row["waiting"]}
    leases = CardLease.objects.filter(node__name="npu-01", released_at=None).count()
    assert waiting == {"npu-01": (8 - leases, 1)}
    assert "of which 0 are free" in page(f"/jobs/{fleet['waits'].pk}/")


def test_whose_jobs_a_maintenance_touches(fleet, people, page):
    """The twelfth: on the calendar and on the job's page."""
    now = timezone.now()
    node_calendar.reserve(actor=people[Role.OPERATOR], node=Node.objects.get(name="npu-01"),
                          starts_at=now, ends_at=now + 3 * fleet_world.HOUR, reason="换卡",
                          stops_jobs_at=now + fleet_world.HOUR)
    stop = f"{timezone.localtime(now + fleet_world.HOUR):%Y-%m-%d %H:%M}"
    sentence = f"Jobs that still run at {stop} are stopped."
    assert [sentence in page(url) for url in (
        "/nodes/calendar/", "/nodes/", f"/jobs/{fleet['mine'].pk}/")] == [True] * 3


def test_shares_of_the_projects_stand_beside_the_queue(fleet, page, people):
    assert [(row["held"], row["percent"]) for row in queries.shares_of(people[Role.OPERATOR])] == [
        (6, 75), (2, 25)]
    assert "EP-OTHER" not in page("/jobs/queue/")


def test_figures_of_nodes_for_prometheus(fleet):
    found = {figure.name: dict(figure.read(timezone.now())) for figure in FIGURES
             if figure.elsewhere or figure.name == "desk_card_alarms"}
    assert found["desk_node_condition"]["npu-07"] == 3
    assert found["desk_card_temperature_celsius"]["npu-07", "3"] == 97
    assert found["desk_cards_held"] == {"npu-01": 8}
    assert found["desk_card_alarms"] == {"heat": 1}


def test_an_alarm_is_acknowledged_or_silent_until_a_time_and_its_card_stays_unused(fleet, people):
    sick, now, operator = Node.objects.get(name="npu-07"), timezone.now(), people[Role.OPERATOR]
    alarm = CardAlarm.objects.get()
    card_alarms.acknowledge_alarm(actor=operator, alarm=alarm, note="等风扇")
    assert condition_of(sick, now).level == "warning"
    with pytest.raises(InvalidInput):
        card_alarms.silence_alarm(actor=operator, alarm=alarm, until=now, reason="x")
    card_alarms.silence_alarm(actor=operator, alarm=alarm, until=now + fleet_world.HOUR,
                              reason="等风扇")
    levels = [condition_of(Node.objects.get(name="npu-07"), at).level
              for at in (now, now + 2 * fleet_world.HOUR)]
    assert levels == ["info", "warning"]
    assert 3 not in card_leases.free_cards(sick)


def test_a_reading_opens_and_ends_alarms_and_owners_of_running_jobs_are_told(fleet, people):
    node = Node.objects.get(name="npu-01")
    chip = {"name": "910B3", "health": "OK", "temperature_c": 80.0}
    Node.objects.filter(pk=node.pk).update(temperature_limit=75)
    node.refresh_from_db()
    keep_cards(node, [chip])
    assert CardAlarm.objects.get(node=node).value == "80 °C"
    told = Notice.objects.filter(recipient=people[Role.CONSULTANT])
    assert [notice.event.kind for notice in told] == ["job_card_alarm"]
    keep_cards(node, [{**chip, "temperature_c": 50.0}])
    assert not CardAlarm.objects.filter(node=node, cleared_at=None).exists()


@pytest.mark.slow
def test_a_node_is_deleted_if_nothing_ran_there_else_retired(fleet, people, page, client):
    operator = people[Role.OPERATOR]
    used, fresh = Node.objects.get(name="npu-03"), Node.objects.get(name="npu-15")
    with pytest.raises(WrongState):
        services.delete_node(actor=operator, node=used)
    with pytest.raises(WrongState):
        services.retire_node(actor=operator, node=Node.objects.get(name="npu-01"))
    services.delete_node(actor=operator, node=fresh)
    services.retire_node(actor=operator, node=used)
    assert [name in page("/nodes/") for name in ("npu-15", "npu-03")] == [False, False]
    assert "npu-03" in page("/nodes/?retired")
    assert "#" + str(fleet["last_night"].pk) in page(f"/nodes/{used.pk}/")
    end = f"{timezone.localtime(timezone.now() + fleet_world.HOUR):%Y-%m-%dT%H:%M}"
    kept = Node.objects.get(name="npu-30")
    client.post(f"/nodes/{kept.pk}/maintenance/", {"on": "yes", "until": end, "reason": "换卡"})
    assert "换卡" in condition_of(kept, timezone.now()).obstacle.sentence
