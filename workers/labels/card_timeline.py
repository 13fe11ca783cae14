"""Cards over a period as rows of an SVG: who held which when, how busy it was, and reservations."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from django.utils import timezone
from django.utils.translation import gettext as _

from workers.models import NodeReservation

MOST_ROWS = 64  # eight nodes of eight cards
TICKS = 6


@dataclass(frozen=True)
class Span:
    """A bar: place and width in the drawing, what it says, and a link where there is one."""

    x: str
    width: str
    words: str
    load: int | None = None  # per cent of the AI cores, in steps of 25; None: no sample tells
    job: int | None = None


@dataclass(frozen=True)
class CardRow:
    label: str
    y: int
    held: list[Span]
    reserved: list[Span]


@dataclass(frozen=True)
class CardTimeline:
    """What the template draws; `left_out` counts cards beyond the first ones."""

    width: ClassVar[int] = 900
    left: ClassVar[int] = 130
    right: ClassVar[int] = 890
    step: ClassVar[int] = 18

    rows: list[CardRow]
    ticks: list[tuple[str, str]]
    left_out: int

    @property
    def height(self) -> int:
        return (len(self.rows) + 2) * self.step

    @property
    def bottom(self) -> int:
        return len(self.rows) * self.step + 4


def card_timeline(leases: Sequence[Any], reservations: Iterable[NodeReservation],
                  start: datetime, end: datetime) -> CardTimeline | None:
    """The cards that were held within the period, by node and number; None where none was.

    Args:
        leases: as of `card_usage.leases_of`, measured.
        reservations: with `is_foreign`; of a node they are drawn on each of its rows, since a
            reservation keeps a number of cards and no certain ones.
    """
    cards = sorted({(held.node, held.card) for held in leases})
    if not cards:
        return None
    kept = list(reservations)

    def span(first: datetime, last: datetime, words: str, **more) -> Span:
        width = CardTimeline.right - CardTimeline.left
        low, high = ((min(max(at, start), end) - start) / (end - start) for at in (first, last))
        return Span(f"{CardTimeline.left + low * width:.1f}", f"{max(1, (high - low) * width):.1f}",
                    words, **more)

    rows = [CardRow(
        f"{node} · {card}", number * CardTimeline.step + 4,
        [span(held.start, held.end, _words(held), load=_load(held),
              job=held.job and held.job.pk) for held in leases
         if (held.node, held.card) == (node, card)],
        [span(each.starts_at, each.ends_at, _reserved(each)) for each in kept
         if each.node.name == node and each.starts_at < end and each.ends_at > start])
        for number, (node, card) in enumerate(cards[:MOST_ROWS])]
    return CardTimeline(rows, _ticks(start, end), max(0, len(cards) - MOST_ROWS))


def _load(held) -> int | None:
    return None if not held.measured else round(4 * held.busy / held.measured) * 25


def _words(held) -> str:
    busy = (_("no samples") if not held.measured else
            _("%(n)d %% busy") % {"n": round(100 * held.busy / held.measured)})
    first, last = (timezone.localtime(at) for at in (held.start, held.end))
    return f"{held.project} · {first:%m-%d %H:%M} – {last:%m-%d %H:%M} · {busy}"


def _reserved(row: NodeReservation) -> str:
    if row.engagement_id is None:
        return _("Maintenance: %(reason)s") % {"reason": row.reason}
    return _("Reserved for %(project)s: %(n)s cards") % {
        "project": _("another project") if row.is_foreign else row.engagement.code,
        "n": row.cards or _("all")}


def _ticks(start: datetime, end: datetime) -> list[tuple[str, str]]:
    width, form = CardTimeline.right - CardTimeline.left, "%m-%d %H:%M"
    return [(f"{CardTimeline.left + number * width / TICKS:.1f}",
             f"{timezone.localtime(start + number * (end - start) / TICKS):{form}}")
            for number in range(TICKS)]
