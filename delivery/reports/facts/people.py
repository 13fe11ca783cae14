"""Who does what, as a table."""

from django.urls import reverse
from django.utils.translation import gettext as _

from delivery.documents.bilingual import both, named, same
from delivery.documents.models import StaffCertificate
from delivery.documents.tables.table import column, table
from delivery.reports.facts.common import organisation_of, title_of
from delivery.reports.facts.source import Source
from engagements.models import Agent, Role
from engagements.text.text_joining import bracketed, listed
from workers.agent_work import agents_at_work

SHOWN = (Role.MANAGER, Role.CONSULTANT, Role.REVIEWER)


def organisation(source: Source) -> dict:
    """Who delivers and who accepts, with organisation, role and the certificates that are valid
    today, and the agents that worked for them; others stay within the firm."""
    rows = list(source.engagement.memberships.filter(role__in=SHOWN).select_related("user"))
    held: dict[int, list[StaffCertificate]] = {}
    for certificate in StaffCertificate.objects.filter(
            person__in=[row.user_id for row in rows]).valid_on(source.today):
        held.setdefault(certificate.person_id, []).append(certificate)
    return {**table(lambda: _("Project organisation"), [
        column(lambda: _("Full name"), is_required=True), column(lambda: _("Job title")),
        column(lambda: _("Company")), column(lambda: _("Role")),
        column(lambda: _("Side")), column(lambda: _("Qualifications"))],
        [[named(row.user), title_of(row.user), organisation_of(row.user),
          both(row.get_role_display),
          both(lambda u=row.user: _("Customer") if u.is_reviewer else _("Supplier")),
          both(lambda u=row.user: listed(map(_certificate, held.get(u.pk, []))))]
         for row in rows] + [_agent(agent) for agent in agents_at_work(source.engagement)]),
        "cure": reverse("engagements:team", args=[source.engagement.code])}


def _agent(agent: Agent) -> list:
    """What it is made of is its owner's word, so that it stands there as claimed."""
    claimed = [agent.harness, agent.language_model, agent.skill, agent.skill_commit]
    return [same(agent.name),
            both(lambda: " · ".join([_("Agent"), *filter(None, claimed)]) + (
                bracketed(_("claimed by its owner")) if any(claimed) else "")),
            organisation_of(agent.owner),
            both(lambda: _("Agent of %(owner)s") % {"owner": agent.owner.localized_name}),
            both(lambda: _("Supplier")), same("")]


def _certificate(certificate: StaffCertificate) -> str:
    """Name and number, and until when it is valid where it ends."""
    facts = {"name": certificate, "number": certificate.number, "day": certificate.valid_until}
    return (_("%(name)s (No. %(number)s, until %(day)s)") if certificate.valid_until else
            _("%(name)s (No. %(number)s)")) % facts
