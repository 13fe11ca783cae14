"""Checks on where the prices and tax rates of a quote's lines come from (R-QUO-10, R-QUO-11)."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from decimal import Decimal

from django.utils.translation import gettext as _

from delivery.quotes.models import PriceLine, Quote, RateCard, TaxRate
from engagements.text.text_joining import listed

SHOWN = 5  # codes in a sentence


@dataclass(frozen=True)
class QuoteCheck:
    """One rule, whether it is met, a sentence that says what to do, and where to do it."""

    code: str
    is_met: bool
    sentence: str
    url: str = ""

    def as_dict(self) -> dict:
        return asdict(self)


def price_checks(quote: Quote, lines: Iterable, page: str, terms: str) -> Iterator[QuoteCheck]:
    """R-QUO-10 exchange rate and price lists, R-QUO-11 tax rates.

    Args:
        lines: of the quote, or what it would hold instead.
        page, terms: addresses of the quote and of its terms.
    """
    yield _exchange_rate(quote, lines, terms)
    yield _price_lists(quote, lines, page)
    yield _tax_rates(quote, lines, page)


def _exchange_rate(quote: Quote, lines: Iterable, url: str) -> QuoteCheck:
    """Every line converted from another currency is converted at the rate that is printed."""
    wrong = [line.code for line in lines
             if line.priced_at is not None and line.priced_at != quote.exchange_rate]
    if not wrong:
        return QuoteCheck("R-QUO-10", True, _("Every price is converted at the exchange rate of "
                                              "the quote."))
    return QuoteCheck("R-QUO-10", False, _(
        "The exchange rate is %(rate)s now; lines priced at another one: %(codes)s. Reprice them "
        "or restore the rate.") % {
            "rate": f"{quote.exchange_rate.normalize():f}", "codes": listed(wrong[:SHOWN])}, url)


def _price_lists(quote: Quote, lines: Iterable, url: str) -> QuoteCheck:
    """No item of the quote has two different prices in lists that are valid on its date."""
    cards = list(RateCard.objects.valid_on(quote.quote_date))
    doubled = _doubled(cards, {line.code: line.name for line in lines}) if len(cards) > 1 else []
    if not doubled:
        return QuoteCheck("R-QUO-10", True, _("No item has two prices on the date of the quote."))
    return QuoteCheck("R-QUO-10", False, _(
        "Price lists valid on %(day)s give different prices for: %(codes)s. End one of them.") % {
            "day": quote.quote_date, "codes": listed(doubled[:SHOWN])}, url)


def _doubled(cards: list[RateCard], named: dict[str, str]) -> list[str]:
    """Codes with more than one price; codes that mean different things in two lists are none."""
    prices: dict[tuple, set[Decimal]] = {}
    rows = PriceLine.objects.filter(card__in=cards).exclude(unit_price=None).values_list(
        "code", "name", "card__currency", "unit_price")
    for code, name, currency, price in rows:
        if named.get(code) == name:
            prices.setdefault((code, currency), set()).add(price)
    return sorted({code for (code, _currency), found in prices.items() if len(found) > 1})


def _tax_rates(quote: Quote, lines: Iterable, url: str) -> QuoteCheck:
    """Every line bears a rate of value-added tax that is valid on the date of the quote."""
    valid = set(TaxRate.objects.valid_on(quote.quote_date).values_list("rate", flat=True))
    wrong = [f"{line.code} ({(line.tax_rate * 100).normalize():f} %)" for line in lines
             if valid and line.tax_rate not in valid]
    if not wrong:
        return QuoteCheck("R-QUO-11", True, _("Every tax rate is valid on the date of the quote."))
    return QuoteCheck("R-QUO-11", False, _(
        "Not valid on %(day)s: %(lines)s. Choose one of the recorded tax rates.") % {
            "day": quote.quote_date, "lines": listed(wrong[:SHOWN])}, url)
