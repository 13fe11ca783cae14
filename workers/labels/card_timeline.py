"""Cards over a period as rows of an SVG: who held which when, how busy it was, and reservations."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.utils import timezone
from django.utils.translation import gettext as _

from workers.models import NodeReservation

MOST_ROWS = 64  # eight nodes of eight cards
MOST_SPANS = 150  # of a card, the newest; more are thinner than a pixel apart
AHEAD = timedelta(days=14)
TICKS = 6


@dataclass(frozen=True)
class Span:
    """A bar: place and width in the drawing, what it says, and a link where there is one."""

    x: str
    width: str
    words: str
    load: int | None = None  # per cent of the AI cores, in steps of 25; None: no sample tells
    job: int | None = None

    @property
    def is_late(self) -> bool:
        """Whether words behind it would leave the drawing."""
        return float(self.x) > (CardTimeline.left + CardTimeline.right) / 2


@dataclass(frozen=True)
class CardRow:
    label: str
    y: int
    held: list[Span]
    reserved: list[Span]


@dataclass(frozen=True)
class CardTimeline:
    """What the template draws; `left_out` counts cards beyond the first ones, `earlier` leases
    before the newest ones of their cards. `summary` says what it shows to who cannot see it."""

    width: ClassVar[int] = 900
    left: ClassVar[int] = 130
    right: ClassVar[int] = 890
    step: ClassVar[int] = 18

    rows: list[CardRow]
    ticks: list[tuple[str, str]]
    left_out: int
    summary: str
    earlier: int = 0

    @property
    def has_leases(self) -> bool:
        return any(row.held for row in self.rows)

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
    by_card: dict[tuple[str, int], list[Any]] = defaultdict(list)
    for held in leases:
        by_card[held.node, held.card].append(held)
    if not by_card:
        return None
    kept = _by_node(reservations, start, end)
    rows = [CardRow(
        f"{node} · {card}", _place(number),
        [_span(held.start, held.end, _words(held), start, end, load=_load(held),
               job=held.job and held.job.pk) for held in by_card[node, card][:MOST_SPANS]],
        kept.get(node, [])) for number, (node, card) in enumerate(sorted(by_card)[:MOST_ROWS])]
    return CardTimeline(
        rows, _ticks(start, end), max(0, len(by_card) - MOST_ROWS),
        _("Cards over the period; the table below lists the same leases"),
        sum(max(0, len(each) - MOST_SPANS) for each in by_card.values()))


def reservation_timeline(reservations: Iterable[NodeReservation], now: datetime
                         ) -> CardTimeline | None:
    """The reservations and maintenance windows of the next two weeks by node, a row for each; None
    where there is none."""
    kept = [(node, span) for node, spans in sorted(_by_node(
        reservations, now, now + AHEAD).items()) for span in spans]
    rows = [CardRow(node, _place(number), [], [span])
            for number, (node, span) in enumerate(kept[:MOST_ROWS])]
    return CardTimeline(
        rows, _ticks(now, now + AHEAD), max(0, len(kept) - MOST_ROWS),
        _("The next two weeks by node; the table below lists the same periods")) if rows else None


def _by_node(reservations: Iterable[NodeReservation], start: datetime, end: datetime
             ) -> dict[str, list[Span]]:
    found: dict[str, list[Span]] = defaultdict(list)
    for each in reservations:
        if each.starts_at < end and each.ends_at > start:
            found[each.node.name].append(
                _span(each.starts_at, each.ends_at, _reserved(each), start, end))
    return dict(found)


def _place(number: int) -> int:
    return number * CardTimeline.step + 4


def _span(first: datetime, last: datetime, words: str, start: datetime, end: datetime, **more
          ) -> Span:
    """A bar of the period from `start` to `end`."""
    width = CardTimeline.right - CardTimeline.left
    low, high = ((min(max(at, start), end) - start) / (end - start) for at in (first, last))
    return Span(f"{CardTimeline.left + low * width:.1f}", f"{max(1, (high - low) * width):.1f}",
                words, **more)


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
