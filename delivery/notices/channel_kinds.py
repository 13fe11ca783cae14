"""The registry of channel kinds: a sender each, which is the whole declaration of its kind."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from django.utils.translation import gettext as _

from delivery.notices.rate_limits import Rate
from delivery.notices.send_outcomes import Outcome
from engagements.errors import InvalidInput

LONGEST_CODE = 12  # of the column


@dataclass(frozen=True)
class Request:
    """What a sender asks a channel's address for."""

    url: str
    body: bytes
    headers: dict[str, str]
    message_id: str = ""  # of those that the delivery log shows with what was sent


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    body: bytes


class Sender:
    """One kind of channel: what it is called, how fast it may send, how it asks and understands.

    Subclasses set code, title and rate, and make the request and judge the answer.
    """

    code: ClassVar[str]
    title: ClassVar[Any]
    rate: ClassVar[Rate]
    host: ClassVar[str] = ""  # always allowed, by HTTPS; else DESK_NOTICE_HOSTS says which are
    makes_secret: ClassVar[bool] = False  # the desk makes the signing secret; it must be there
    may_repeat: ClassVar[bool] = False  # its reader knows an event again that was sent before

    def request(self, channel: Any, items: list[Any], events: list[dict], now: datetime
                ) -> Request:
        """The request of a `models.Channel` for some events, each a `message_text.Item` too."""
        raise NotImplementedError

    def outcome(self, answer: Answer) -> Outcome:
        """Whether it arrived, and what else the answer says."""
        raise NotImplementedError


_senders: dict[str, Sender] = {}


def register(sender: type[Sender]) -> type[Sender]:
    """Class decorator: add the kind of channel.

    Raises ValueError where the declaration is not whole: it would fail when a message is due.
    """
    code = getattr(sender, "code", "")
    missing = [name for name, there in {
        "code": 0 < len(code) <= LONGEST_CODE, "title": getattr(sender, "title", ""),
        "rate": isinstance(getattr(sender, "rate", None), Rate),
        "request": sender.request is not Sender.request,
        "outcome": sender.outcome is not Sender.outcome}.items() if not there]
    if missing:
        raise ValueError(f"channel {sender.__name__} lacks {', '.join(missing)}")
    if code in _senders:
        raise ValueError(f"channel kind {code} is declared twice")
    _senders[code] = sender()
    return sender


def sender_of(kind: str) -> Sender:
    """The sender of a kind. Raises InvalidInput for one that is not installed."""
    if kind not in _senders:
        raise InvalidInput(_("There is no kind of channel “%(code)s”.") % {"code": kind})
    return _senders[kind]


def all_senders() -> list[Sender]:
    return list(_senders.values())


def kinds_that(trait: str) -> list[str]:
    """Codes of the kinds with `makes_secret` or `may_repeat`."""
    return [sender.code for sender in _senders.values() if getattr(sender, trait)]


def channel_choices() -> list[tuple[str, Any]]:
    """(code, title) of all kinds, for the column."""
    return [(sender.code, sender.title) for sender in _senders.values()]
