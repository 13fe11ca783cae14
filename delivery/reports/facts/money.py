"""Fee and resources as quoted; nothing of the firm's costs."""

from decimal import Decimal

from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from delivery.documents.bilingual import both, pair
from delivery.documents.tables.table import column, table
from delivery.quotes.models import PriceLine
from delivery.quotes.snapshot import grade_label, unit_label
from delivery.reports.facts.source import Source


def fee(source: Source) -> dict:
    """The totals of the quote: net, tax, gross, and the Chinese amount in words."""
    quoted = source.quoted
    rows = []
    if quoted:
        total, code = quoted["totals"], quoted["currency"]
        rows = [[both(lambda: _("Net amount")), money(code, total["net"])],
                [both(lambda: _("VAT")), money(code, total["tax"])],
                [both(lambda: _("Total with VAT")), money(code, total["gross"])]]
    return {**table(lambda: _fee_caption(quoted), [
        column(lambda: _("Item")),
        column(lambda: _("Amount"), "number", is_required=True)], rows,
                    empty=lambda: _("No quotation has been issued yet.")),
        "cure": reverse("quotes:engagement", args=[source.engagement.code])}


def _fee_caption(quoted: dict) -> str:
    if not quoted:
        return _("Fee")
    return _("Fee as in the quotation %(quote)s") % {
        "quote": f"{quoted['number']} V{quoted['version']}"}


def money(code: str, amount: str | Decimal) -> dict[str, str]:
    """An amount with its currency, as the quotation of each language writes it."""
    text = f"{Decimal(amount):,.2f}"
    return pair(f"¥{text}" if code == "CNY" else f"{code} {text}", f"{code} {text}")


def resources(source: Source) -> dict:
    """Cloud resources as quoted, without prices."""
    lines = [line for line in source.quoted.get("lines", [])
             if line["category"] == PriceLine.Category.RESOURCE]
    return {**table(lambda: _("Resources"), [
        column(lambda: _("Resource")), column(lambda: _("Specification")),
        column(lambda: _("Quantity"), "number"), column(lambda: _("Months"), "number"),
        column(lambda: _("Unit"))],
                    [[pair(line["name"], line["name_en"]),
                      pair(line["specification"], line["specification_en"]),
                      line["quantity"], line["months"], both(lambda u=line["unit"]: unit_label(u))]
                     for line in lines], empty=lambda: _("No resource is quoted.")),
        "cure": reverse("quotes:engagement", args=[source.engagement.code])}


def services(source: Source) -> dict:
    """Services as quoted: work, grade and person-days, without prices."""
    lines = [line for line in source.quoted.get("lines", []) if line["unit"] == "person_day"]
    return table(lambda: _("Services"), [
        column(lambda: _("Service")), column(lambda: _("Work")),
        column(lambda: _("Grade")), column(lambda: _("Person-days"), "number")],
                 [[pair(line["name"], line["name_en"]),
                   pair(line["specification"], line["specification_en"]),
                   both(lambda g=line["grade"]: capfirst(grade_label(g))),
                   f"{Decimal(line['quantity']):.1f}"]
                  for line in lines],
                 empty=lambda: _("No service is quoted."))
