"""The text of messages: codes, stages and links, in one language, cut to a number of bytes."""

import re
from dataclasses import dataclass

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from delivery.notices.models import Event

MARKUP = re.compile(r"[\[\]<>*`\x00-\x1f\x7f\u2028\u2029]")
ELLIPSIS = "…"


@dataclass(frozen=True)
class Item:
    """One event as a message shows it."""

    title: str
    about: str
    project: str
    url: str
    level: str


def item_of(event: Event) -> Item:
    """In the active language; characters that are markup in a chat are taken out."""
    return Item(title=event.title, about=plain(event.about), project=plain(event.project),
                url=settings.PUBLIC_URL.rstrip("/") + event.path, level=event.level)


def test_message_item() -> Item:
    """The message of the button “test”."""
    return Item(_("Test message"), _("The channel works."), "",
                settings.PUBLIC_URL.rstrip("/") + "/", "blue")


def headline(items: list[Item]) -> str:
    """The event's title, or how many events there are."""
    if len(items) == 1:
        return items[0].title
    return ngettext("%(count)d notice", "%(count)d notices", len(items)) % {"count": len(items)}


def plain(text: str) -> str:
    return MARKUP.sub(" ", text)


def clip(text: str, limit: int) -> str:
    """At most `limit` bytes of UTF-8, cut between characters; a cut is marked."""
    data = text.encode()
    if len(data) <= limit:
        return text
    room = limit - len(ELLIPSIS.encode())
    if room < 0:
        return ""
    return data[:room].decode(errors="ignore") + ELLIPSIS


def fit(blocks: list[str], limit: int, separator: str = "\n\n") -> str:
    """As many whole blocks as `limit` bytes hold, then how many are left out."""
    whole = separator.join(blocks)
    if len(whole.encode()) <= limit:
        return whole
    for count in range(len(blocks) - 1, 0, -1):
        text = separator.join([*blocks[:count], left_out(len(blocks) - count)])
        if len(text.encode()) <= limit:
            return text
    return clip(whole, limit)


def left_out(count: int) -> str:
    return ngettext("and %(count)d more notice", "and %(count)d more notices", count) % {
        "count": count}
