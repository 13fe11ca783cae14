"""Fee, resources and services as agreed; nothing of the firm's costs."""

from decimal import Decimal

from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from delivery.agreement.facts import money, shown, told
from delivery.documents.bilingual import both
from delivery.documents.tables.table import column, table
from delivery.quotes.snapshot import grade_label, unit_label
from delivery.reports.facts.source import Source
from engagements.text.text_joining import labelled


def fee(source: Source) -> dict:
    """The agreed price: net, tax, gross."""
    price = source.agreement.value("price")
    rows = [[both(lambda: _("Net amount")), money(price["currency"], price["net"])],
            [both(lambda: _("VAT")), money(price["currency"], price["tax"])],
            [both(lambda: _("Total with VAT")), money(price["currency"], price["gross"])]
            ] if price else []
    return {**table(lambda: labelled(_("Fee"), told(source.agreement.source("price"))) if price
                    else _("Fee"), [
        column(lambda: _("Item")),
        column(lambda: _("Amount"), "number", is_required=True)], rows,
                    empty=lambda: shown("price", None)),
        "cure": reverse("quotes:engagement", args=[source.engagement.code])}


def resources(source: Source) -> dict:
    """Cloud resources as agreed, without prices."""
    return {**table(lambda: _("Resources"), [
        column(lambda: _("Resource")), column(lambda: _("Specification")),
        column(lambda: _("Quantity"), "number"), column(lambda: _("Months"), "number"),
        column(lambda: _("Unit"))],
                    [[row["name"], row["work"], row["quantity"], row["months"],
                      both(lambda u=row["unit"]: unit_label(u))]
                     for row in source.agreement.value("resources") or ()],
                    empty=lambda: shown("resources", None)),
        "cure": reverse("quotes:engagement", args=[source.engagement.code])}


def services(source: Source) -> dict:
    """Services as agreed: work, grade and person-days, without prices."""
    agreed = source.agreement.value("effort") or {"services": ()}
    return table(lambda: _("Services"), [
        column(lambda: _("Service")), column(lambda: _("Work")),
        column(lambda: _("Grade")), column(lambda: _("Person-days"), "number")],
                 [[row["name"], row["work"],
                   both(lambda g=row["grade"]: capfirst(grade_label(g))),
                   f"{Decimal(row['days']):.1f}"] for row in agreed["services"]],
                 empty=lambda: shown("effort", None))
