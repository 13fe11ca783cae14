"""From a quote to a frozen snapshot, and from the snapshot to PDF."""

import hashlib
import json
from decimal import Decimal

from django.utils.translation import gettext as _
from django.utils.translation import override

from delivery.quotes.models import CompanyProfile, Quote
from delivery.quotes.money import amount_in_words, line_amounts, split, totals
from delivery.reports.pdf import render_pdf

SUPPLIER_FIELDS = ("name", "name_en", "credit_code", "address", "phone", "contact_name", "bank",
                   "bank_account")
LINE_TEXTS = ("code", "category", "name", "name_en", "specification", "specification_en", "grade",
              "unit", "remark")


def snapshot(quote: Quote) -> dict:
    """All facts of the quotation as plain data; amounts are strings with two decimals."""
    lines = list(quote.lines.all())
    amounts = [line_amounts(line.quantity, line.months, line.unit_price, line.tax_rate,
                            quote.discount_rate) for line in lines]
    total = totals(amounts)
    customer, supplier = quote.engagement.customer, CompanyProfile.objects.first()
    return {
        "supplier": {f: getattr(supplier, f, "") for f in SUPPLIER_FIELDS},
        "number": quote.number, "version": quote.version, "currency": quote.currency,
        "quote_date": f"{quote.quote_date}", "valid_until": f"{quote.valid_until}",
        "project": {"code": quote.engagement.code, "name": quote.engagement.name,
                    "name_en": quote.engagement.name_en},
        "customer": {f: getattr(customer, f) for f in (
            "name", "name_en", "contact_name", "contact_phone", "address", "credit_code")},
        "lines": [{**{f: getattr(line, f) for f in LINE_TEXTS},
                   "quantity": f"{line.quantity.normalize():f}",
                   "months": f"{line.months.normalize():f}",
                   "unit_price": f"{line.unit_price:.4f}", "tax_rate": f"{line.tax_rate}",
                   "net": f"{a.net}", "tax": f"{a.tax}", "gross": f"{a.gross}",
                   "list_amount": f"{a.list_amount}"}
                  for line, a in zip(lines, amounts, strict=True)],
        "discount_rate": f"{quote.discount_rate}", "discount_reason": quote.discount_reason,
        "totals": {"list_amount": f"{total.list_amount}", "discount": f"{total.discount}",
                   "net": f"{total.net}", "tax": f"{total.tax}", "gross": f"{total.gross}"},
        "words": amount_in_words(total.gross), "payment": _payment(quote, total.gross),
        "notes": quote.notes, "notes_en": quote.notes_en, "source_note": quote.source_note,
        **{k: v for k, v in quote.snapshot.items() if k.startswith("source_")},
    }


def _payment(quote: Quote, gross: Decimal) -> list[dict]:
    parts = split(gross, [Decimal(term["percent"]) for term in quote.payment_terms])
    return [{**term, "amount": f"{part}"}
            for term, part in zip(quote.payment_terms, parts, strict=True)]


def content_hash(facts: dict) -> str:
    """SHA-256 of the snapshot."""
    text = json.dumps(facts, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def facts_of(quote: Quote) -> dict:
    """The frozen snapshot of an issued quote; of any other its present facts."""
    return quote.snapshot if quote.content_hash else snapshot(quote)


def quote_pdf(quote: Quote, language: str) -> bytes:
    """The quotation as PDF. Byte-identical for the same facts."""
    facts = facts_of(quote)
    footer = f"{facts['number']} V{facts['version']}.0 · {content_hash(facts)[:32]}"
    with override(language):
        lines = [{**line, "unit_label": unit_label(line["unit"]),
                  "grade_label": grade_label(line["grade"])} for line in facts["lines"]]
        before, between, after = _("Page {page} of {pages}").replace(
            "{pages}", "{page}").split("{page}")
        parties = [_("For the supplier"), _("For the customer")]
        head = f"{_('Quotation')} · {facts['number']}"
    return render_pdf("documents/quote/quote.html", {
        "facts": {**facts, "lines": lines}, "page_foot": footer, "page_head": head,
        "page_before": before, "page_between": between, "page_after": after, "parties": parties,
        "number": facts["number"],
        "discount_percent": f"{(Decimal(facts['discount_rate']) * 100).normalize():f}",
        "is_draft": not quote.content_hash}, language)


def unit_label(code: str) -> str:
    """A unit in the active language."""
    return {"month": _("month"), "person_day": _("person-day"), "once": _("once")}.get(code, code)


def grade_label(code: str) -> str:
    """A grade of the rate card in the active language."""
    return {"manager": _("project manager"), "expert": _("architect, expert"),
            "senior": _("senior engineer"), "engineer": _("engineer"),
            "junior": _("junior, test")}.get(code, code)
