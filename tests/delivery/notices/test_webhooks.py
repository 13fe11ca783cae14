"""Webhooks against a real receiver that verifies with the library of Standard Webhooks."""

import json
from datetime import timedelta

import pytest
from django.core import mail
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from delivery.notices.event_kinds import KINDS
from delivery.notices.models import Channel, Dispatch, Event, SendAttempt
from delivery.notices.services import channels
from delivery.notices.transport import send_dispatches
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import ApiToken, AuditEntry, Engagement, Role
from tests.delivery.notices.conftest import states


@pytest.fixture
def hook(channel_of):
    """A webhook whose secret the desk made."""
    return channel_of("webhook", secret="")


def deliver(channel) -> None:
    send_dispatches.send_to_channel(channel.pk)


def due_now(channel) -> None:
    """As if the pause after a failure and the bucket's pace were over."""
    channel.dispatches.filter(state="pending").update(due_at=timezone.now())
    Channel.objects.filter(pk=channel.pk).update(tokens=10, refilled_at=timezone.now())


def verified(request: dict, secret: str) -> dict:
    return Webhook(secret).verify(request["body"], {
        name.lower(): value for name, value in request["headers"].items()})


def test_receiver_verifies_what_it_is_sent(hook, other_side, submit):
    submit()
    deliver(hook)
    assert [event["kind"] for event in verified(other_side.received[0], hook.new_secret)["events"]
            ] == ["stage_submitted", "stage_sent_back"]
    with pytest.raises(WebhookVerificationError):
        verified(other_side.received[0], "whsec_" + "A" * 43 + "=")
    forged = {**other_side.received[0], "body": other_side.received[0]["body"] + b" "}
    with pytest.raises(WebhookVerificationError):
        verified(forged, hook.new_secret)


def test_a_repetition_has_the_number_of_the_first(hook, other_side, submit):
    other_side.answers = [(500, {}, "内部错误 \x00".encode()), (204, {}, b"")]
    submit()
    deliver(hook)
    due_now(hook)
    deliver(hook)
    numbers = [request["headers"]["webhook-id"] for request in other_side.received]
    assert (len(numbers), len(set(numbers)), states(hook)) == (2, 1, ["sent", "sent"])
    first, second = SendAttempt.objects.order_by("pk")
    assert (first.answer, first.is_ok, second.is_ok) == ("内部错误 ", False, True)
    assert json.loads(first.payload)["events"][0]["kind"] == "stage_submitted"


def test_both_secrets_sign_for_a_day_after_a_rotation(hook, other_side, submit, people):
    old = hook.new_secret
    rotated = channels.rotate_secret(actor=people[Role.MANAGER], channel=hook)
    submit()
    deliver(hook)
    assert verified(other_side.received[0], old) == verified(other_side.received[0],
                                                             rotated.new_secret)
    Channel.objects.update(previous_secret_until=timezone.now() - timedelta(seconds=1))
    submit()
    deliver(hook)
    verified(other_side.received[1], rotated.new_secret)
    with pytest.raises(WebhookVerificationError):
        verified(other_side.received[1], old)
    entry = AuditEntry.objects.filter(action="channel.rotate_secret").get()
    assert old not in str(entry.rows) + str(entry.data)
    assert rotated.new_secret not in str(entry.rows) + str(entry.data)


def test_a_secret_is_stored_encrypted_and_shown_once(hook, client, people, other_side):
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT secret FROM notices_channel")
        assert hook.new_secret not in cursor.fetchone()[0]
    client.force_login(people[Role.MANAGER])
    address = reverse("notices:channel", args=[hook.pk])
    shown = client.post(reverse("notices:channel_rotate", args=[hook.pk]))
    hook.refresh_from_db()
    assert hook.secret in shown.content.decode()
    assert hook.secret not in client.get(address).content.decode()


def test_a_channel_that_fails_again_and_again_is_switched_off(hook, other_side, submit, people,
                                                              settings):
    settings.NOTICE_MOST_FAILURES = 3
    manager = people[Role.MANAGER]
    manager.email = "manager@example.com"
    manager.save()
    other_side.usual = (503, {}, b"")
    submit()
    for _ in range(3):
        due_now(hook)
        deliver(hook)
    hook.refresh_from_db()
    assert (hook.state, hook.failures, states(hook)) == ("disabled", 3, ["failed", "failed"])
    assert len(other_side.received) == 3
    event = Event.objects.get(kind="channel_disabled")
    assert event.notices.filter(recipient=manager).count() == 1
    send_dispatches.send_mail_to(manager.pk)
    assert f"webhook-{hook.pk}" in mail.outbox[0].body
    # mended: switched on, and sent what it has missed
    other_side.usual = (200, {}, b"")
    channels.switch_channel(actor=manager, channel=hook, is_on=True)
    assert channels.replay(actor=manager, channel=hook,
                           since=timezone.now() - timedelta(hours=1)) == 2
    due_now(hook)
    deliver(hook)
    hook.refresh_from_db()
    assert (hook.failures, states(hook)) == (0, ["sent", "sent"])


@pytest.mark.slow
def test_success_forgets_failures(hook, other_side, submit, settings):
    settings.NOTICE_MOST_FAILURES = 2
    for _ in range(3):
        other_side.answers = [(500, {}, b"")]
        submit()
        deliver(hook)
        due_now(hook)
        deliver(hook)
    hook.refresh_from_db()
    assert (hook.state, hook.failures) == ("active", 0)


def test_gone_means_no_more(hook, other_side, submit):
    other_side.usual = (410, {}, b"")
    submit()
    deliver(hook)
    hook.refresh_from_db()
    assert (hook.state, states(hook)) == ("disabled", ["failed", "failed"])


def test_replay_sends_the_same_events_again(hook, other_side, submit, people):
    submit()
    deliver(hook)
    again = Dispatch.objects.filter(channel=hook).first()
    channels.send_again(actor=people[Role.MANAGER], dispatch=again)
    deliver(hook)
    assert [event["id"] for event in other_side.received[1]["json"]["events"]] == [again.event_id]
    count = channels.replay(actor=people[Role.MANAGER], channel=hook,
                            since=timezone.now() - timedelta(days=1))
    due_now(hook)
    deliver(hook)
    assert (count, other_side.received[2]["json"]) == (2, other_side.received[0]["json"])
    assert channels.replay(actor=people[Role.MANAGER], channel=hook, since=timezone.now()) == 0


def test_a_chat_is_not_told_twice(channel_of, submit, people):
    robot = channel_of("wecom")
    submit()
    deliver(robot)
    for service in (lambda: channels.replay(actor=people[Role.MANAGER], channel=robot,
                                            since=timezone.now()),
                    lambda: channels.rotate_secret(actor=people[Role.MANAGER], channel=robot),
                    lambda: channels.send_again(actor=people[Role.MANAGER],
                                                dispatch=robot.dispatches.first())):
        with pytest.raises(WrongState):
            service()


def test_subscription_of_an_engagement_hears_of_no_other(channel_of, engagement, other_side, submit,
                                                         people):
    elsewhere = channel_of("webhook", secret="", name="elsewhere", kinds=["quote_issued"])
    here = channel_of("webhook", secret="", name="here", engagement=engagement,
                      kinds=["stage_sent_back"])
    submit()
    deliver(here)
    deliver(elsewhere)
    assert [[event["kind"] for event in request["json"]["events"]]
            for request in other_side.received] == [["stage_sent_back"]]


def test_a_token_of_one_engagement_reaches_no_channel_of_another(channel_of, engagement, people):
    manager = people[Role.MANAGER]
    hook = channel_of("webhook", secret="", engagement=engagement)
    other = Engagement.objects.create(code="EP9999", name="x", customer=engagement.customer)
    manager.token = ApiToken(owner=manager, engagement=other)
    assert Channel.objects.visible_to(manager).count() == 0
    assert SendAttempt.objects.visible_to(manager).count() == 0
    for service in (lambda: channels.rotate_secret(actor=manager, channel=hook),
                    lambda: channels.create_channel(actor=manager, name="mine", kind="webhook",
                                                    url=hook.url, engagement=engagement)):
        with pytest.raises(NotAllowed):
            service()


def test_whsec_without_base64_is_refused(channel_of):
    with pytest.raises(InvalidInput):
        channel_of("webhook", secret="whsec_" + "!" * 24)


def test_webhook_by_the_api(people, other_side, submit, django_capture_on_commit_callbacks):
    api = APIClient()
    api.force_authenticate(people[Role.MANAGER])
    made = api.post("/api/v1/notice-channels/", {
        "name": "hook", "kind": "webhook", "url": f"{other_side.origin}/x"}, format="json").json()
    base = f"/api/v1/notice-channels/{made['id']}/"
    submit()
    send_dispatches.send_to_channel(made["id"])
    verified(other_side.received[0], made["new_secret"])
    assert "new_secret" not in api.get(base).json()
    attempt = api.get("/api/v1/notice-attempts/", {"channel": made["id"]}).json()["results"][0]
    assert attempt["message_id"] == other_side.received[0]["headers"]["webhook-id"]
    since = (timezone.now() - timedelta(hours=1)).isoformat()
    with django_capture_on_commit_callbacks() as woken:
        assert api.post(f"{base}replay/", {"since": since}, format="json").json() == {"events": 2}
    assert len(woken) == 1
    rotated = api.post(f"{base}rotate-secret/").json()["new_secret"]
    send_dispatches.send_to_channel(made["id"])
    verified(other_side.received[1], rotated)
    verified(other_side.received[1], made["new_secret"])


def test_pages_of_a_webhook(client, people, other_side, submit):
    client.force_login(people[Role.MANAGER])
    page = client.post(reverse("notices:channel_new"), {
        "name": "hook", "kind": "webhook", "pace": "now", "language": "en",
        "url": f"{other_side.origin}/x"})
    hook = Channel.objects.get()
    assert hook.secret in page.content.decode()
    submit()
    deliver(hook)
    sent = client.get(reverse("notices:attempt", args=[hook.attempts.get().pk]))
    assert hook.attempts.get().message_id in sent.content.decode()
    replay = reverse("notices:channel_replay", args=[hook.pk])
    client.post(replay, {"replay-since": ""}, follow=True)
    assert states(hook) == ["sent", "sent"]
    client.post(replay, {"replay-since": "2020-01-01T00:00"}, follow=True)
    assert states(hook) == ["pending", "pending"]


def test_every_kind_is_documented(settings):
    text = (settings.BASE_DIR / "docs" / "integration.md").read_text()
    assert [code for code in KINDS if f"`{code}`" not in text] == []
