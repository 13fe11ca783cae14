"""What leaves: payloads, signatures, claims, digests, against a real HTTP server."""

import hashlib
import hmac
from datetime import timedelta
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from django.utils import timezone

from delivery.notices import tasks
from delivery.notices.models import Channel, Dispatch, Event
from delivery.notices.transport import send_dispatches, webhook_signatures
from tests.delivery.notices.conftest import SECRET, states


def test_wecom(channel_of, other_side, submit, settings):
    settings.PUBLIC_URL = "https://desk.example.com"
    channel = channel_of("wecom", kinds=["stage_submitted"], language="en")
    submit()
    send_dispatches.send_to_channel(channel.pk)
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
    send_dispatches.send_to_channel(channel.pk)
    got = other_side.received[0]
    query = parse_qs(urlsplit(got["path"]).query)
    assert query["key"] == ["TOPSECRETKEY"]
    assert len(query["timestamp"][0]) == 13  # milliseconds
    assert quote(query["sign"][0], safe="") == webhook_signatures.dingtalk_sign(SECRET,
                                                                     query["timestamp"][0])
    assert set(got["json"]["markdown"]) == {"title", "text"}
    assert got["json"]["at"] == {"isAtAll": False}


def test_feishu_signs_in_the_body(channel_of, other_side, submit):
    channel = channel_of("feishu", kinds=["stage_sent_back"], language="en")
    submit()
    send_dispatches.send_to_channel(channel.pk)
    body = other_side.received[0]["json"]
    assert body["sign"] == webhook_signatures.feishu_sign(SECRET, body["timestamp"])
    assert len(body["timestamp"]) == 10  # seconds
    assert body["card"]["header"] == {
        "title": {"tag": "plain_text", "content": "Stage sent back"}, "template": "red"}
    assert body["card"]["elements"][0]["text"]["tag"] == "lark_md"


def test_webhook_is_signed_over_timestamp_and_body(channel_of, other_side, submit):
    channel = channel_of("webhook", kinds=["stage_submitted"])
    submit()
    send_dispatches.send_to_channel(channel.pk)
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
    rows = Dispatch.objects.due(now).filter(channel=channel)
    first, second = send_dispatches.claim_batch(rows, now), send_dispatches.claim_batch(rows, now)
    assert (len(first[1]), len(second[1])) == (2, 0)


def test_rows_of_a_sender_that_died_are_taken_over(channel_of, other_side, submit):
    channel = channel_of()
    submit()
    now = timezone.now()
    due = Dispatch.objects.due(now).filter(channel=channel)
    send_dispatches.claim_batch(due, now - send_dispatches.CLAIM_DURATION)
    send_dispatches.send_to_channel(channel.pk)
    assert states(channel) == ["sent", "sent"]


@pytest.mark.slow
def test_a_burst_is_merged_when_the_rate_is_used_up(channel_of, other_side, submit, monkeypatch):
    """In one moment: what a busy machine takes for it would fill the bucket again."""
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)
    channel = channel_of(language="en")
    for _ in range(8):
        submit()
        send_dispatches.send_to_channel(channel.pk)
    assert len(other_side.received) == 6  # the bucket's capacity
    waiting = channel.dispatches.filter(state="pending")
    assert waiting.count() == 4
    assert all(row.due_at > now for row in waiting)
    long_ago = now - timedelta(minutes=1)
    Channel.objects.filter(pk=channel.pk).update(refilled_at=long_ago)
    waiting.update(due_at=long_ago)
    send_dispatches.send_to_channel(channel.pk)
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
    send_dispatches.send_to_channel(channel.pk)
    got = other_side.received[0]
    size = len(got["json"]["markdown"]["content"].encode()) if kind == "wecom" \
        else len(got["body"])
    assert limit * 0.5 < size <= limit
    assert states(channel).count("sent") == send_dispatches.BATCH_SIZE
