"""The frozen facts of a quote in one language, as PDF and as the pages show them."""

from django.utils.translation import gettext as _
from django.utils.translation import override

from delivery.documents import bilingual
from delivery.documents.branding.theme import frozen_theme, page_headers
from delivery.documents.pdf import css_string, render_pdf
from delivery.quotes import standard_conditions
from delivery.quotes.models import PriceLine, Quote
from delivery.quotes.quote_labels import RELATIONS
from delivery.quotes.snapshot import content_hash, facts_of, grade_label, percent, unit_label
from engagements.text.printable_text import printable_facts
from engagements.text.text_joining import listed

BEFORE_NOTES = ("invoice", "period", "staffing", "place", "travel")
OF_PARTIES = ("name", "address", "contact_name")
AFTER_NOTES = ("delivery", "acceptance", "warranty", "remarks")


def in_language(facts: dict, is_english: bool) -> dict:
    """Facts with every text in the active language; figures are untouched."""
    facts = printable_facts(facts)

    def pick(entry: dict, name: str) -> str:
        return (entry.get(f"{name}_en") if is_english else "") or entry.get(name) or ""

    rates = [{**rate, "label": percent(rate["rate"])} for rate in facts["by_rate"]]
    parties = {side: {**facts[side], **{name: pick(facts[side], name) for name in OF_PARTIES}}
               for side in ("customer", "supplier")}
    relation = facts.get("relation")  # to the quotes that were accepted before
    return {
        **facts, **parties, "symbol": f"{facts['currency']} " if is_english else facts["symbol"],
        "project": {**facts["project"], "name": pick(facts["project"], "name")},
        "subject": pick(facts, "subject"),
        "relation_text": RELATIONS[relation["kind"]] % {
            "quotes": listed(relation["to"])} if relation else "",
        "notes": pick(facts, "notes"),
        "words_shown": facts["words_en"] if is_english else
        f"{facts['words_currency']}{facts['words']}",
        "scope": texts(facts, (standard_conditions.SCOPE,), is_english),
        "before_notes": texts(facts, BEFORE_NOTES, is_english),
        "after_notes": texts(facts, AFTER_NOTES, is_english),
        "invoice_label": str(Quote.Invoice(facts["invoice"]).label),
        "invoice_text": _invoice(facts, is_english=is_english),
        "lines": [_line(line, pick) for line in facts["lines"]],
        "payment": [{**term, "name": pick(term, "name")} for term in facts["payment"]],
        "staffing": [{**e, "grade_label": grade_label(e["grade"]) or "--"}
                     for e in facts["staffing"]],
        "by_rate": rates,
        "discount_percent": percent(facts["discount_rate"]),
        "has_discount": facts["totals"]["discount"] != "0.00",
        "filled": {"remark": any(line["remark"] for line in facts["lines"]),
                   "grade": any(line["grade"] for line in facts["lines"]),
                   "months": any(line["unit"] == "month" for line in facts["lines"])},
        "rounding": [rate for rate in rates if rate["rounding"] != "0.00"],
    }


def _invoice(facts: dict, *, is_english: bool) -> str:
    """The type of the invoice and what was written about it; the type once."""
    label = str(Quote.Invoice(facts["invoice"]).label)
    written = "".join(entry["text"] for entry in texts(facts, ("invoice",), is_english))
    if label.lower() in written.lower():
        return written
    return "\n".join(filter(None, (label, written)))


def _line(line: dict, pick) -> dict:
    return {**line, "name": pick(line, "name"), "specification": pick(line, "specification"),
            "category_label": str(PriceLine.Category(line["category"]).label),
            "grade_label": grade_label(line["grade"]), "unit_label": unit_label(line["unit"]),
            "rate_label": percent(line["tax_rate"])}


def texts(facts: dict, codes: tuple[str, ...], is_english: bool) -> list[dict]:
    """The written conditions that are not empty, with their titles."""
    found = []
    for code in codes:
        entry = facts["conditions"].get(code, {})
        text = (entry.get("en") if is_english else "") or entry.get("zh", "")
        if text:
            found.append({"code": code, "title": str(standard_conditions.TITLES[code]),
                          "text": text})
    return found


def quote_pdf(quote: Quote, language: str) -> bytes:
    """The quotation as PDF. Byte-identical for the same facts.

    A draft carries a mark; nothing in it comes from anywhere but the snapshot.
    """
    facts = facts_of(quote)
    footer = f"{facts['number']} V{facts['version']}.0 · SHA-256 {content_hash(facts)[:32]}…"
    with override(language):
        shown = in_language(facts, language.startswith("en"))
        before, between, after = _("Page {page} of {pages}").replace(
            "{pages}", "{page}").split("{page}")
        parties = [(_("For the supplier"), shown["supplier"]["name"]),
                   (_("Confirmed by the customer"), shown["customer"]["name"])]
        theme = bilingual.in_language(frozen_theme(facts), language)
        practice = css_string(_("PRACTICE DATA – NOT EVIDENCE"))
        margins = page_headers(theme, f"{_('Quotation')} · {facts['number']}")
    return render_pdf("documents/quote/quote.html", {
        "facts": shown, "supplier": shown["supplier"], "page_foot": footer, "theme": theme,
        **{name: css_string(text) for name, text in margins.items()},
        "page_before": before, "page_between": between, "page_after": after, "parties": parties,
        "number": facts["number"], "is_draft": not quote.content_hash, "practice_words": practice,
        "is_practice": facts.get("is_practice", False)}, language)
