"""Channels against a real HTTP server: payloads, signatures, claims, retries, secrets."""

import hashlib
import hmac
import json
import logging
from datetime import timedelta
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from django.core import mail
from django.db import connection
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from delivery.notices import channels, claims, sending, services, signing, tasks
from delivery.notices.models import Channel, Dispatch, Event, SendAttempt
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import AuditEntry, Membership, Role

SECRET = "SECdemo0000000000000000000000000000"


def states(channel) -> list[str]:
    return sorted(channel.dispatches.values_list("state", flat=True))


def test_wecom(channel_of, other_side, submit, settings):
    settings.PUBLIC_URL = "https://desk.example.com"
    channel = channel_of("wecom", kinds=["stage_submitted"], language="en")
    submit()
    sending.send_to_channel(channel.pk)
    assert [r["json"] for r in other_side.received] == [{
        "msgtype": "markdown", "markdown": {"content":
            "**Stage submitted: a decision is due** <font color=\"comment\">LLM · Survey</font>\n"
            ">Project: EP2501\n"
            ">[Open](https://desk.example.com/engagements/EP2501/models/LLM/survey/)"}}]
    assert states(channel) == ["sent"]
    attempt = channel.attempts.get()
    assert (attempt.is_ok, attempt.http_status, attempt.events) == (True, 200, 1)


def test_dingtalk_signs_in_the_query(channel_of, other_side, submit):
    channel = channel_of("dingtalk", kinds=["stage_submitted"])
    submit()
    sending.send_to_channel(channel.pk)
    got = other_side.received[0]
    query = parse_qs(urlsplit(got["path"]).query)
    assert query["key"] == ["TOPSECRETKEY"]
    assert len(query["timestamp"][0]) == 13  # milliseconds
    assert quote(query["sign"][0], safe="") == signing.dingtalk_sign(SECRET,
                                                                     query["timestamp"][0])
    assert set(got["json"]["markdown"]) == {"title", "text"}
    assert got["json"]["at"] == {"isAtAll": False}


def test_feishu_signs_in_the_body(channel_of, other_side, submit):
    channel = channel_of("feishu", kinds=["stage_sent_back"], language="en")
    submit()
    sending.send_to_channel(channel.pk)
    body = other_side.received[0]["json"]
    assert body["sign"] == signing.feishu_sign(SECRET, body["timestamp"])
    assert len(body["timestamp"]) == 10  # seconds
    assert body["card"]["header"] == {
        "title": {"tag": "plain_text", "content": "Stage sent back"}, "template": "red"}
    assert body["card"]["elements"][0]["text"]["tag"] == "lark_md"


def test_webhook_is_signed_over_timestamp_and_body(channel_of, other_side, submit):
    channel = channel_of("webhook", kinds=["stage_submitted"])
    submit()
    sending.send_to_channel(channel.pk)
    got = other_side.received[0]
    stamp = got["headers"]["X-Desk-Timestamp"]
    expected = hmac.new(SECRET.encode(), stamp.encode() + b"." + got["body"],
                        hashlib.sha256).hexdigest()
    assert got["headers"]["X-Desk-Signature"] == f"sha256={expected}"
    assert abs(int(stamp) - timezone.now().timestamp()) < 300
    event = Event.objects.get(kind="stage_submitted")
    assert [(e["id"], e["kind"], e["engagement"]) for e in got["json"]["events"]] == [
        (event.pk, "stage_submitted", "EP2501")]


def test_a_doubled_message_sends_nothing_twice(channel_of, other_side, submit):
    channel = channel_of()
    submit()
    for _ in range(3):
        tasks.send_to_channel(channel.pk)
    assert len(other_side.received) == 1


def test_two_senders_never_hold_the_same_row(channel_of, submit):
    channel = channel_of()
    submit()
    now = timezone.now()
    rows = claims.due(now).filter(channel=channel)
    first, second = claims.claim(rows, now), claims.claim(rows, now)
    assert (len(first[1]), len(second[1])) == (2, 0)


def test_rows_of_a_sender_that_died_are_taken_over(channel_of, other_side, submit):
    channel = channel_of()
    submit()
    now = timezone.now()
    claims.claim(claims.due(now).filter(channel=channel), now - claims.HOLD)
    sending.send_to_channel(channel.pk)
    assert states(channel) == ["sent", "sent"]


def test_a_burst_is_merged_when_the_rate_is_used_up(channel_of, other_side, submit):
    channel = channel_of(language="en")
    for _ in range(8):
        submit()
        sending.send_to_channel(channel.pk)
    assert len(other_side.received) == 6  # the bucket's capacity
    waiting = channel.dispatches.filter(state="pending")
    assert waiting.count() == 4
    assert all(row.due_at > timezone.now() for row in waiting)
    long_ago = timezone.now() - timedelta(minutes=1)
    Channel.objects.filter(pk=channel.pk).update(refilled_at=long_ago)
    waiting.update(due_at=long_ago)
    sending.send_to_channel(channel.pk)
    text = other_side.received[-1]["json"]["markdown"]["content"]
    assert (len(other_side.received), text.count("[Open]")) == (7, 4)
    assert channel.attempts.first().events == 4


@pytest.mark.parametrize(("kind", "limit"), [("wecom", 4096), ("feishu", 20_000)])
def test_a_long_digest_keeps_to_the_limit(channel_of, other_side, submit, kind, limit):
    channel = channel_of(kind)
    submit()
    event = Event.objects.first()
    Event.objects.filter(pk=event.pk).update(subject="巡检" * 80)
    event.refresh_from_db()
    copies = [Event(kind=event.kind, engagement=event.engagement, subject=event.subject,
                    path=event.path, at=event.at) for _ in range(60)]
    Event.objects.bulk_create(copies)
    Dispatch.objects.bulk_create(
        Dispatch(event=e, channel=channel, due_at=e.at) for e in copies)
    sending.send_to_channel(channel.pk)
    got = other_side.received[0]
    size = len(got["json"]["markdown"]["content"].encode()) if kind == "wecom" \
        else len(got["body"])
    assert limit * 0.5 < size <= limit
    assert states(channel).count("sent") == claims.MOST_AT_ONCE


# Failures ----------------------------------------------------------------------------

@pytest.mark.parametrize(("kind", "answer", "error"), [
    ("wecom", (200, {}, b'{"errcode":45009,"errmsg":"limit"}'), "rejected 45009"),
    ("dingtalk", (200, {}, b'{"errcode":130101}'), "rejected 130101"),
    ("feishu", (200, {}, b'{"code":9499,"msg":"Bad Request"}'), "rejected 9499"),
    ("feishu", (400, {}, b'{"code":9499}'), "rejected 9499"),
    ("wecom", (200, {}, b"<html>portal</html>"), "unreadable 200"),
    ("wecom", (200, {}, b'{"errcode":false}'), "rejected False"),
    ("wecom", (500, {}, b'{"errcode":0}'), "rejected 0"),
    ("wecom", (200, {}, b'["errcode"]'), "unreadable 200"),
    ("webhook", (500, {}, b""), "http 500")])
def test_failures_are_tried_again_later(channel_of, other_side, submit, kind, answer, error):
    channel = channel_of(kind, kinds=["stage_submitted"])
    other_side.answers = [answer]
    submit()
    sending.send_to_channel(channel.pk)
    row = channel.dispatches.get()
    assert (row.state, row.attempts, row.error) == ("pending", 1, error)
    assert row.due_at > timezone.now()
    Dispatch.objects.update(due_at=timezone.now())
    sending.send_to_channel(channel.pk)
    row.refresh_from_db()
    assert (row.state, row.attempts, row.error) == ("sent", 2, "")
    assert row.sent_at is not None


@pytest.mark.parametrize(("kind", "answer"), [
    ("feishu", (200, {}, b'{"code":19021}')), ("webhook", (302, {"Location": "/x"}, b"")),
    ("webhook", (410, {}, b""))])
def test_what_cannot_get_better_is_given_up_at_once(channel_of, other_side, submit, kind, answer):
    channel = channel_of(kind, kinds=["stage_submitted"])
    other_side.answers = [answer]
    submit()
    sending.send_to_channel(channel.pk)
    assert states(channel) == ["failed"]
    assert len(other_side.received) == 1


def test_given_up_after_eight_attempts_and_sent_again_by_hand(
        channel_of, other_side, submit, people, client):
    channel = channel_of("webhook", kinds=["stage_submitted"])
    other_side.answers = [(503, {}, b"")] * 8
    submit()
    for _ in range(10):
        Dispatch.objects.filter(state="pending").update(due_at=timezone.now())
        sending.send_to_channel(channel.pk)
    row = channel.dispatches.get()
    assert (row.state, row.attempts, len(other_side.received)) == ("failed", 8, 8)
    client.force_login(people[Role.MANAGER])
    assert "503" in client.get(reverse("notices:channel", args=[channel.pk])).content.decode()
    client.post(reverse("notices:again", args=[row.pk]))
    sending.send_to_channel(channel.pk)
    assert states(channel) == ["sent"]
    with pytest.raises(WrongState):
        channels.send_again(actor=people[Role.MANAGER], dispatch=row)


def test_host_taken_off_the_list_gets_nothing(channel_of, other_side, submit, settings):
    channel = channel_of(kinds=["stage_submitted"])
    settings.NOTICE_HOSTS = []
    submit()
    sending.send_to_channel(channel.pk)
    assert (states(channel), other_side.received) == (["failed"], [])
    assert channel.attempts.get().error == "refused"


# What goes where ------------------------------------------------------------------------

def test_customers_channel_gets_only_customers_events(channel_of, submit, record, people):
    channel = channel_of(is_for_customers=True)
    submit()
    assert channel.dispatches.count() == 0


def test_channel_of_another_engagement_gets_nothing(channel_of, submit, engagement):
    from engagements.models import Engagement

    other = Engagement.objects.create(code="X1", name="x", customer=engagement.customer)
    theirs, ours = channel_of(engagement=other), channel_of("feishu", engagement=engagement)
    submit()
    assert (theirs.dispatches.count(), ours.dispatches.count()) == (0, 2)


def test_switched_off_channel_sends_nothing_that_waited(channel_of, other_side, submit, people):
    channel = channel_of()
    submit()
    channels.switch_channel(actor=people[Role.MANAGER], channel=channel, is_on=False)
    sending.send_to_channel(channel.pk)
    channels.switch_channel(actor=people[Role.MANAGER], channel=channel, is_on=True)
    sending.send_to_channel(channel.pk)
    assert (states(channel), other_side.received) == (["withdrawn", "withdrawn"], [])


def test_daily_channel_waits_for_the_digest(channel_of, other_side, submit):
    channel = channel_of(pace="daily")
    submit()
    sending.send_to_channel(channel.pk)
    assert other_side.received == []
    Dispatch.objects.update(due_at=timezone.now())
    sending.send_to_channel(channel.pk)
    assert len(other_side.received) == 1
    assert states(channel) == ["sent", "sent"]


def test_commit_wakes_and_the_sweep_finds_what_was_not_woken(
        channel_of, other_side, submit, settings, django_capture_on_commit_callbacks):
    settings.CELERY_TASK_ALWAYS_EAGER = True
    from delivery.celery import app

    app.conf.task_always_eager = True
    try:
        channel = channel_of()
        with django_capture_on_commit_callbacks(execute=True):
            submit()
        assert states(channel) == ["sent", "sent"]
        submit()  # nobody is woken
        tasks.sweep()
        assert states(channel) == ["sent"] * 4
    finally:
        app.conf.task_always_eager = False


# Nothing confidential ---------------------------------------------------------------------

CONFIDENTIAL = ("某电力公司", "A power company", "1,234,567", "阈值", "2 %", "变电站",
                "TOPSECRETKEY", SECRET)


@pytest.mark.parametrize("kind", ["wecom", "dingtalk", "feishu", "webhook"])
@pytest.mark.parametrize("language", ["zh-hans", "en"])
def test_no_amount_customer_or_threshold_in_a_message(
        channel_of, other_side, submit, people, kind, language):
    from delivery.quotes import services as quotes
    from engagements import audit

    channel = channel_of(kind, language=language)
    submit()
    quotes.load_rate_cards(actor=people[Role.ADMINISTRATOR])
    engagement = Event.objects.first().engagement
    quote_made = quotes.create_quote(actor=people[Role.SALES], engagement=engagement)
    audit.record(actor=people[Role.SALES], action="quote.submit", target=quote_made,
                 engagement=engagement, data={"total": "1,234,567.00"})
    sending.send_to_channel(channel.pk)
    text = json.dumps(other_side.received[0]["json"], ensure_ascii=False)
    assert quote_made.number in text
    assert [word for word in CONFIDENTIAL if word in text] == []
    assert "¥" not in text


def test_secrets_are_stored_encrypted_and_shown_nowhere(
        channel_of, other_side, submit, people, client, caplog):
    caplog.set_level(logging.INFO)
    channel = channel_of("dingtalk")
    other_side.answers = [(500, {}, b"")]
    submit()
    sending.send_to_channel(channel.pk)
    with connection.cursor() as cursor:
        cursor.execute("SELECT url, secret FROM notices_channel")
        stored = str(cursor.fetchall())
    api = APIClient()
    api.force_authenticate(people[Role.ADMINISTRATOR])
    client.force_login(people[Role.ADMINISTRATOR])
    shown = [stored, caplog.text, str(AuditEntry.objects.values_list("data", "target_label")),
             str(list(SendAttempt.objects.values())), str(list(Dispatch.objects.values())),
             api.get("/api/v1/notice-channels/").content.decode(),
             api.get(f"/api/v1/notice-channels/{channel.pk}/").content.decode()]
    for name, arguments in (("channels", []), ("channel", [channel.pk]),
                            ("channel_edit", [channel.pk])):
        shown.append(client.get(reverse(f"notices:{name}", args=arguments)).content.decode())
    assert [text for text in shown if "TOPSECRETKEY" in text or SECRET in text] == []
    assert channel.masked_url == "http://127.0.0.1/******"


# Administration ---------------------------------------------------------------------------

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
        channels.try_channel(actor=people[Role.MANAGER], channel=channel)
    assert channel.attempts.get().error == "rejected 93000"


def test_tests_too_keep_to_the_rate(channel_of, other_side, people):
    channel = channel_of()
    for _ in range(6):
        channels.try_channel(actor=people[Role.MANAGER], channel=channel)
    with pytest.raises(WrongState):
        channels.try_channel(actor=people[Role.MANAGER], channel=channel)
    assert len(other_side.received) == 6


@pytest.mark.parametrize("role", [Role.CONSULTANT, Role.SALES, Role.OPERATOR, Role.REVIEWER])
def test_only_managers_look_after_channels(channel_of, people, role, client):
    channel = channel_of()
    for service in (lambda: channels.create_channel(actor=people[role], name="x", kind="wecom",
                                                    url="https://qyapi.weixin.qq.com/"),
                    lambda: channels.update_channel(actor=people[role], channel=channel),
                    lambda: channels.try_channel(actor=people[role], channel=channel),
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
    assert (made["address"], "secret" in made) == ("http://127.0.0.1/******", False)
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


# E-mail -----------------------------------------------------------------------------------

@pytest.fixture
def mailed(people):
    """The manager has an address and wants stages submitted and sent back at once."""
    manager = people[Role.MANAGER]
    manager.email = "manager@example.com"
    manager.save()
    services.set_preferences(actor=manager, choices={
        "stage_submitted": {"in_inbox": True, "email": "now"}})
    return manager


def test_e_mail_with_a_deep_link_and_nothing_confidential(mailed, submit, settings):
    settings.PUBLIC_URL = "https://desk.example.com/"
    submit()
    for _ in range(2):
        tasks.send_mail_to(mailed.pk)
    message = mail.outbox[0]
    assert (len(mail.outbox), message.to) == (1, ["manager@example.com"])
    assert "https://desk.example.com/engagements/EP2501/models/LLM/survey/" in message.body
    text = message.subject + message.body
    assert [word for word in CONFIDENTIAL if word in text] == []


def test_several_due_e_mails_leave_as_one(mailed, submit):
    submit(3)
    sending.send_mail_to(mailed.pk)
    assert len(mail.outbox) == 1
    assert mail.outbox[0].body.count("/engagements/EP2501/") == 3


def test_who_left_the_team_gets_no_e_mail(people, submit):
    consultant = people[Role.CONSULTANT]
    consultant.email = "c@example.com"
    consultant.save()
    submit()
    assert Dispatch.objects.filter(recipient=consultant).count() == 1
    Membership.objects.filter(user=consultant).delete()
    sending.send_mail_to(consultant.pk)
    assert mail.outbox == []
    assert Dispatch.objects.get(recipient=consultant).state == "withdrawn"


def test_mail_server_away_is_tried_again(mailed, submit, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    submit()
    sending.send_mail_to(mailed.pk)
    row = Dispatch.objects.get(recipient=mailed)
    assert (row.state, row.attempts, row.error) == ("pending", 1, "mail ConnectionRefusedError")
