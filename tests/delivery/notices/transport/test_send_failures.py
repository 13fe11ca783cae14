"""What does not arrive: tried again with pauses, given up, sent again by hand."""


import pytest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import override

from delivery.notices.models import Dispatch
from delivery.notices.send_outcomes import sentence
from delivery.notices.services import channels
from delivery.notices.transport import send_dispatches
from engagements.errors import WrongState
from engagements.models import Role
from tests.delivery.notices.conftest import states


@pytest.mark.parametrize(("language", "expected"), [
    ("en", "The host answered with an HTTP error. Its code: 500."),
    ("zh-hans", "主机返回 HTTP 错误。返回码：500。")])
def test_a_failure_is_told_with_the_other_side_s_code(language, expected):
    with override(language):
        assert sentence("http 500") == expected
        assert "500" not in sentence("http")


@pytest.mark.parametrize(("kind", "answer", "error"), [
    ("wecom", (200, {}, b'{"errcode":45009,"errmsg":"limit"}'), "rejected 45009"),
    ("dingtalk", (200, {}, b'{"errcode":130101}'), "rejected 130101"),
    ("feishu", (200, {}, b'{"code":9499,"msg":"Bad Request"}'), "rejected 9499"),
    ("feishu", (400, {}, b'{"code":9499}'), "rejected 9499"),
    ("wecom", (200, {}, b"<html>portal</html>"), "unreadable 200"),
    ("wecom", (200, {}, b'{"errcode":false}'), "rejected False"),
    ("dingtalk", (200, {}, b'{"errcode":[310000]}'), "rejected [310000]"),
    ("wecom", (500, {}, b'{"errcode":0}'), "rejected 0"),
    ("wecom", (200, {}, b'["errcode"]'), "unreadable 200"),
    ("webhook", (500, {}, b""), "http 500")])
def test_failures_are_tried_again_later(channel_of, other_side, submit, kind, answer, error):
    channel = channel_of(kind, kinds=["stage_submitted"])
    other_side.answers = [answer]
    submit()
    send_dispatches.send_to_channel(channel.pk)
    row = channel.dispatches.get()
    assert (row.state, row.attempts, row.error) == ("pending", 1, error)
    assert row.due_at > timezone.now()
    Dispatch.objects.update(due_at=timezone.now())
    send_dispatches.send_to_channel(channel.pk)
    row.refresh_from_db()
    assert (row.state, row.attempts, row.error) == ("sent", 2, "")
    assert row.sent_at is not None


@pytest.mark.parametrize(("kind", "answer"), [
    ("feishu", (200, {}, b'{"code":19021}')),
    ("feishu", (200, {}, b'{"code":19024}')), ("dingtalk", (200, {}, b'{"errcode":310000}')),
    ("webhook", (302, {"Location": "/x"}, b"")),
    ("webhook", (410, {}, b""))])
def test_what_cannot_get_better_is_given_up_at_once(channel_of, other_side, submit, kind, answer):
    channel = channel_of(kind, kinds=["stage_submitted"])
    other_side.answers = [answer]
    submit()
    send_dispatches.send_to_channel(channel.pk)
    assert states(channel) == ["failed"]
    assert len(other_side.received) == 1


def test_given_up_after_eight_attempts_and_sent_again_by_hand(
        channel_of, other_side, submit, people, client):
    channel = channel_of("webhook", kinds=["stage_submitted"])
    other_side.answers = [(503, {}, b"")] * 8
    submit()
    for _ in range(10):
        Dispatch.objects.filter(state="pending").update(due_at=timezone.now())
        send_dispatches.send_to_channel(channel.pk)
    row = channel.dispatches.get()
    assert (row.state, row.attempts, len(other_side.received)) == ("failed", 8, 8)
    client.force_login(people[Role.MANAGER])
    assert "503" in client.get(reverse("notices:channel", args=[channel.pk])).content.decode()
    client.post(reverse("notices:again", args=[row.pk]))
    with pytest.raises(WrongState):  # it waits already
        channels.send_again(actor=people[Role.MANAGER], dispatch=row)
    send_dispatches.send_to_channel(channel.pk)
    assert states(channel) == ["sent"]


def test_host_taken_off_the_list_gets_nothing(channel_of, other_side, submit, settings):
    channel = channel_of(kinds=["stage_submitted"])
    settings.NOTICE_HOSTS = []
    submit()
    send_dispatches.send_to_channel(channel.pk)
    assert (states(channel), other_side.received) == (["failed"], [])
    assert channel.attempts.get().error == "refused"
