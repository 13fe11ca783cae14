"""Lines of a draft from estimated person-days, each service at the price of its grade."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction
from django.utils.translation import gettext as _

from delivery.quotes.draft_revisions import keep, locked_draft
from delivery.quotes.models import PriceLine, Quote, QuoteLine, RateCard
from delivery.quotes.services.lines import check_count, last_position, priced_line
from delivery.quotes.snapshot import grade_label
from engagements.access import Can, require
from engagements.errors import InvalidInput
from engagements.models import User
from engagements.text.text_joining import listed


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
    card = _card(quote, rows)
    of_code = {price.code: price for price in card.lines.exclude(unit_price=None)}
    of_grade = _of_grade(card)
    check_count(quote, len(rows))
    first = last_position(quote) + 1
    lines = [_line(quote, row, of_code[row.code], of_grade[row.grade], first + n)
             for n, row in enumerate(rows)]
    QuoteLine.objects.bulk_create(lines, batch_size=500)
    keep(quote, actor, "quote.add_lines", code=card.name, lines=len(lines))
    return quote


def _card(quote: Quote, rows: list[EstimatedDays]) -> RateCard:
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


def _line(quote: Quote, row: EstimatedDays, price: PriceLine, grade: PriceLine, position: int
          ) -> QuoteLine:
    """The service's words at its own price, or the grade's where another grade does it."""
    source = price if price.grade == row.grade else grade
    line = priced_line(quote, source, row.days, Decimal(1), position)
    for name in ("code", "category", "name", "name_en", "specification", "specification_en",
                 "stage"):
        setattr(line, name, getattr(price, name))
    line.grade, line.unit, line.remark = row.grade, "person_day", row.basis[:240]
    return line
