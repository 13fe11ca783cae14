"""The twelve questions of a manager's Monday, answered by the pages as the rows say."""

from collections import Counter, defaultdict
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.db.models import Sum
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from delivery.demo.many_engagements import load_firm
from delivery.demo.practice_removal import real_things
from delivery.planning.models import (
    Absence,
    CalendarDay,
    EffortLine,
    Plan,
    PlannedTask,
    Risk,
    Skill,
    Task,
    TimeEntry,
)
from delivery.planning.people.planned_tasks import differences
from delivery.planning.plan.task_dates import schedule
from delivery.planning.plan.working_days import is_working_day, monday_of
from delivery.portal.home.exceptions import exceptions_of
from delivery.portal.portfolio.rows import rows_of
from delivery.quotes.models import Quote, QuoteLine
from engagements.errors import WrongState
from engagements.models import Engagement, MigratedModel, ModelProgress, User
from engagements.stages import Stage
from tests.cached_fixtures import cached_fixture
from tests.delivery.conftest import api_client
from workers.models import NodeReservation

pytestmark = pytest.mark.slow
TODAY = timezone.localdate


@pytest.fixture(autouse=True)
@cached_fixture
def firm(db):
    """Twenty-four engagements of the seed 1."""
    load_firm(engagements=24, seed=1, say=lambda _text: None)


@pytest.fixture
def manager(firm) -> User:
    return User.objects.get(username="firm-manager-1")


@pytest.fixture
def desk(client, manager):
    """The browser of the manager, in English."""
    client.force_login(manager)
    client.cookies.load({"django_language": "en"})
    return client


@pytest.fixture
def api(manager):
    return api_client(manager)


def found(api, kind, **more):
    rows = api.get("/api/v1/exceptions/", {"everything": True, **more}).json()
    return [row for row in rows if row["kind"] == kind]


def late():
    return {row.code: (TODAY() - row.ends_on).days for row in Engagement.objects.filter(
        state="active", ends_on__lt=TODAY())}


def test_the_firm_is_practice_and_is_not_loaded_twice():
    assert (Engagement.objects.count(), real_things()) == (24, [])
    assert set(Quote.objects.values_list("currency", flat=True)) == {"CNY", "USD", "EUR"}
    with pytest.raises(WrongState):
        load_firm(engagements=1, seed=2)


def test_1_who_is_late_and_by_how_much(api, desk):
    assert len(late()) > 3
    assert {row["engagement"]: row["days"] for row in found(api, "late")} == late()
    page = desk.get(reverse("portal:exceptions") + "?everything=1&kind=late").content.decode()
    assert all(f"{days} day" in page and code in page for code, days in late().items())


def test_2_by_whose_hand(api):
    expected = {}
    for code in late():
        engagement = Engagement.objects.get(code=code)
        rows = ModelProgress.objects.filter(engagement=engagement).exclude(stage="")
        row = min(rows, key=lambda one: (Stage.values.index(one.stage), one.pk))
        owner = Task.objects.filter(model=row.model, stage=row.stage).first().owner
        hand = engagement.memberships.filter(
            role="manager").first().user if row.state == "submitted" else owner
        expected[code] = hand.full_name_en if hand else ""
    by_code = {row["engagement"]: row["person"] for row in found(api, "late")}
    assert any(expected.values())
    assert by_code == expected


def test_3_which_five_need_me(desk, manager, api):
    rows = api.get("/api/v1/exceptions/").json()
    assert len(rows) > 5
    mine = set(manager.memberships.values_list("engagement__code", flat=True))
    assert {row["engagement"] for row in rows} <= mine | {""}
    assert [(row["level"], -row["days"]) for row in rows] == sorted(
        (row["level"], -row["days"]) for row in rows)
    shown = desk.get(reverse("portal:exceptions") + "?few=1").context["rows"]
    assert [row.url for row in shown] == [row["url"] for row in rows[:5]]
    assert f'hx-get="{reverse("portal:exceptions")}?few=1"' in desk.get("/").content.decode()


def load_of_week(monday):
    """Planned and absent working days by username, from the schedules of the plans."""
    firm = {row.day: row for row in CalendarDay.objects.all()}
    days = [monday + timedelta(days=n) for n in range(7)]
    worked = [day for day in days if is_working_day(day, firm)]
    away = {(row.person.username, day) for row in Absence.objects.select_related("person")
            for day in worked if row.first <= day <= row.last}
    planned, absent = Counter(), Counter(name for name, _day in away)
    for plan in Plan.objects.filter(engagement__state="active"):
        for row in schedule(plan):
            if row.task.owner and not row.task.ended_on:
                name = row.task.owner.username
                planned[name] += sum(row.start <= day <= row.finish and (name, day) not in away
                                     for day in worked)
    return len(worked), planned, absent


def weeks(api, **asked):
    rows = api.get("/api/v1/people-weeks/", {"page_size": 100, **asked}).json()
    rows = rows["results"] if isinstance(rows, dict) else rows
    return {row["username"]: row["weeks"] for row in rows}


def test_4_who_is_overbooked_next_week(api, desk):
    monday = monday_of(TODAY()) + timedelta(days=7)
    working, planned, absent = load_of_week(monday)
    expected = {name: days - (working - absent[name]) for name, days in planned.items()
                if days > working - absent[name]}
    assert expected
    assert {name: row[1]["over"] for name, row in weeks(api).items() if row[1]["over"]
            } == expected
    page = desk.get(reverse("planning:people")).content.decode()
    assert all(f"over by {days}" in page for days in expected.values())


def test_5_who_is_free_with_a_skill(api, desk):
    monday = monday_of(TODAY()) + timedelta(days=7)
    working, planned, absent = load_of_week(monday)
    names = set(Skill.objects.filter(name="MindSpeed").values_list("person__username", flat=True))
    expected = {name: max(0, working - absent[name] - planned[name]) for name in names}
    assert any(expected.values())
    assert {name: int(Decimal(row[0]["free"])) for name, row in weeks(
        api, skill="MindSpeed", start=monday).items()} == expected
    rows = desk.get(reverse("planning:people") + "?skill=MindSpeed").context["rows"]
    assert {row.person.username for row in rows} == names
    assert [row.free for row in rows] == sorted((row.free for row in rows), reverse=True)


def test_6_what_lapses_with_its_amount(api):
    rows = Quote.objects.filter(
        state="issued", valid_until__range=(TODAY(), TODAY() + timedelta(days=14)),
        engagement__state__in=["active", "accepted"])
    assert rows
    sentences = [row["sentence"] for row in found(api, "quote")]
    assert len(sentences) == len(rows)
    for row in rows:
        assert any(str(row) in text and f"{row.snapshot['totals']['gross']} {row.currency}" in text
                   for text in sentences)


def test_7_whose_margin_is_below_the_floor(api):
    living = Engagement.objects.filter(state__in=["active", "accepted"])
    percents = {row.engagement.code: row.margin["percent"]
                for row in rows_of(living, with_money=True)}
    expected = {code for code, percent in percents.items() if percent is None or percent < 25}
    assert 0 < len(expected) < len(percents)
    assert {row["engagement"] for row in found(api, "margin")} == expected


def test_8_which_cards_are_double_booked(api):
    rows = list(NodeReservation.objects.all())
    maintained = [row for row in rows if row.engagement is None]
    expected = {row.engagement.code for row in rows if row.engagement and any(
        one.node_id == row.node_id and one.starts_at < row.ends_at and one.ends_at > row.starts_at
        for one in maintained)}
    assert expected
    assert {row["engagement"] for row in found(api, "cards")} == expected


def test_9_commonest_risks(api, desk):
    titles = defaultdict(set)
    for title, engagement in Risk.objects.values_list("title_en", "engagement"):
        titles[title].add(engagement)
    rows = api.get("/api/v1/learning/").json()["risks"]
    assert {row["title"]: row["engagements"] for row in rows} == {
        title: len(keys) for title, keys in titles.items()}
    assert rows[0]["engagements"] == max(len(keys) for keys in titles.values())
    assert rows[0]["title"] in desk.get(reverse("portal:learning")).content.decode()


def test_10_days_of_similar_models(api):
    rows = api.get("/api/v1/learning/similar/", {"task": "OCR"}).json()
    expected = {(model.engagement.code, model.code): model.time_entries.count() * Decimal("0.5")
                for model in MigratedModel.objects.filter(task="OCR")
                if model.time_entries.exists()}
    assert expected
    assert {(row["engagement"], row["model"]): Decimal(row["used"]) for row in rows} == expected


def test_11_what_a_person_did_between_two_dates(api, desk):
    first, last = TODAY() - timedelta(days=14), TODAY() - timedelta(days=4)
    entries = TimeEntry.objects.filter(work_date__range=(first, last))
    person = User.objects.get(pk=entries.first().person_id)
    expected = Counter(entries.filter(person=person).values_list("engagement__code", flat=True))
    address = reverse("planning:person", args=[person.username])
    rows = api.get(f"/api/v1/people-weeks/{person.username}/work/",
                   {"start": first, "end": last}).json()
    days = defaultdict(Decimal)
    for row in rows:
        days[row["engagement"]] += Decimal(row["days"])
    assert dict(days) == {code: n * Decimal("0.5") for code, n in expected.items()}
    page = desk.get(f"{address}?start={first}&end={last}")
    assert page.context["days"] == sum(expected.values()) * Decimal("0.5")


def test_12_totals_by_grade_and_stage(api, desk):
    answer = api.get("/api/v1/learning/").json()
    used = TimeEntry.objects.count() * Decimal("0.5")
    planned = EffortLine.objects.aggregate(days=Sum("likely"))["days"]
    in_force = Quote.objects.filter(state__in=["issued", "accepted"])
    quoted = QuoteLine.objects.filter(quote__in=in_force, unit="person_day").aggregate(
        days=Sum("quantity"))["days"]
    for name in ("by_grade", "by_stage"):
        sums = {part: sum(Decimal(row[part]) for row in answer[name])
                for part in ("quoted", "planned", "used")}
        assert sums == {"quoted": quoted, "planned": planned, "used": used}
    senior = next(row for row in answer["by_grade"] if row["label"] == "senior engineer")
    assert Decimal(senior["used"]) == TimeEntry.objects.filter(
        grade="senior").count() * Decimal("0.5")
    assert desk.get(reverse("portal:learning")).context["grades"][-1].used == used


def test_each_answer_is_within_three_clicks(desk, manager):
    """Home links to the three pages; one click further are kinds, a person, the card hours."""
    home = desk.get("/").content.decode()
    for name in ("portal:exceptions", "planning:people", "portal:learning", "portal:portfolio"):
        assert f'href="{reverse(name)}"' in home
    assert f'href="{reverse("portal:cards")}"' in desk.get(
        reverse("portal:learning")).content.decode()
    assert reverse("planning:person", args=["firm-consultant-1"]) in desk.get(
        reverse("planning:people")).content.decode()


def test_exceptions_cost_twenty_queries_at_most(manager):
    for is_everything in (False, True):
        with CaptureQueriesContext(connection) as asked:
            assert exceptions_of(manager, is_everything=is_everything).rows
        assert len(asked) <= 20


def test_engagements_that_nobody_looked_at_are_told(desk, manager, monkeypatch):
    """No all-clear for what is past the bound."""
    there = Engagement.objects.exclude(state__in=Engagement.ENDED).count()
    said = "not judged here"
    assert said not in desk.get(reverse("portal:exceptions") + "?everything=1").content.decode()
    monkeypatch.setattr("delivery.portal.home.exceptions.MOST", 2)
    found = exceptions_of(manager, is_everything=True)
    assert (found.looked_at, found.engagements) == (2, there)
    assert said in desk.get(reverse("portal:exceptions") + "?everything=1").content.decode()


def test_closed_engagements_are_no_exception(api):
    closed = set(Engagement.objects.filter(state="closed").values_list("code", flat=True))
    rows = api.get("/api/v1/exceptions/", {"everything": True}).json()
    assert closed
    assert not closed & {row["engagement"] for row in rows}


def test_summaries_of_planned_tasks_are_the_schedules():
    assert PlannedTask.objects.exists()
    assert differences() == []


def test_portfolio_totals_groups_and_order(desk):
    page = desk.get(reverse("portal:portfolio") + "?group=owner&sort=-days&state=active")
    rows = [row for group in page.context["groups"] for row in group.rows]
    assert len(rows) == Engagement.objects.filter(state="active").count()
    assert {group.label for group in page.context["groups"]} == {row.owner for row in rows}
    days = TimeEntry.objects.filter(engagement__state="active").count() * Decimal("0.5")
    assert page.context["all"].totals["days"] == days
    assert sum(group.totals["days"] for group in page.context["groups"]) == days
    first = page.context["groups"][0].rows
    assert [row.effort.days_used for row in first] == sorted(
        (row.effort.days_used for row in first), reverse=True)


def test_portfolio_of_mine(desk, manager):
    rows = desk.get(reverse("portal:portfolio") + "?mine=1").context["rows"]
    assert {row.engagement.pk for row in rows} == set(
        manager.memberships.filter(role="manager").values_list("engagement", flat=True))


def test_search_finds_risks_people_and_claims(desk):
    for words, sort in (("算子缺少", "Risks"), ("顾问03", "People"),
                        ("偶发超时", "Warranty claims")):
        found = desk.get(reverse("portal:search"), {"q": words}).context["found"]
        assert sort in [str(source.title) for source, _hits in found]


def test_card_hours_beside_quoted_resources(api):
    rows = api.get("/api/v1/learning/cards/", {"from": TODAY() - timedelta(days=20)}).json()
    assert rows
    assert all(row["resources"] and Decimal(row["amount"]) > 0 for row in rows)
    row = rows[0]
    assert Decimal(row["per_hour"]) == (Decimal(row["amount"]) / Decimal(row["hours"])).quantize(
        Decimal("0.01"))
    assert sum(map(Decimal, row["models"].values())) == Decimal(row["hours"])
