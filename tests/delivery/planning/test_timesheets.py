"""Confirmed months: what stands on a timesheet never changes; a correction is a new entry."""

from datetime import date
from decimal import Decimal

import pytest
from django.urls import reverse
from django.utils.translation import override

from bundle_verifier.canonical import SPACED, content_hash
from delivery.planning import queries
from delivery.planning.effort import usage
from delivery.planning.models import GradeCost, TimeEntry, Timesheet
from delivery.planning.services import time_entries, timesheets
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import Engagement, Membership, Role
from tests.cached_fixtures import cached_fixture

MONTH = date(2025, 9, 1)


@pytest.fixture(autouse=True)
def _in_english():
    """Services speak the active language; the tests read English sentences."""
    with override("en"):
        yield


@pytest.fixture
def book(people, engagement, llm):
    def entry(day=22, half="am", **fields):
        return time_entries.record_time(**{
            "actor": people[Role.CONSULTANT], "engagement": engagement, "half": half,
            "work_date": date(2025, 9, day), "item": "adapt", "grade": "senior", "model": llm,
            **fields})
    return entry


@pytest.fixture
@cached_fixture
def submitted(people, engagement, book):
    """Two days of September and one half-day of October, which is not on the sheet."""
    for day in (22, 23):
        for half in ("am", "pm"):
            book(day, half)
    book(work_date=date(2025, 10, 9))
    return timesheets.confirm_month(actor=people[Role.MANAGER], engagement=engagement,
                                    month=date(2025, 9, 30))


@pytest.fixture
@cached_fixture
def confirmed(people, submitted):
    return timesheets.answer_timesheet(actor=people[Role.REVIEWER], timesheet=submitted,
                                       is_confirmed=True)


def test_a_month_is_confirmed_by_both_sides(people, engagement, confirmed):
    assert (str(confirmed), confirmed.state, confirmed.facts["days"]) == (
        "TS-EP2501-202509-01", "confirmed", "2.0")
    assert confirmed.content_hash == content_hash(confirmed.facts, SPACED)
    assert usage.confirmed_days(engagement) == {"senior": Decimal("2.0")}
    assert queries.open_months(engagement) == [{"month": "2025-10", "entries": 1}]
    with pytest.raises(InvalidInput, match="2025-09"):
        timesheets.confirm_month(actor=people[Role.MANAGER], engagement=engagement, month=MONTH)


def test_who_confirms(people, engagement, book, submitted):
    for role in set(Role.values) - {Role.MANAGER, Role.ADMINISTRATOR}:
        with pytest.raises(NotAllowed):
            timesheets.confirm_month(actor=people[role], engagement=engagement, month=MONTH)
    book(24)
    with pytest.raises(WrongState, match="TS-EP2501-202509-01"):
        timesheets.confirm_month(actor=people[Role.MANAGER], engagement=engagement, month=MONTH)


def test_what_stands_on_a_timesheet_is_not_removed(people, submitted):
    entry = submitted.entries.first()
    for actor in (people[Role.CONSULTANT], people[Role.MANAGER]):
        with pytest.raises(WrongState, match="TS-EP2501-202509-01"):
            time_entries.remove_time(actor=actor, entry=entry)
        with pytest.raises(WrongState, match="awaiting"):
            time_entries.correct_time(actor=actor, entry=entry, reason="x")
    assert submitted.entries.count() == 4


def test_a_rejected_timesheet_gives_its_entries_free(people, engagement, submitted):
    with pytest.raises(InvalidInput):
        timesheets.answer_timesheet(actor=people[Role.REVIEWER], timesheet=submitted,
                                    is_confirmed=False, reason=" ")
    entry = submitted.entries.first()
    timesheets.answer_timesheet(actor=people[Role.REVIEWER], timesheet=submitted,
                                is_confirmed=False, reason="23 日未到场")
    entry.refresh_from_db()
    time_entries.remove_time(actor=people[Role.CONSULTANT], entry=entry)
    again = timesheets.confirm_month(actor=people[Role.MANAGER], engagement=engagement,
                                     month=MONTH)
    assert (again.number, again.facts["days"], usage.confirmed_days(engagement)) == (2, "1.5", {})


def test_the_firm_withdraws_what_is_not_answered(client, people, engagement, submitted):
    manager, entry = people[Role.MANAGER], submitted.entries.first()
    with pytest.raises(InvalidInput):
        timesheets.withdraw_timesheet(actor=manager, timesheet=submitted, reason=" ")
    client.force_login(manager)
    client.post(reverse("planning:timesheet_withdraw", args=[submitted.pk]), {"reason": "漏记一天"})
    page = client.get(reverse("planning:timesheet", args=[submitted.pk])).content.decode()
    assert "漏记一天" in page
    with pytest.raises(WrongState):
        timesheets.answer_timesheet(actor=people[Role.REVIEWER], timesheet=submitted,
                                    is_confirmed=True)
    entry.refresh_from_db()
    time_entries.remove_time(actor=people[Role.CONSULTANT], entry=entry)
    again = timesheets.confirm_month(actor=manager, engagement=engagement, month=MONTH)
    assert (again.number, again.facts["days"]) == (2, "1.5")
    answer = client.post(f"/api/v1/timesheets/{again.pk}/withdraw/", {"reason": "重做"})
    assert answer.json()["state"] == "withdrawn"


def test_a_correction_is_a_new_entry_on_the_next_timesheet(people, engagement, confirmed):
    consultant, manager = people[Role.CONSULTANT], people[Role.MANAGER]
    entry = confirmed.entries.get(work_date=date(2025, 9, 22), half="am")
    before = TimeEntry.objects.filter(pk=entry.pk).values("item", "grade", "note", "timesheet")
    stored = list(before)
    with pytest.raises(InvalidInput):
        time_entries.correct_time(actor=consultant, entry=entry, reason="")
    made = time_entries.correct_time(actor=consultant, entry=entry, reason="实为专家工作",
                             grade="expert")
    assert (made.corrects, made.grade, made.item, made.is_counted) == (entry, "expert", "adapt",
                                                                       True)
    assert list(before.all()) == stored
    with pytest.raises(WrongState, match="corrected"):
        time_entries.correct_time(actor=consultant, entry=entry, reason="again")
    used = {row["grade"]: row["used"] for row in usage.days_by_grade(engagement)}
    assert used == {"senior": Decimal("2.0"), "expert": Decimal("0.5")}  # with October's half-day
    second = timesheets.confirm_month(actor=manager, engagement=engagement, month=MONTH)
    rows = [(row["grade"], row["days"], row["corrects"]) for row in second.facts["rows"]]
    assert sorted(rows) == [("expert", "0.5", ""), ("senior", "-0.5", "TS-EP2501-202509-01")]
    timesheets.answer_timesheet(actor=people[Role.REVIEWER], timesheet=second, is_confirmed=True)
    assert usage.confirmed_days(engagement) == {"senior": Decimal("1.5"),
                                                "expert": Decimal("0.5")}
    assert Timesheet.objects.get(pk=confirmed.pk).facts == confirmed.facts


def test_a_half_day_taken_back_is_free_for_another_engagement(people, engagement, confirmed):
    consultant = people[Role.CONSULTANT]
    entry = confirmed.entries.get(work_date=date(2025, 9, 23), half="pm")
    other = Engagement.objects.create(code="OTHER", name="x", customer=engagement.customer)
    Membership.objects.create(engagement=other, user=consultant, role=Role.CONSULTANT)
    booking = {"actor": consultant, "engagement": other, "work_date": entry.work_date,
               "half": "pm", "item": "env", "grade": "senior"}
    with pytest.raises(InvalidInput):
        time_entries.record_time(**booking)
    back = time_entries.correct_time(actor=consultant, entry=entry, reason="记错项目",
                             is_taken_back=True)
    moved = time_entries.record_time(**booking)
    with pytest.raises(InvalidInput):  # the half-day is taken by now
        time_entries.remove_time(actor=consultant, entry=back)
    time_entries.remove_time(actor=consultant, entry=moved)
    time_entries.remove_time(actor=consultant, entry=back)
    entry.refresh_from_db()
    assert (entry.is_counted, TimeEntry.objects.filter(corrects=entry).exists()) == (True, False)


def test_customer_sees_timesheets_but_no_time_and_no_margin(client, people, submitted):
    client.force_login(people[Role.REVIEWER])
    page = client.get(reverse("planning:timesheet", args=[submitted.pk]))
    assert (page.status_code, list(page.context["moves"])) == (200, ["confirm", "reject"])
    assert client.get(reverse("planning:time", args=["EP2501"])).status_code == 403
    assert client.get("/api/v1/time-entries/").json()["results"] == []
    for text in (page.content.decode(), str(submitted.facts)):
        assert not any(word in text for word in ("margin", "cost", "毛利", "成本"))
    client.post(reverse("planning:timesheet_answer", args=[submitted.pk, "confirm"]))
    submitted.refresh_from_db()
    assert submitted.state == "confirmed"


def test_margin_is_for_managers_only(client, people, confirmed):
    url, seen = reverse("planning:time", args=["EP2501"]), {}
    for role in (Role.ADMINISTRATOR, Role.MANAGER, Role.CONSULTANT, Role.SALES, Role.OPERATOR):
        client.force_login(people[role])
        seen[role] = client.get(url).context["margin"] is not None
    assert seen == {Role.ADMINISTRATOR: True, Role.MANAGER: True, Role.CONSULTANT: False,
                    Role.SALES: False, Role.OPERATOR: False}


def test_by_page_and_by_api(client, people, engagement, book):
    entry = book()
    client.force_login(people[Role.MANAGER])
    done = client.post(reverse("planning:timesheet_submit", args=["EP2501"]),
                       {"month": "2025-09"})
    sheet = Timesheet.objects.get()
    assert done.url == reverse("planning:timesheet", args=[sheet.pk])
    client.force_login(people[Role.REVIEWER])
    answer = client.post(f"/api/v1/timesheets/{sheet.pk}/answer/", {"is_confirmed": True})
    assert answer.json()["state"] == "confirmed"
    client.force_login(people[Role.CONSULTANT])
    url = reverse("planning:time_correct", args=[entry.pk])
    form = client.get(url).context["form"]
    assert form.initial["grade"] == "senior"
    assert client.post(url, {"item": "env", "grade": "senior", "reason": "环境"}).status_code == 302
    assert TimeEntry.objects.get(corrects=entry).item == "env"
    second = book(23)
    client.force_login(people[Role.MANAGER])
    made = client.post("/api/v1/timesheets/", {"engagement": engagement.pk, "month": "2025-09-05"})
    assert (made.status_code, made.json()["facts"]["days"]) == (201, "0.5")
    second.refresh_from_db()
    assert second.timesheet_id == made.json()["id"]
    assert client.post(reverse("planning:timesheet_submit", args=["EP2501"]),
                       {"month": "nonsense"}).status_code == 404


def test_a_rise_today_leaves_what_was_worked_before(people, engagement):
    manager, consultant = people[Role.MANAGER], people[Role.CONSULTANT]
    day = date(2025, 9, 3)
    costs = {date(2025, 1, 1): 1000, date(2025, 8, 1): 1500, date(2025, 10, 1): 9000}
    for valid_from, cost in costs.items():
        time_entries.set_grade_cost(actor=manager, grade="senior", day_cost=Decimal(cost),
                                    valid_from=valid_from)
    time_entries.record_time(actor=consultant, engagement=engagement, half="am", work_date=day,
                             item="adapt", grade="senior")
    assert usage.margin(engagement)["spent"] == 750
    GradeCost.objects.filter(day_cost__lt=9000).delete()
    assert usage.margin(engagement)["missing"] == ["senior engineer"]
