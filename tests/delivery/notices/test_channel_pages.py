"""Channels by their pages and by the API."""


import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from delivery.notices.models import Channel
from delivery.notices.services import channels
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import Role
from tests.delivery.notices.conftest import SECRET


def test_channel_by_the_pages(client, people, other_side):
    client.force_login(people[Role.MANAGER])
    data = {"name": "群", "kind": "wecom", "pace": "now", "language": "en",
            "url": f"{other_side.origin}/send?key=1"}
    wrong = client.post(reverse("notices:channel_new"), {**data, "url": "https://evil.example/"})
    assert "evil.example" in wrong.content.decode()
    assert Channel.objects.count() == 0
    client.post(reverse("notices:channel_new"), data)
    channel = Channel.objects.get()
    client.post(reverse("notices:channel_edit", args=[channel.pk]),
                {**data, "url": "", "name": "new", "kinds": ["job_failed"]})
    channel.refresh_from_db()
    assert (channel.name, channel.kinds, channel.url) == ("new", ["job_failed"], data["url"])
    page = client.post(reverse("notices:channel_test", args=[channel.pk]), follow=True)
    assert page.context["attempts"][0].is_test
    assert other_side.received[0]["json"]["markdown"]["content"].startswith("**Test message**")


def test_failing_test_says_why(channel_of, other_side, people):
    channel = channel_of()
    other_side.usual = (200, {}, b'{"errcode":93000}')
    with pytest.raises(WrongState, match="93000"):
        channels.send_test_message(actor=people[Role.MANAGER], channel=channel)
    assert channel.attempts.get().error == "rejected 93000"


def test_tests_too_keep_to_the_rate(channel_of, other_side, people):
    channel = channel_of()
    for _ in range(6):
        channels.send_test_message(actor=people[Role.MANAGER], channel=channel)
    with pytest.raises(WrongState):
        channels.send_test_message(actor=people[Role.MANAGER], channel=channel)
    assert len(other_side.received) == 6


@pytest.mark.parametrize("role", [Role.CONSULTANT, Role.SALES, Role.OPERATOR, Role.REVIEWER])
def test_only_managers_look_after_channels(channel_of, people, role, client):
    channel = channel_of()
    for service in (lambda: channels.create_channel(actor=people[role], name="x", kind="wecom",
                                                    url="https://qyapi.weixin.qq.com/"),
                    lambda: channels.update_channel(actor=people[role], channel=channel),
                    lambda: channels.send_test_message(actor=people[role], channel=channel),
                    lambda: channels.switch_channel(actor=people[role], channel=channel,
                                                    is_on=False)):
        with pytest.raises(NotAllowed):
            service()
    client.force_login(people[role])
    assert client.post(reverse("notices:channel_test", args=[channel.pk])).status_code == 404


def test_webhook_needs_a_secret(channel_of):
    with pytest.raises(InvalidInput):
        channel_of("webhook", secret="short")


def test_channel_by_the_api(people, other_side):
    api = APIClient()
    api.force_authenticate(people[Role.MANAGER])
    data = {"name": "hook", "kind": "webhook", "secret": SECRET, "kinds": ["job_failed"],
            "url": f"{other_side.origin}/x"}
    assert api.post("/api/v1/notice-channels/", {"name": "n", "kind": "wecom"},
                    format="json").status_code == 400
    made = api.post("/api/v1/notice-channels/", data, format="json").json()
    assert (made["address"], "secret" in made) == (
        f"{other_side.origin}/******", False)
    assert api.patch(f"/api/v1/notice-channels/{made['id']}/", {"pace": "daily"},
                     format="json").json()["pace"] == "daily"
    assert api.post(f"/api/v1/notice-channels/{made['id']}/test/").status_code == 200
    assert other_side.received[0]["json"]["events"][0]["kind"] == "test"
    assert api.post(f"/api/v1/notice-channels/{made['id']}/switch/", {"on": False},
                    format="json").json()["state"] == "closed"
    evil = api.patch(f"/api/v1/notice-channels/{made['id']}/", {"url": "https://evil.example/"},
                     format="json")
    assert evil.status_code == 400
    assert evil["Content-Type"] == "application/problem+json"
