"""Who does what, as a table."""

from django.urls import reverse
from django.utils.translation import gettext as _

from delivery.documents.bilingual import both
from delivery.documents.tables.table import column, table
from delivery.reports.facts.common import organisation_of, title_of
from delivery.reports.facts.source import Source
from engagements.models import Role

TOLD = (Role.MANAGER, Role.CONSULTANT, Role.REVIEWER)


def organisation(source: Source) -> dict:
    """Who delivers and who accepts, with organisation and role; others stay within the firm."""
    rows = source.engagement.memberships.filter(role__in=TOLD).select_related("user")
    return {**table(lambda: _("Project organisation"), [
        column(lambda: _("Full name"), is_required=True), column(lambda: _("Job title")),
        column(lambda: _("Company")), column(lambda: _("Role")),
        column(lambda: _("Side"))],
        [[str(row.user), title_of(row.user), organisation_of(row.user), both(row.get_role_display),
          both(lambda u=row.user: _("Customer") if u.is_reviewer else _("Supplier"))]
         for row in rows]),
        "cure": reverse("engagements:team", args=[source.engagement.code])}
