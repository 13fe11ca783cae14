"""People on the customer's side take part: shared minutes, their confirmation, their to-dos."""

from datetime import date

import pytest
from django.urls import reverse
from django.utils import timezone

from delivery.planning.models import Meeting, Todo
from delivery.planning.services import control, minutes
from engagements.errors import NotAllowed, WrongState
from engagements.models import Role

DUE = date(2025, 7, 10)


@pytest.fixture
def meeting(people, engagement):
    return control.record_meeting(
        actor=people[Role.CONSULTANT], engagement=engagement, topic="Kick-off",
        held_at=timezone.now(), chair="Lin", participants="both", decisions="Begin with LLM",
        todos=[{"text": "Send the data set", "owner": people[Role.REVIEWER], "due_on": DUE}])


def page(client, people, role, name, *args):
    client.force_login(people[role])
    return client.get(reverse(f"planning:{name}", args=args))


def test_minutes_are_the_firms_until_they_are_shared(client, people, engagement, meeting):
    assert page(client, people, Role.REVIEWER, "meeting", meeting.pk).status_code == 404
    assert not Meeting.objects.visible_to(people[Role.REVIEWER]).exists()
    minutes.share_minutes(actor=people[Role.CONSULTANT], meeting=meeting)
    shown = page(client, people, Role.REVIEWER, "meeting", meeting.pk).content.decode()
    assert "Begin with LLM" in shown
    assert reverse("planning:control", args=[engagement.code]) not in shown
    with pytest.raises(WrongState):
        minutes.share_minutes(actor=people[Role.CONSULTANT], meeting=meeting)


def test_the_customer_confirms_and_a_correction_ends_it(people, meeting):
    reviewer = people[Role.REVIEWER]
    with pytest.raises(WrongState):
        minutes.confirm_minutes(actor=reviewer, meeting=meeting)
    minutes.share_minutes(actor=people[Role.CONSULTANT], meeting=meeting)
    with pytest.raises(NotAllowed):
        minutes.confirm_minutes(actor=people[Role.MANAGER], meeting=meeting)
    assert minutes.confirm_minutes(actor=reviewer, meeting=meeting).confirmed_by == reviewer
    with pytest.raises(WrongState):
        minutes.confirm_minutes(actor=reviewer, meeting=meeting)
    changed = control.update_meeting(actor=people[Role.CONSULTANT], meeting=meeting,
                                     decisions="Begin with PSR")
    assert (changed.confirmed_by, changed.confirmed_at) == (None, None)
    assert changed.shared_at


def test_the_customers_person_does_what_was_promised(client, people, engagement, meeting):
    own = Todo.objects.get()
    other = control.add_todo(actor=people[Role.MANAGER], engagement=engagement, text="Internal",
                             owner=people[Role.CONSULTANT], due_on=DUE)
    assert list(Todo.objects.visible_to(people[Role.REVIEWER])) == [own]
    shown = page(client, people, Role.REVIEWER, "cooperation", engagement.code).content.decode()
    assert ("Send the data set" in shown, "Internal" in shown) == (True, False)
    done = client.post(reverse("planning:todo_done", args=[own.pk]))
    assert done.url == reverse("planning:cooperation", args=[engagement.code])
    own.refresh_from_db()
    assert own.done_by == people[Role.REVIEWER]
    assert client.post(reverse("planning:todo_done", args=[other.pk])).status_code == 404


def test_minutes_to_confirm_are_a_next_step_of_the_customer(client, people, engagement, meeting):
    client.force_login(people[Role.REVIEWER])
    url = reverse("planning:meeting", args=[meeting.pk])
    assert url not in client.get("/api/v1/desk/").content.decode()
    client.force_login(people[Role.CONSULTANT])
    assert client.post(f"/api/v1/meetings/{meeting.pk}/share/").json()["shared_at"]
    client.force_login(people[Role.REVIEWER])
    assert url in client.get("/api/v1/desk/").content.decode()
    assert client.post(f"/api/v1/meetings/{meeting.pk}/confirm/").json()["confirmed_at"]
    assert url not in client.get("/api/v1/desk/").content.decode()


def test_a_stranger_finds_nothing(client, stranger, engagement, meeting):
    client.force_login(stranger)
    for name, args in (("cooperation", [engagement.code]), ("meeting", [meeting.pk])):
        assert client.get(reverse(f"planning:{name}", args=args)).status_code == 404
    for name in ("minutes_share", "minutes_confirm"):
        assert client.post(reverse(f"planning:{name}", args=[meeting.pk])).status_code == 404
