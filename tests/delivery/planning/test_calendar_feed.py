"""The calendar of plans: what it says, and who can open it."""

import logging
from datetime import date, timedelta

import pytest
from django.urls import reverse
from django.utils import timezone
from icalendar import Calendar
from rest_framework.test import APIClient

from delivery.planning.models import Milestone, Task
from delivery.planning.plan.task_dates import schedule
from delivery.planning.services import plans
from delivery.planning.services.control import add_todo
from engagements import services
from engagements.models import ApiToken, Engagement, Membership, Role


@pytest.fixture
def plan(people, engagement):
    services.add_model(actor=people[Role.MANAGER], engagement=engagement, code="LLM", name="大模型")
    return plans.draft_plan(actor=people[Role.MANAGER], engagement=engagement,
                            starts_on=timezone.localdate())


def subscribe(owner, **facts) -> tuple[ApiToken, str]:
    token, key = services.create_token(actor=owner, owner=owner, name="手机日历",
                                       scope="calendar", **facts)
    return token, reverse("planning:calendar_feed", args=[key])


def events(answer) -> dict[str, dict]:
    assert answer.status_code == 200
    return {str(event["uid"]).partition("@")[0]: event
            for event in Calendar.from_ical(answer.content).walk("VEVENT")}


def summaries(answer) -> list[str]:
    return [str(event["summary"]) for event in events(answer).values()]


def test_tasks_and_milestones_have_the_days_of_the_plan(client, plan, people):
    milestone = Milestone.objects.create(plan=plan, name="付款", percent=0, trigger="TR",
                                         task=plan.tasks.last())
    _token, address = subscribe(people[Role.CONSULTANT])
    answer = client.get(address)
    found = events(answer)
    rows = schedule(plan)
    assert answer["Content-Type"] == "text/calendar; charset=utf-8"
    assert {key for key in found if key.startswith("task-")} == {f"task-{row.task.pk}"
                                                                for row in rows}
    for row in rows:
        event = found[f"task-{row.task.pk}"]
        assert (event.decoded("dtstart"), event.decoded("dtend")) == (
            row.start, row.finish + timedelta(days=1))
        assert str(event["summary"]) == f"EP2501 · {row.task}"
    finish = next(row.finish for row in rows if row.task.pk == milestone.task_id)
    assert found[f"milestone-{milestone.pk}"].decoded("dtstart") == finish


def test_languages_and_to_dos_of_one_s_own(client, plan, people, engagement):
    consultant, manager = people[Role.CONSULTANT], people[Role.MANAGER]
    for owner in (consultant, manager):
        add_todo(actor=manager, engagement=engagement, text=f"of {owner}", owner=owner,
                 due_on=date(2030, 5, 6))
    _token, address = subscribe(consultant)
    for language, summary in (("en", "EP2501 · To do: of Consultant"),
                              ("zh-hans", "EP2501 · 待办：of Consultant")):
        found = summaries(client.get(f"{address}?lang={language}"))
        assert [text for text in found if " of " in text or "：of" in text] == [summary]


def test_the_address_is_all_that_is_needed_and_opens_nothing_else(client, plan, people):
    token, address = subscribe(people[Role.CONSULTANT])
    key = address.rpartition("/")[2].removesuffix(".ics")
    assert client.get(address).status_code == 200
    assert client.post(address).status_code == 405
    api = APIClient()
    api.credentials(HTTP_AUTHORIZATION=f"Token {key}")
    assert api.get("/api/v1/engagements/").status_code == 401
    token.refresh_from_db()
    assert token.last_used_at is not None
    _other, key = services.create_token(actor=people[Role.CONSULTANT],
                                        owner=people[Role.CONSULTANT], name="s", scope="write")
    assert client.get(reverse("planning:calendar_feed", args=[key])).status_code == 404


def test_it_ends_when_revoked_and_with_its_owner(client, plan, people):
    owner = people[Role.CONSULTANT]
    token, address = subscribe(owner)
    services.revoke_token(actor=owner, token=token)
    assert client.get(address).status_code == 404
    _token, address = subscribe(owner)
    owner.is_active = False
    owner.save()
    assert client.get(address).status_code == 404


def test_only_plans_of_one_s_teams_and_of_the_token_s_engagement(client, plan, people, engagement):
    manager = people[Role.MANAGER]
    other = Engagement.objects.create(code="EP9999", name="x", customer=engagement.customer)
    Membership.objects.create(engagement=other, user=manager, role=Role.MANAGER)
    services.add_model(actor=manager, engagement=other, code="CV", name="视觉")
    plans.draft_plan(actor=manager, engagement=other, starts_on=timezone.localdate())
    def codes(created) -> set[str]:
        return {text[:6] for text in summaries(client.get(created[1]))}

    assert codes(subscribe(manager)) == {"EP2501", "EP9999"}
    assert codes(subscribe(manager, engagement=other)) == {"EP9999"}
    assert codes(subscribe(people[Role.CONSULTANT])) == {"EP2501"}
    Membership.objects.filter(user=manager, engagement=other).delete()
    assert codes(subscribe(manager)) == {"EP2501"}  # he may see all; he works on one
    Engagement.objects.filter(pk=engagement.pk).update(state=Engagement.State.CLOSED)
    assert codes(subscribe(manager)) == set()


def test_a_plan_that_cannot_be_computed_says_so(client, plan, people):
    Task.objects.filter(plan=plan).update(days=500)
    _token, address = subscribe(people[Role.CONSULTANT])
    assert "more than ten years" in summaries(client.get(f"{address}?lang=en"))[0]


def test_the_page_shows_the_address_once_and_the_log_never(client, plan, people, caplog):
    client.force_login(people[Role.CONSULTANT])
    page = client.post(reverse("people:own_tokens"), {"name": "日历", "scope": "calendar",
                                                      "days": "30"})
    key = page.context["key"]
    address = reverse("planning:calendar_feed", args=[key])
    assert f"http://testserver{address}?lang=" in page.content.decode()
    assert key not in client.get(reverse("people:own_tokens")).content.decode()
    with caplog.at_level(logging.INFO, logger="desk.requests"):
        assert client.get(address).status_code == 200
    assert "/plan-calendar/" in caplog.text
    assert key not in caplog.text + str([record.__dict__ for record in caplog.records])
