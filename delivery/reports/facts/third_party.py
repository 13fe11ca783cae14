"""Test reports of accredited laboratories, as documents cite them (DOMAIN AR-20)."""

from django.urls import reverse
from django.utils.translation import gettext as _

from delivery.documents.tables.table import column, table
from delivery.reports.facts.source import Source


def third_party(source: Source) -> dict:
    """Laboratory, accreditation, number, date, scope and file of each report in force."""
    rows = [[f"E{r.artifact_id}", r.laboratory, r.accreditations, r.report_number,
             f"{r.issued_on}", r.scope, r.artifact.sha256]
            for r in source.engagement.third_party_reports.in_force()]
    return {**table(lambda: _("Third-party test reports"), [
        column(lambda: _("Evidence"), "code"), column(lambda: _("Laboratory"), is_required=True),
        column(lambda: _("Accreditation"), is_required=True),
        column(lambda: _("Report number"), is_required=True),
        column(lambda: _("Date"), "day", is_required=True),
        column(lambda: _("What was tested"), is_required=True),
        column(lambda: "SHA-256", "hash", is_required=True)], rows,
                    empty=lambda: _("None is attached.")),
        "cure": reverse("acceptance:third_party_reports", args=[source.engagement.code])}
