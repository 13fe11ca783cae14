"""What a model's tuning is worth: share of time saved × card hours × price of a card hour."""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import DurationField, ExpressionWrapper, F, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext as _

from assessments.performance.rounds import Cell, History, history
from delivery.quotes.models import PriceLine, RateCard
from engagements.models import MigratedModel
from engagements.remembered_reads import remembered
from engagements.text.text_joining import listed
from workers.models import CardLease

MONTH_HOURS = Decimal(730)  # 8,760 hours of a year by twelve months
CARDS_OF_SERVER = re.compile(r"(\d+)\s*[×x*]\s*(?:昇腾|Ascend|Atlas|NPU)", re.IGNORECASE)
CENT = Decimal("0.01")


@dataclass(frozen=True)
class CardPrice:
    """A server's monthly price on a price list, by its cards and the hours of a month."""

    line: PriceLine
    cards: int

    @property
    def per_hour(self) -> Decimal:
        return self.line.unit_price / (self.cards * MONTH_HOURS)


@dataclass(frozen=True, kw_only=True)
class Benefit:
    """One product, or what of it nobody knows.

    Args:
        cell: the last kept round of tuning against the start, of the first figure that tells of
            time; None without one.
        hours: card hours; None where unknown.
        is_planned: of a month in which the model's cards run through, else held by its jobs so far.
        prices: what the price lists name; none counts where they differ.
    """

    model: MigratedModel
    cell: Cell | None
    hours: Decimal | None
    is_planned: bool
    prices: list[CardPrice]

    @property
    def price(self) -> CardPrice | None:
        found = {(one.per_hour, one.line.card.currency) for one in self.prices}
        return self.prices[0] if len(found) == 1 else None

    @property
    def saved(self) -> Decimal | None:
        """Share of the time: of a throughput that grows by g it is g / (1 + g)."""
        if self.cell is None:
            return None
        relative = self.cell.total.relative
        return Decimal(repr(relative / (1 + relative) if self.cell.metric.is_higher_better
                            else relative))

    @property
    def amount(self) -> Decimal | None:
        if self.saved is None or self.hours is None or self.price is None:
            return None
        return (self.saved * self.hours * self.price.per_hour).quantize(CENT)

    @property
    def amount_sentence(self) -> str:
        if self.amount is None:
            return _("unknown")
        money = {"amount": f"{self.amount:,.2f}", "currency": self.currency}
        return (_("%(amount)s %(currency)s a month") if self.is_planned else
                _("%(amount)s %(currency)s so far")) % money

    @property
    def currency(self) -> str:
        return self.price.line.card.currency if self.price else ""

    @property
    def gain_sentence(self) -> str:
        if self.cell is None:
            return _("unknown: no two kept rounds of tuning measured throughput or time")
        return _("%(metric)s %(gain)s from the start to E%(file)d: %(saved)s %% of the time") % {
            "metric": self.cell.metric.label, "gain": f"{self.cell.total.relative:+.1%}",
            "file": self.cell.measurement.artifact_id, "saved": f"{self.saved * 100:.1f}"}

    @property
    def hours_sentence(self) -> str:
        if self.hours is None:
            return _("unknown: the model's cards are not recorded, and no job of it held one")
        if self.is_planned:
            return _("%(cards)s cards × %(month)s h a month = %(hours)s h") % {
                "cards": self.model.cards, "month": MONTH_HOURS, "hours": f"{self.hours:,.0f}"}
        return _("%(hours)s h held by its jobs so far") % {"hours": f"{self.hours:,.2f}"}

    @property
    def price_sentence(self) -> str:
        if self.price is None:
            return _("unknown: %(why)s") % {"why": _("several prices are valid: %(lines)s") % {
                "lines": listed(f"{one.line.card}, {one.line.localized_name}"
                                for one in self.prices)} if self.prices else _(
                "no valid price list has the monthly price of a server with its number of cards")}
        line = self.price.line
        return _("%(list)s, %(line)s: %(month)s / (%(cards)d × %(hours)s h) = %(price)s "
                 "%(currency)s") % {
            "list": line.card, "line": line.localized_name, "month": f"{line.unit_price:,.2f}",
            "cards": self.price.cards, "hours": MONTH_HOURS,
            "price": f"{self.price.per_hour:.2f}", "currency": self.currency}


def benefits_of(model: MigratedModel, known: History | None = None) -> list[Benefit]:
    """For a month on the model's cards, and for the hours that its jobs held; of both only what is
    known, and one that says what is missing where neither is."""
    common: dict[str, Any] = {"model": model, "cell": _time_cell(known or history(model)),
                              "prices": _card_prices()}
    used = _hours_used(model)
    found = [Benefit(hours=hours, is_planned=is_planned, **common) for hours, is_planned in (
        (model.cards * MONTH_HOURS if model.cards else None, True), (used or None, False)) if hours]
    return found or [Benefit(hours=None, is_planned=False, **common)]


@remembered
def _card_prices() -> list[CardPrice]:
    """Of the price lists valid today the monthly prices of servers that name their cards."""
    return [CardPrice(line, int(cards[1])) for line in PriceLine.objects.filter(
        card__in=RateCard.objects.valid_on(timezone.localdate()), unit="month",
        category=PriceLine.Category.RESOURCE, unit_price__gt=0).select_related("card")
        if (cards := CARDS_OF_SERVER.search(line.specification)) and int(cards[1])]


def _time_cell(known: History) -> Cell | None:
    """Of the rounds' totals the first on throughput or time; memory and shares are no time."""
    return next((cell for cell in known.totals if cell.total
                 and cell.total.relative > -1 and cell.metric.unit in ("/s", "ms")), None)


def _hours_used(model: MigratedModel) -> Decimal:
    held: Any = ExpressionWrapper(Coalesce("released_at", timezone.now()) - F("taken_at"),
                                  output_field=DurationField())
    total = CardLease.objects.filter(job__model=model).aggregate(held=Sum(held))["held"]
    return (Decimal(total.total_seconds()) / 3600).quantize(CENT) if total else Decimal(0)
