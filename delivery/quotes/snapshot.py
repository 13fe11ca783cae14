"""From a quote to a frozen snapshot: every fact of the document, none of the firm's costs."""

from collections.abc import Iterable
from decimal import Decimal
from functools import partial
from typing import NamedTuple

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from bundle_verifier import canonical
from delivery.documents.branding.theme import theme_for
from delivery.documents.models import CompanyProfile
from delivery.quotes import tax_and_discounts
from delivery.quotes.models import Quote, QuoteLine
from delivery.quotes.money import (
    LineAmounts,
    amount_in_english,
    amount_in_words,
    line_amounts,
    split,
    sum_in_yuan,
    to_cents,
    totals,
    totals_by_rate,
)
from engagements.text.text_joining import listed

SUPPLIER_FIELDS = ("name", "name_en", "credit_code", "address", "address_en", "phone", "email",
                   "contact_name", "contact_name_en", "bank", "bank_account")
CUSTOMER_FIELDS = ("name", "name_en", "contact_name", "contact_name_en", "contact_phone",
                   "contact_email", "address", "address_en", "credit_code")
LINE_TEXTS = ("code", "category", "name", "name_en", "specification", "specification_en", "stage",
              "grade", "unit", "remark", "is_tax_included")
GRADES = ("manager", "expert", "senior", "engineer", "junior")


class LineRow(NamedTuple):
    """A line as plain values: what amounts, checks, margin and document need of it."""

    code: str
    category: str
    name: str
    name_en: str
    specification: str
    specification_en: str
    stage: str
    grade: str
    unit: str
    remark: str
    quantity: Decimal
    months: Decimal
    unit_price: Decimal
    is_tax_included: bool
    tax_rate: Decimal
    unit_cost: Decimal | None
    priced_at: Decimal | None


def line_rows(quote: Quote) -> list[LineRow]:
    """All lines in their order; half the work of loading the lines themselves."""
    return [LineRow(*row) for row in quote.lines.values_list(*LineRow._fields)]


def snapshot(quote: Quote, lines: list | None = None, amounts: list[LineAmounts] | None = None
             ) -> dict:
    """All facts of the quotation as plain data, in the order of DOMAIN 9.2.

    Args:
        lines: what the quote would hold instead of its stored lines.
        amounts: those of the lines, where they are known already.

    Amounts are strings with two decimals in the quote's currency. Internal cost and note
    are not among them: whatever is made from the snapshot may be shown to the customer.
    """
    lines = line_rows(quote) if lines is None else lines
    amounts = all_amounts(quote, lines) if amounts is None else amounts
    return {**summary(quote, lines, amounts),
            "lines": [line_facts(line, a) for line, a in zip(lines, amounts, strict=True)]}


def all_amounts(quote: Quote, lines: Iterable[QuoteLine | LineRow]) -> list[LineAmounts]:
    """The amounts of lines under the discount of their quote."""
    return [amounts_of(line, quote.discount_rate) for line in lines]


def summary(quote: Quote, lines: list, amounts: list[LineAmounts]) -> dict:
    """The snapshot without its lines: parties, terms, totals, words, payment, staffing."""
    total = totals(amounts)
    money = tax_and_discounts.currency(quote.currency)
    return {
        "number": quote.number, "version": quote.version,
        "quote_date": f"{quote.quote_date}", "valid_until": f"{quote.valid_until}",
        "valid_days": (quote.valid_until - quote.quote_date).days,
        **_parties(quote), "relation": _relation(quote),
        **({"framework": str(quote.framework)} if quote.framework_id else {}),
        "subject": quote.subject, "subject_en": quote.subject_en,
        "currency": money.code, "symbol": money.symbol,
        "exchange_rate": f"{quote.exchange_rate:f}",
        "discount_rate": f"{quote.discount_rate}", "discount_reason": quote.discount_reason,
        "totals": _figures(total), "by_rate": _by_rate(lines, amounts),
        "words": amount_in_words(total.gross), "words_currency": money.name,
        "words_en": amount_in_english(total.gross, money.name_en),
        "payment": _payment(quote, total.gross), "invoice": quote.invoice,
        "staffing": _staffing(quote, lines), "conditions": quote.conditions,
        "notes": quote.notes, "notes_en": quote.notes_en, "source": quote.source,
        "source_note": quote.source_note, "change_reason": quote.change_reason,
    }


def amounts_of(line: QuoteLine | LineRow, discount_rate: Decimal) -> LineAmounts:
    """The amounts of one line under the discount of its quote."""
    return line_amounts(line.quantity, line.months, line.unit_price, line.tax_rate, discount_rate,
                        is_tax_included=line.is_tax_included)


def totals_facts(quote: Quote, lines: Iterable[LineRow]) -> dict:
    """The totals alone, with words and currency: as the snapshot would hold them."""
    total = totals(all_amounts(quote, lines))
    return {**_figures(total), "words": amount_in_words(total.gross), "currency": quote.currency}


def _parties(quote: Quote) -> dict:
    supplier, engagement = CompanyProfile.current(), quote.engagement
    return {
        "customer": {f: getattr(engagement.customer, f) for f in CUSTOMER_FIELDS},
        "supplier": {f: getattr(supplier, f) for f in SUPPLIER_FIELDS},
        "project": {"code": engagement.code, "name": engagement.name,
                    "name_en": engagement.name_en},
        "is_practice": engagement.has_practice_data, "look": theme_for(engagement.customer)}


def line_facts(line: QuoteLine | LineRow, amounts: LineAmounts) -> dict:
    """Texts, figures, and the unit price both ways; only the one agreed on is exact."""
    rate = 1 + line.tax_rate
    both = ((to_cents(line.unit_price / rate), line.unit_price) if line.is_tax_included
            else (line.unit_price, to_cents(line.unit_price * rate)))
    return {**{f: getattr(line, f) for f in LINE_TEXTS},
            "quantity": f"{line.quantity.normalize():f}",
            "months": f"{line.months.normalize():f}", "unit_price": f"{line.unit_price:.4f}",
            "price_net": f"{both[0]:.4f}", "price_gross": f"{both[1]:.4f}",
            "tax_rate": f"{line.tax_rate}", **_figures(amounts)}


def _figures(amounts) -> dict:
    names = ("list_amount", "discount", "net", "tax", "gross")
    return {name: f"{getattr(amounts, name):.2f}" for name in names if hasattr(amounts, name)}


def _by_rate(lines: list, amounts: list[LineAmounts]) -> list[dict]:
    pairs = [(line.tax_rate, a) for line, a in zip(lines, amounts, strict=True)]
    return [{"rate": f"{found.rate}", "net": f"{found.net:.2f}", "tax": f"{found.tax:.2f}",
             "rounding": f"{found.rounding:.2f}"} for found in totals_by_rate(pairs)]


def _relation(quote: Quote) -> dict:
    """Whether it replaces the accepted quotes of other numbers or is agreed on besides them; empty
    where there are none."""
    others = [str(row) for row in Quote.objects.accepted_besides(quote).only("number", "version")
              ] if quote.relation else []
    return {"kind": quote.relation, "to": others} if others else {}


def _payment(quote: Quote, gross: Decimal) -> list[dict]:
    percents = [Decimal(term["percent"]) for term in quote.payment_terms]
    parts = split(gross, percents) if sum(percents) == 100 else [None] * len(percents)
    return [{**term, "amount": None if part is None else f"{part:.2f}"}
            for term, part in zip(quote.payment_terms, parts, strict=True)]


def _staffing(quote: Quote, lines: Iterable) -> list[dict]:
    """The plan, or else the person-days of the lines by grade."""
    if quote.staffing:
        return quote.staffing
    days: dict[str, Decimal] = {}
    for line in lines:
        if line.unit == "person_day":
            days[line.grade] = days.get(line.grade, Decimal(0)) + line.quantity
    known = [grade for grade in (*GRADES, *sorted(set(days) - set(GRADES))) if grade in days]
    return [{"grade": grade, "people": None, "days": f"{days[grade].normalize():f}"}
            for grade in known]


content_hash = partial(canonical.content_hash, version=canonical.SPACED)


def facts_of(quote: Quote) -> dict:
    """The frozen snapshot of an issued quote; of any other its present facts."""
    return quote.snapshot if quote.content_hash else snapshot(quote)


def agreed_facts(quotes: list[Quote]) -> dict:
    """The frozen facts of quotes that stand beside each other: lines and payments one after the
    other, totals added up; {} without a quote.

    Keys: `title`, `currency` (one for all, R-QUO-13), `totals` (net, tax, gross as strings with two
    decimals), `yuan` (net of all and of the person-days in the firm's money, None where no exchange
    rate says it; `rates`: how other currencies became yuan), `lines`, `payment`.
    """
    if not quotes:
        return {}
    facts = [facts_of(quote) for quote in quotes]
    net = [quote.money(Decimal(one["totals"]["net"]))
           for quote, one in zip(quotes, facts, strict=True)]
    services = [quote.money(_services(one)) for quote, one in zip(quotes, facts, strict=True)]
    return {
        "title": listed(map(str, quotes)), "currency": facts[0]["currency"],
        "totals": {name: f"{sum(Decimal(one['totals'][name]) for one in facts):.2f}"
                   for name in ("net", "tax", "gross")},
        "yuan": {"net": _figure(sum_in_yuan(net)), "services": _figure(sum_in_yuan(services)),
                 "rates": [money.conversion for money in net if money.conversion]},
        "lines": [line for one in facts for line in one["lines"]],
        "payment": [term for one in facts for term in one["payment"]]}


def _services(facts: dict) -> Decimal:
    return sum((Decimal(line["net"]) for line in facts["lines"] if line["unit"] == "person_day"),
               Decimal(0))


def _figure(amount: Decimal | None) -> str | None:
    return None if amount is None else f"{amount:.2f}"


def unit_label(code: str) -> str:
    """A unit in the active language."""
    return {"month": _("month"), "person_day": _("person-day"), "once": _("once"),
            "at_cost": _("at cost")}.get(code, code)


def quantity_label(fact: dict) -> str:
    """How much of a line is quoted, with its unit in the active language: `5 × 3 months`."""
    quantity = fact["quantity"]
    if fact["unit"] == "month":
        return f"{quantity} × {months_label(fact['months'])}"
    if fact["unit"] == "person_day":
        return ngettext("%(days)s person-day", "%(days)s person-days", _number(quantity)) % {
            "days": quantity}
    return _("%(quantity)s (%(unit)s)") % {
        "quantity": quantity, "unit": unit_label(fact["unit"])}


def months_label(months: str) -> str:
    """A number of months, whole or not, in the active language."""
    return ngettext("%(months)s month", "%(months)s months", _number(months)) % {
        "months": months}


def _number(figure: str) -> int:
    """What decides on the plural: 1 for exactly one, else 2."""
    return 1 if Decimal(figure) == 1 else 2


def grade_label(code: str) -> str:
    """A grade of the rate card in the active language."""
    return {"manager": _("project manager"), "expert": _("architect, expert"),
            "senior": _("senior engineer"), "engineer": _("engineer"),
            "junior": _("junior, test")}.get(code, code)


def percent(rate: str | Decimal) -> str:
    """A fraction as a percentage without needless zeros."""
    return f"{(Decimal(rate) * 100).normalize():f} %"
