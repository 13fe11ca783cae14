"""Final acceptance certificate: the form of DOMAIN 9.9."""

from django.utils.translation import gettext_lazy as _

from delivery.reports.facts.judged import judged_facts
from delivery.reports.kinds.test_report import ANNEXES, JUDGED_RULES
from delivery.reports.registry import DocumentKind, Section, register
from delivery.reports.writers import document_docx
from engagements.access import Can

FORM = (
    Section("project", _("Project"), starts_page=True),
    Section("references", _("Basis of acceptance")),
    Section("scope", _("Scope and content of acceptance")),
    Section("environment", _("Environment, method and organisation"),
            ("part:environment", "table:environments")),
    Section("deliverables", _("Check of the deliverables")),
    Section("results", _("Results by item")),
    Section("details", _("Evidence of each item")),
    Section("issues", _("Outstanding issues"), (
        "part:unpassed", "table:issues", "part:departures"), is_wide=True),
    Section("conclusion", _("Conclusion of acceptance")),
    Section("opinions", _("Opinions of both parties")),
    Section("signatures", _("Signatures and seals")),
)

register(DocumentKind(
    "FA", _("Final acceptance certificate"),
    _("The customer decides on it, criterion by criterion, and signs. It releases the last "
      "payment and starts the warranty."),
    FORM, judged_facts, annexes=ANNEXES, rules=JUDGED_RULES, written_by=Can.ISSUE,
    is_judged=True, writers={"docx": document_docx},
))
