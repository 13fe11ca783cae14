"""The checks a quote must pass before review (DOMAIN 9.4, R-QUO)."""

from dataclasses import dataclass
from decimal import Decimal

from django.utils.translation import gettext as _

from delivery.quotes.models import Quote


@dataclass(frozen=True)
class QuoteCheck:
    """One rule, whether it is met, and a sentence that says what to do."""

    code: str
    is_met: bool
    sentence: str


def run_checks(quote: Quote) -> list[QuoteCheck]:
    """All checks; totals are computed from the lines, so R-QUO-02 and 03 hold by construction."""
    lines = list(quote.lines.all())
    difference = Decimal(quote.snapshot.get("source_difference", "0"))
    percent = sum((Decimal(t["percent"]) for t in quote.payment_terms), Decimal(0))
    return [
        QuoteCheck("R-QUO-01", not difference or bool(quote.source_note.strip()),
                   _source_sentence(quote, difference)),
        QuoteCheck("R-QUO-04", percent == 100,
                   _("Payment milestones add up to %(sum)s %%.") % {"sum": percent}),
        QuoteCheck("R-QUO-05", quote.valid_until >= quote.quote_date,
                   _("Valid until %(day)s.") % {"day": quote.valid_until}),
        QuoteCheck("R-QUO-06", not quote.discount_rate or bool(quote.discount_reason.strip()),
                   _("A discount needs its reason.") if quote.discount_rate
                   else _("No discount.")),
        QuoteCheck("R-QUO-07", bool(lines) and all(line.unit for line in lines),
                   _("%(n)d lines with unit and price.") % {"n": len(lines)} if lines
                   else _("There is no line yet.")),
    ]


def _source_sentence(quote: Quote, difference: Decimal) -> str:
    if not difference:
        return _("The total is the sum of the lines.")
    return _("The source prints a total of %(stated)s, its lines add up to %(computed)s: "
             "%(difference)s differ. Explain it; this quote uses the lines.") % {
        "stated": quote.snapshot["source_stated"], "computed": quote.snapshot["source_computed"],
        "difference": difference}


def failed_checks(quote: Quote) -> list[QuoteCheck]:
    return [check for check in run_checks(quote) if not check.is_met]
