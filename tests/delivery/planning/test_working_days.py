"""The firm's own calendar counts before the package's."""

from datetime import date
from html import unescape

import pytest
from django.urls import reverse
from django.utils.translation import override

from delivery.planning.models import CalendarDay
from delivery.planning.plan.task_dates import end_of, schedule
from delivery.planning.plan.working_days import calendar_years, firm_days, is_provisional
from delivery.planning.services import plans, time_entries
from delivery.planning.services.calendar_days import remove_calendar_day, set_calendar_days
from engagements.errors import InvalidInput, NotAllowed
from engagements.models import AuditEntry, Role

pytestmark = pytest.mark.django_db
SATURDAY = date(2060, 9, 25)  # of a year that nobody has announced


def test_a_plan_is_counted_by_the_firm_s_table(people, engagement, llm):
    manager = people[Role.MANAGER]
    plan = plans.draft_plan(actor=manager, engagement=engagement, starts_on=date(2025, 9, 29))
    before = end_of(schedule(plan))
    [day] = set_calendar_days(actor=manager, first=date(2025, 9, 30), is_worked=False, name="厂休")
    assert end_of(schedule(plan)) > before
    remove_calendar_day(actor=manager, day=day)
    assert end_of(schedule(plan)) == before
    assert list(AuditEntry.objects.filter(action__startswith="calendar_day").order_by(
        "pk").values_list("action", flat=True)) == ["calendar_day.set", "calendar_day.remove"]


def test_time_on_a_day_of_the_table_is_booked_as_it_says(people, engagement):
    manager, friday, saturday = people[Role.MANAGER], date(2025, 7, 4), date(2025, 7, 5)
    set_calendar_days(actor=manager, first=friday, is_worked=False, name="厂休")
    set_calendar_days(actor=manager, first=saturday, is_worked=True)
    booked = {"actor": manager, "engagement": engagement, "half": "am", "item": "env",
              "grade": "engineer"}
    with pytest.raises(InvalidInput, match="厂休"):
        time_entries.record_time(work_date=friday, **booked)
    assert time_entries.record_time(work_date=saturday, **booked).work_date == saturday


def test_a_year_says_what_it_is_counted_by(people):
    manager = people[Role.MANAGER]
    assert [(year.year, year.counted_by) for year in calendar_years(2024, {})] == [
        (2024, "package"), (2025, "package"), (2026, "package")]
    set_calendar_days(actor=manager, first=date(2060, 9, 27), last=date(2060, 9, 29),
                      is_worked=False)
    assert is_provisional(2060, firm_days())  # no make-up day is known yet
    set_calendar_days(actor=manager, first=SATURDAY, is_worked=True)
    assert not is_provisional(2060, firm_days())
    assert [(year.year, year.counted_by, year.days) for year in calendar_years(2060, firm_days())
            ] == [(2060, "firm", 4), (2061, "law", 0), (2062, "law", 0)]


def test_days_are_set_again_and_bounds_are_kept(people):
    manager = people[Role.MANAGER]
    for is_worked in (False, True):
        set_calendar_days(actor=manager, first=SATURDAY, is_worked=is_worked)
    assert [row.is_worked for row in CalendarDay.objects.all()] == [True]
    for last in (date(2060, 9, 24), date(2060, 10, 26)):
        with pytest.raises(InvalidInput):
            set_calendar_days(actor=manager, first=SATURDAY, last=last, is_worked=False)
    with pytest.raises(NotAllowed):
        set_calendar_days(actor=people[Role.CONSULTANT], first=SATURDAY, is_worked=False)
    assert CalendarDay.objects.count() == 1


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_the_page_sets_and_removes_days(client, people, language):
    page = reverse("planning:working_days")
    client.force_login(people[Role.MANAGER])
    client.post(page, {"first": "2060-09-25", "is_worked": "True", "name": "国庆调休"})
    [day] = CalendarDay.objects.all()
    answer = client.get(page, headers={"accept-language": language})
    with override(language):
        labels = [str(year.label) for year in calendar_years(date.today().year, firm_days())]
    assert all(text in unescape(answer.content.decode()) for text in [*labels, "国庆调休"])
    client.force_login(people[Role.CONSULTANT])
    assert client.get(page).status_code == 200
    assert client.post(page, {"first": "2060-09-26", "is_worked": "True"}).status_code == 403
    remove = reverse("planning:calendar_day_remove", args=[day.pk])
    assert client.post(remove).status_code == 403
    client.force_login(people[Role.MANAGER])
    client.post(remove)
    assert not CalendarDay.objects.exists()


def test_the_api_does_the_same(api, people):
    days, data = "/api/v1/calendar-days/", {"first": "2060-09-25", "is_worked": True}
    assert api(Role.REVIEWER).get(days).status_code == 403
    assert api(Role.CONSULTANT).post(days, data).status_code == 403
    [made] = api(Role.MANAGER).post(days, data).json()
    assert api(Role.CONSULTANT).get(days).json() == [made] == [
        {"id": made["id"], "day": "2060-09-25", "is_worked": True, "name": ""}]
    assert {"year": 2060, "counted_by": "firm", "days": 1} in api(Role.CONSULTANT).get(
        f"{days}years/").json()
    assert api(Role.CONSULTANT).delete(f"{days}{made['id']}/").status_code == 403
    assert api(Role.MANAGER).delete(f"{days}{made['id']}/").status_code == 204
    assert api(Role.MANAGER).get(days).json() == []
