"""A kind of channel is one class; what its sending would miss is refused when it is declared."""

import pytest

from delivery.notices import channel_kinds
from delivery.notices.channel_kinds import Request, Sender, register, sender_of
from delivery.notices.forms import ChannelForm
from delivery.notices.models import Channel
from delivery.notices.rate_limits import Rate
from delivery.notices.send_outcomes import Outcome
from delivery.notices.serializers import ChannelSerializer
from delivery.notices.services import channels
from delivery.notices.transport import send_dispatches
from delivery.notices.transport.message_text import Item
from engagements.errors import InvalidInput
from engagements.models import Role


class Pager(Sender):
    code, title, rate, host = "pager", "Pager", Rate(1, 1.0), "pager.example.com"

    def request(self, channel, items, events, now):
        return Request(channel.url, b"{}", {})

    def outcome(self, answer):
        return Outcome(answer.status == 200, http_status=answer.status)


@pytest.fixture
def pager(monkeypatch):
    monkeypatch.setattr(channel_kinds, "_senders", dict(channel_kinds._senders))
    return register(Pager)


@pytest.mark.parametrize(("changed", "lacking"), [
    ({"rate": None}, "rate"), ({"title": ""}, "title"), ({"code": ""}, "code"),
    ({"code": "x" * 13}, "code"), ({"request": Sender.request}, "request"),
    ({"outcome": Sender.outcome}, "outcome")])
def test_an_incomplete_kind_is_refused(changed, lacking):
    with pytest.raises(ValueError, match=f"Broken lacks {lacking}"):
        register(type("Broken", (Pager,), changed))


def test_a_code_is_taken_once(pager):
    with pytest.raises(ValueError, match="declared twice"):
        register(Pager)


@pytest.mark.django_db
def test_a_declared_kind_is_offered_allowed_and_sends(pager, people, other_side, settings):
    settings.NOTICE_HOSTS = [other_side.origin]
    manager = people[Role.MANAGER]
    assert ("pager", "Pager") in list(ChannelForm(of=manager).fields["kind"].choices)
    assert ChannelSerializer().fields["kind"].choices["pager"] == "Pager"
    known = channels.create_channel(actor=manager, name="known", kind="pager",
                                    url="https://pager.example.com/x")
    assert known.get_kind_display() == "Pager"
    channel = channels.create_channel(actor=manager, name="own", kind="pager",
                                      url=f"{other_side.origin}/x")
    assert send_dispatches.deliver(channel, [Item("a", "b", "", "c", "")], []).http_status == 200


@pytest.mark.django_db
def test_a_channel_whose_kind_is_gone_waits_and_shows(client, people):
    Channel.objects.create(name="old", kind="pager", url="https://x.example")
    with pytest.raises(InvalidInput, match="pager"):
        sender_of("pager")
    send_dispatches.send_to_channel(Channel.objects.get().pk)
    client.force_login(people[Role.MANAGER])
    assert "pager" in client.get("/notices/channels/").content.decode()
