"""People over all engagements: absences, skills, the week grid, warnings."""

from datetime import date, timedelta
from decimal import Decimal

import pytest
from django.urls import reverse
from django.utils import timezone

from delivery.planning.models import Absence, CalendarDay, PlannedTask, TimeEntry
from delivery.planning.people import planned_tasks
from delivery.planning.people.capacity import overbooking_of, weeks_of
from delivery.planning.plan.task_dates import schedule
from delivery.planning.plan.working_days import monday_of
from delivery.planning.services import people as services
from delivery.planning.services import plans
from delivery.planning.services.time_entries import record_time
from delivery.planning.services.week_time import copy_week, save_week
from delivery.planning.time.week_grid import choices
from engagements.errors import InvalidInput, NotAllowed
from engagements.models import Role
from engagements.services import add_model

MONDAY = date(2025, 7, 7)
TODAY = date(2025, 7, 11)


@pytest.fixture
def manager(people):
    return people[Role.MANAGER]


@pytest.fixture
def consultant(people):
    return people[Role.CONSULTANT]


@pytest.fixture
def model(engagement, manager):
    return add_model(actor=manager, engagement=engagement, code="LLM", name="LLM")


def test_absences_of_one_person_do_not_meet(consultant):
    services.add_absence(actor=consultant, first=MONDAY, last=TODAY)
    with pytest.raises(InvalidInput):
        services.add_absence(actor=consultant, first=TODAY)
    with pytest.raises(InvalidInput):
        services.add_absence(actor=consultant, first=TODAY, last=MONDAY)
    assert Absence.objects.count() == 1


def test_only_managers_enter_for_others(people, consultant, manager):
    with pytest.raises(NotAllowed):
        services.add_absence(actor=consultant, person=manager, first=MONDAY)
    with pytest.raises(NotAllowed):
        services.set_skill(actor=people[Role.REVIEWER], name="ATC")
    with pytest.raises(InvalidInput):
        services.add_absence(actor=manager, person=people[Role.REVIEWER], first=MONDAY)
    with pytest.raises(InvalidInput):
        services.set_skill(actor=consultant, name=" ")
    assert services.add_absence(actor=manager, person=consultant, first=MONDAY).person == consultant


def test_skill_of_the_same_name_is_replaced(consultant):
    services.set_skill(actor=consultant, name="HCIP")
    services.set_skill(actor=consultant, name="HCIP", certificate="4711")
    assert list(consultant.skills.values_list("certificate", flat=True)) == ["4711"]


def test_a_week_counts_planned_booked_absent_and_free(engagement, consultant, manager, model):
    monday = monday_of(timezone.localdate()) + timedelta(days=28)
    for n in range(7):
        CalendarDay.objects.create(day=monday + timedelta(days=n), is_worked=n < 5)
    plan = plans.draft_plan(actor=manager, engagement=engagement, starts_on=monday)
    task = plan.tasks.first()
    plans.update_task(actor=manager, task=task, owner=consultant, days=2, not_before=monday)
    planned_tasks.rebuild()
    services.add_absence(actor=consultant, first=monday + timedelta(days=4))
    [row] = weeks_of([consultant], monday, 1)
    [week] = row.weeks
    assert (week.working, week.planned, week.absent, week.free, week.over) == (
        5, 2, 1, Decimal(2), 0)
    assert overbooking_of(consultant) == ""


def test_two_tasks_at_once_are_overbooked_and_said(client, engagement, consultant, manager, model):
    plan = plans.draft_plan(actor=manager, engagement=engagement,
                            starts_on=monday_of(timezone.localdate()))
    for n in range(3):
        task = plans.add_task(actor=manager, plan=plan, title=f"t{n}", days=10)
        plans.update_task(actor=manager, task=task, owner=consultant)
    planned_tasks.rebuild()
    client.force_login(manager)
    answer = client.post(reverse("planning:task_new", args=[engagement.code]), {
        "title": "one more", "days": 1, "owner": consultant.pk}, follow=True)
    assert overbooking_of(consultant)
    assert overbooking_of(consultant) in [str(one) for one in answer.context["messages"]]


def test_summary_follows_writes_after_the_commit(
        engagement, consultant, manager, model, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        plan = plans.draft_plan(actor=manager, engagement=engagement,
                                starts_on=timezone.localdate())
        task = plan.tasks.first()
        plans.update_task(actor=manager, task=task, owner=consultant)
    assert PlannedTask.objects.get().person == consultant
    with django_capture_on_commit_callbacks(execute=True):
        plans.remove_task(actor=manager, task=task)
    assert not PlannedTask.objects.exists()
    assert planned_tasks.differences() == []


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_an_absence_moves_the_plan(engagement, consultant, manager, model):
    """Five days from Monday, absent on Wednesday and Thursday: until Tuesday, and what follows
    begins on Wednesday; a day off that falls into the second task moves that alone."""
    monday = monday_of(timezone.localdate()) + timedelta(days=28)
    for n in range(21):
        CalendarDay.objects.create(day=monday + timedelta(days=n), is_worked=n % 7 < 5)
    plan = plans.draft_plan(actor=manager, engagement=engagement, starts_on=monday)
    for task in list(plan.tasks.all()):
        plans.remove_task(actor=manager, task=task)
    first, second = (plans.add_task(actor=manager, plan=plan, title=title, days=5)
                     for title in ("one", "two"))
    for task in (first, second):
        plans.update_task(actor=manager, task=task, owner=consultant, not_before=monday)
    plans.link_tasks(actor=manager, before=first, after=second)

    def days() -> list[tuple[int, int, int]]:
        return [((row.start - monday).days, (row.finish - monday).days, row.away)
                for row in schedule(plan)]

    assert days() == [(0, 4, 0), (7, 11, 0)]
    absence = services.add_absence(actor=consultant, first=monday + timedelta(days=2),
                                   last=monday + timedelta(days=3))
    assert days() == [(0, 8, 2), (9, 15, 0)]
    assert planned_tasks.differences() == []
    services.add_absence(actor=consultant, first=monday + timedelta(days=10))
    assert days() == [(0, 8, 2), (9, 16, 1)]
    [row] = weeks_of([consultant], monday, 1)
    assert (row.weeks[0].planned, row.weeks[0].absent, row.weeks[0].over) == (3, 2, 0)
    services.remove_absence(actor=consultant, absence=absence)
    assert days() == [(0, 4, 0), (7, 14, 1)]
    assert planned_tasks.differences() == []


def book(engagement, consultant, day, half="am"):
    return record_time(actor=consultant, engagement=engagement, work_date=day, half=half,
                       item="env", grade="engineer", today=TODAY)


def test_week_grid_books_changes_and_removes(engagement, consultant):
    book(engagement, consultant, MONDAY)
    [key] = choices(consultant, TODAY)
    tuesday = MONDAY + timedelta(days=1)
    assert save_week(actor=consultant, monday=MONDAY, today=TODAY, cells={
        f"{MONDAY}-am": "", f"{tuesday}-am": key, f"{tuesday}-pm": key}) == 3
    assert list(TimeEntry.objects.order_by("half").values_list("work_date", "half")) == [
        (tuesday, "am"), (tuesday, "pm")]
    with pytest.raises(InvalidInput):
        save_week(actor=consultant, monday=MONDAY, today=TODAY, cells={
            f"{tuesday}-am": "", f"{MONDAY}-am": "9:9:design:design:senior"})
    assert TimeEntry.objects.count() == 2


def test_last_week_is_copied_to_empty_working_half_days(engagement, consultant):
    for n in range(5):
        book(engagement, consultant, MONDAY - timedelta(days=7 - n))
    book(engagement, consultant, MONDAY)
    wednesday = MONDAY + timedelta(days=2)
    assert copy_week(actor=consultant, monday=MONDAY, today=wednesday) == 2
    assert copy_week(actor=consultant, monday=MONDAY, today=wednesday) == 0
    assert TimeEntry.objects.filter(work_date__gte=MONDAY).count() == 3


def test_pages_take_what_they_show(client, consultant):
    client.force_login(consultant)
    address = reverse("planning:person", args=[consultant.username])
    client.post(reverse("planning:absence_add", args=[consultant.username]),
                {"first": "2030-01-07", "last": "2030-01-08", "kind": "leave"})
    client.post(reverse("planning:skill_set", args=[consultant.username]), {"name": "ATC"})
    page = client.get(address).content.decode()
    assert "2030-01-07" in page
    assert "ATC" in page
    client.post(reverse("planning:absence_remove", args=[consultant.absences.get().pk]))
    client.post(reverse("planning:skill_remove", args=[consultant.skills.get().pk]))
    assert [consultant.absences.count(), consultant.skills.count()] == [0, 0]
    assert client.get(reverse("planning:people") + "?from=nonsense").status_code == 200
