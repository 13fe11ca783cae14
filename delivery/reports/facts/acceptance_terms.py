"""What an acceptance certificate says beside its results: who accepts, what was met, what follows
from it for payment and warranty (DOMAIN 9.9)."""

from decimal import Decimal

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from delivery.documents.bilingual import both, named, pair
from delivery.documents.tables.table import column, table
from delivery.planning.models import Milestone
from delivery.quotes.money import split
from delivery.reports.facts.common import organisation_of, title_of
from delivery.reports.facts.money import money
from delivery.reports.facts.source import Source
from delivery.reports.milestones import trigger_code
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
    """Milestones of the plan that wait for this kind of certificate, with their amounts."""
    trigger = trigger_code(source.document.kind)
    return table(lambda: _("Payments that follow"), [
        column(lambda: _("Milestone")), column(lambda: _("Payment"), "number"),
        column(lambda: _("Amount (incl. tax)"), "number"), column(lambda: _("Released when"))],
        [[pair(row.name, row.name_en), f"{row.percent.normalize():f} %", amount,
          both(lambda: _("signed as passed, conditions that hold it up closed"))]
         for row, amount in _milestones(source) if row.trigger == trigger],
        empty=lambda: _("No payment in the plan depends on this certificate."))


def _milestones(source: Source) -> list[tuple[Milestone, str | dict[str, str]]]:
    """The plan's milestones with what each comes to of the quote in force, to the cent of the
    quote: the last one takes the remainder."""
    found = list(source.plan.milestones.all()) if source.plan else []
    gross = Decimal(source.quoted.get("totals", {}).get("gross", 0))
    percentages = [row.percent for row in found]
    if not gross or sum(percentages) != 100:
        return [(row, "–") for row in found]
    return [(row, money(source.quoted["currency"], amount))
            for row, amount in zip(found, split(gross, percentages), strict=True)]


def warranty(source: Source) -> dict:
    """How long the warranty runs; the day it begins is that of the last signature."""
    terms = getattr(source.engagement, "acceptance_terms", None)
    months = terms.warranty_months if terms else None
    rows = [[both(lambda: ngettext("%(n)d month", "%(n)d months", months) % {"n": months}),
             both(lambda: _("the day of the last signature of a passed final acceptance")),
             both(lambda: _("stated on the signature page"))]] if months else []
    return table(lambda: _("Warranty"), [
        column(lambda: _("Period")), column(lambda: _("Begins")), column(lambda: _("Ends"))], rows,
        empty=lambda: _("No warranty period of the contract is recorded."))
