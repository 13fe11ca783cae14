"""What an acceptance certificate says beside its results: who accepts, what was met, what follows
from it for payment and warranty (DOMAIN 9.9)."""

from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.agreement.facts import money, months_label, shown
from delivery.documents.bilingual import both, named
from delivery.documents.tables.table import column, table
from delivery.reports.facts.common import organisation_of, title_of
from delivery.reports.facts.planning import planned_milestones
from delivery.reports.facts.source import Source
from delivery.reports.milestones import TRIGGERS
from engagements.models import Role

GROUP = (Role.REVIEWER, Role.MANAGER)  # both sides' members of the acceptance group


def group(source: Source) -> dict:
    """Members of the acceptance group: the customer's reviewers, the firm's managers."""
    rows = source.engagement.memberships.filter(role__in=GROUP).select_related("user").order_by(
        "-role", "pk")
    return table(lambda: _("Acceptance group"), [
        column(lambda: _("Full name")), column(lambda: _("Company")), column(lambda: _("Title")),
        column(lambda: _("Role"))],
        [[named(row.user), organisation_of(row.user), title_of(row.user),
          both(row.get_role_display)] for row in rows],
        empty=lambda: _("No member of the acceptance group is named."))


def meetings(source: Source) -> dict:
    """Minutes that are on record, the newest first."""
    rows = source.engagement.meetings.order_by("-held_at", "-pk")
    return table(lambda: _("Minutes of meetings"), [
        column(lambda: _("Number"), "code"), column(lambda: _("Topic")),
        column(lambda: _("Held on"), "day"), column(lambda: _("Participants"))],
        [[str(row).split(" ")[0], row.topic, f"{timezone.localdate(row.held_at)}",
          ", ".join(row.participants.splitlines())] for row in rows],
        empty=lambda: _("No meeting is recorded."))


def payments(source: Source) -> dict:
    """Agreed payments that wait for this kind of certificate, with their amounts."""
    trigger, price = TRIGGERS.get(source.document.kind), source.agreement.value("price")
    planned = planned_milestones(source)
    return table(lambda: _("Payments that follow"), [
        column(lambda: _("Milestone")), column(lambda: _("Payment"), "number"),
        column(lambda: _("Amount (incl. tax)"), "number"), column(lambda: _("Released when"))],
        [[row["name"], f"{row['percent']} %",
          money(price["currency"], row["amount"]) if price and row["amount"] else "–",
          both(lambda: _("signed as passed, conditions that hold it up closed"))]
         for n, row in enumerate(source.agreement.value("payments") or ())
         if n in planned and planned[n].trigger == trigger],
        empty=lambda: _("No agreed payment depends on this certificate."))


def warranty(source: Source) -> dict:
    """How long the warranty runs; the day it begins is that of the last signature."""
    months = source.agreement.value("warranty_months")
    rows = [[both(lambda: months_label(months)),
             both(lambda: _("the day of the last signature of a passed final acceptance")),
             both(lambda: _("stated on the signature page"))]] if months else []
    return table(lambda: _("Warranty"), [
        column(lambda: _("Period")), column(lambda: _("Begins")), column(lambda: _("Ends"))], rows,
        empty=lambda: shown("warranty_months", None))
