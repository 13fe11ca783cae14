"""Lines of a draft: taken from a price list or an estimate, free, changed, removed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.quotes import tax_and_discounts
from delivery.quotes.draft_revisions import differences, keep, locked_draft
from delivery.quotes.models import PriceLine, Quote, QuoteLine, RateCard
from delivery.quotes.money import OWN_CURRENCY
from delivery.quotes.services.rate_cards import computed_total, source_difference
from delivery.quotes.snapshot import grade_label
from engagements.access import Can, require
from engagements.errors import InvalidInput
from engagements.models import User
from engagements.text.text_joining import listed

MAX_LINES = 10_000
PRICE_STEP = Decimal("0.0001")
COPIED = ("category", "code", "name", "name_en", "specification", "specification_en", "stage",
          "grade", "unit")
CHANGEABLE = ("name", "name_en", "specification", "specification_en", "stage", "grade", "unit",
              "quantity", "months", "unit_price", "is_tax_included", "tax_rate", "unit_cost",
              "remark")


def add_line(*, actor: User, quote: Quote, price: PriceLine, quantity: Decimal | None = None,
             months: Decimal = Decimal(1), revision: int | None = None) -> QuoteLine:
    """Add an item of the rate card; prices are copied, so that the card may change later.

    Raises InvalidInput for an item without a price, a card that is not valid on the quote's date,
    a quantity or months of zero and less.
    """
    return _add(actor, quote, price.card, [(price, quantity)], months, revision)[0]


def add_resources(*, actor: User, quote: Quote, card: RateCard, months: Decimal,
                  revision: int | None = None) -> Quote:
    """All cloud resources of a card in their usual quantities, for a number of months."""
    prices = [(price, None) for price in card.lines.filter(category="resource")]
    if not prices:
        raise InvalidInput(_("“%(card)s” lists no cloud resources.") % {"card": card})
    _add(actor, quote, card, prices, months, revision)
    return quote


@transaction.atomic
def _add(actor: User, quote: Quote, card: RateCard,
         prices: Iterable[tuple[PriceLine, Decimal | None]], months: Decimal,
         revision: int | None) -> list[QuoteLine]:
    require(actor, Can.PRICE, quote.engagement)
    quote = locked_draft(quote, revision)
    if not card.is_valid_on(quote.quote_date):
        raise InvalidInput(_("“%(card)s” is not valid on %(day)s; choose another price list.")
                           % {"card": card, "day": quote.quote_date})
    require_convertible(quote, card)
    tax = tax_and_discounts.default_tax_rate(quote.quote_date)
    position = last_position(quote)
    lines = [_line(quote, card, price, quantity, Decimal(months), tax, position + n)
             for n, (price, quantity) in enumerate(prices, 1)]
    check_count(quote, len(lines))
    made = QuoteLine.objects.bulk_create(lines, batch_size=500)
    if any(line.category == PriceLine.Category.RESOURCE for line in lines) \
            and not quote.source and (difference := source_difference(card)):
        # The resource list that the prices come from contradicts itself (R-QUO-01).
        quote.source = {"difference": str(difference), "stated": str(card.stated_total),
                        "computed": str(computed_total(card)), "card": card.name}
    keep(quote, actor, "quote.add_line" if len(made) == 1 else "quote.add_lines",
         code=made[0].code if len(made) == 1 else card.name, lines=len(made))
    return made


def require_convertible(quote: Quote, card: RateCard) -> None:
    """Raise InvalidInput where the quote's exchange rate cannot stand for the list's currency: none
    was entered, or it would be neither to nor from yuan, and costs and portfolio take it for yuan.
    """
    facts = {"card": card, "from": card.currency, "to": quote.currency}
    if card.currency == quote.currency:
        return
    if quote.exchange_rate == 1:
        raise InvalidInput(_("“%(card)s” is in %(from)s, the quote in %(to)s: enter the exchange "
                             "rate first.") % facts)
    if OWN_CURRENCY not in (card.currency, quote.currency):
        raise InvalidInput(_("“%(card)s” is in %(from)s, the quote in %(to)s: choose a price list "
                             "in %(to)s or in %(own)s.") % {**facts, "own": OWN_CURRENCY})


def last_position(quote: Quote) -> int:
    """The position of the last line; 0 without one."""
    return quote.lines.aggregate(last=Max("position"))["last"] or 0


def check_count(quote: Quote, more: int) -> None:
    """Raise InvalidInput when the quote would have too many lines."""
    if quote.lines.count() + more > MAX_LINES:
        raise InvalidInput(_("A quote may have at most %(n)d lines.") % {"n": MAX_LINES})


def priced_line(quote: Quote, price: PriceLine, quantity: Decimal, months: Decimal,
                position: int) -> QuoteLine:
    """An unsaved line of a price list's item, at the tax rate of today."""
    tax = tax_and_discounts.default_tax_rate(timezone.localdate())
    return _line(quote, price.card, price, quantity, Decimal(months), tax, position)


def _line(quote: Quote, card: RateCard, price: PriceLine, quantity: Decimal | None,
          months: Decimal, tax: Decimal, position: int) -> QuoteLine:
    if price.unit_price is None:
        raise InvalidInput(_("“%(item)s” has no price on the rate card.")
                           % {"item": price.localized_name})
    quantity = price.quantity if quantity is None else Decimal(quantity)
    rate = quote.exchange_rate if card.currency != quote.currency else Decimal(1)
    _check_figures({"quantity": quantity, "months": months})
    return QuoteLine(
        quote=quote, position=position, quantity=quantity, tax_rate=tax,
        months=months if price.unit == "month" else Decimal(1),
        unit_price=(price.unit_price / rate).quantize(PRICE_STEP),
        priced_at=rate if card.currency != quote.currency else None,
        unit_cost=None if price.unit_cost is None else (price.unit_cost / rate).quantize(
            PRICE_STEP),
        **{name: getattr(price, name) for name in COPIED})


def _check_figures(fields: Mapping[str, Any]) -> None:
    """Of the fields of a line that are entered; what is left out is right already."""
    if any(Decimal(fields.get(name, 1)) <= 0 for name in ("quantity", "months")):
        raise InvalidInput(_("Quantity and months must be greater than zero."))
    if Decimal(fields.get("unit_price", 0)) < 0 or not 0 <= Decimal(fields.get("tax_rate", 0)) < 1:
        raise InvalidInput(_("The unit price must be at least zero, the tax rate at least 0 % and "
                             "below 100 %."))


@transaction.atomic
def add_free_line(*, actor: User, quote: Quote, revision: int | None = None, **fields
                  ) -> QuoteLine:
    """A line that stands on no price list; fields as in CHANGEABLE, and its category."""
    require(actor, Can.PRICE, quote.engagement)
    quote = locked_draft(quote, revision)
    _check_figures(fields)
    check_count(quote, 1)
    position = last_position(quote) + 1
    line = QuoteLine.objects.create(
        quote=quote, position=position, **{"code": f"F{position:03}", "category": "other",
                                           **fields})
    keep(quote, actor, "quote.add_line", code=line.code)
    return line


@transaction.atomic
def update_line(*, actor: User, line: QuoteLine, revision: int | None = None, **fields
                ) -> QuoteLine:
    """Change a line of a draft; only CHANGEABLE fields."""
    require(actor, Can.PRICE, line.quote.engagement)
    quote = locked_draft(line.quote, revision)
    line = QuoteLine.objects.get(pk=line.pk)
    fields = {name: value for name, value in fields.items() if name in CHANGEABLE}
    _check_figures(fields)
    changes = differences({name: getattr(line, name) for name in fields}, fields)
    for name, value in fields.items():
        setattr(line, name, value)
    if line.priced_at is not None and "unit_price" in changes:
        line.priced_at = quote.exchange_rate  # somebody priced it anew
    line.save()
    keep(quote, actor, "quote.change_line", code=line.code, changes=changes)
    return line


@transaction.atomic
def remove_line(*, actor: User, line: QuoteLine, revision: int | None = None) -> None:
    """Take a line out of a draft."""
    require(actor, Can.PRICE, line.quote.engagement)
    quote = locked_draft(line.quote, revision)
    line.delete()
    keep(quote, actor, "quote.remove_line", code=line.code)


# From estimated person-days, each service at the price of its grade ----------------------


@dataclass(frozen=True)
class EstimatedDays:
    """Person-days of a service (code of the price list) by a grade, and what they follow from."""

    code: str
    grade: str
    days: Decimal
    basis: str = ""


@transaction.atomic
def add_estimated(*, actor: User, quote: Quote, rows: Iterable[EstimatedDays]) -> Quote:
    """A line per row, from the newest price list of the quote's date that holds all of them.

    Raises InvalidInput naming what no price list of that day prices.
    """
    require(actor, Can.PRICE, quote.engagement)
    quote, rows = locked_draft(quote), list(rows)
    card = _card_pricing_all(quote, rows)
    of_code = {price.code: price for price in card.lines.exclude(unit_price=None)}
    of_grade = _of_grade(card)
    check_count(quote, len(rows))
    first = last_position(quote) + 1
    lines = [_estimated_line(quote, row, of_code[row.code], of_grade[row.grade], first + n)
             for n, row in enumerate(rows)]
    QuoteLine.objects.bulk_create(lines, batch_size=500)
    keep(quote, actor, "quote.add_lines", code=card.name, lines=len(lines))
    return quote


def _card_pricing_all(quote: Quote, rows: list[EstimatedDays]) -> RateCard:
    """The newest valid list in the quote's currency on which nothing is missing."""
    missing: list[str] = [_("no price list is valid on %(day)s") % {"day": quote.quote_date}]
    for card in RateCard.objects.valid_on(quote.quote_date).filter(currency=quote.currency):
        codes = set(card.lines.exclude(unit_price=None).values_list("code", flat=True))
        grades = _of_grade(card)
        lacking = sorted({row.code for row in rows if row.code not in codes}
                         | {grade_label(row.grade) for row in rows if row.grade not in grades})
        if not lacking:
            return card
        missing = lacking
    raise InvalidInput(_("The price lists do not cover everything in the "
                         "estimate (%(missing)s). Complete a price list and "
                         "try again.") % {"missing": listed(missing)})


def _of_grade(card: RateCard) -> dict[str, PriceLine]:
    """A person-day line of each grade."""
    days = card.lines.filter(unit="person_day").exclude(unit_price=None).select_related("card")
    found: dict[str, PriceLine] = {}
    for price in days:
        found.setdefault(price.grade, price)
    return found


def _estimated_line(quote: Quote, row: EstimatedDays, price: PriceLine, grade: PriceLine,
                    position: int) -> QuoteLine:
    """The service's words at its own price, or the grade's where another grade does it."""
    source = price if price.grade == row.grade else grade
    line = priced_line(quote, source, row.days, Decimal(1), position)
    for name in ("code", "category", "name", "name_en", "specification", "specification_en",
                 "stage"):
        setattr(line, name, getattr(price, name))
    line.grade, line.unit, line.remark = row.grade, "person_day", row.basis[:240]
    return line
