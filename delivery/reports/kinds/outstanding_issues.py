"""List of outstanding issues, the punch list (DOMAIN 9.10, 10)."""

from django.utils.translation import gettext_lazy as _

from delivery.reports.facts.planning import issues
from delivery.reports.facts.source import Source
from delivery.reports.facts.verdicts import open_criteria
from delivery.reports.office.writers import document_xlsx
from delivery.reports.registry import Block, DocumentKind, Section, register


def facts(source: Source) -> dict:
    """Recorded issues, and criteria that are not passed."""
    return {"tables": {"issues": issues(source)}, **open_criteria(source)}


register(DocumentKind(
    "PL", _("Punch list"),
    _("Open issues with responsible person, date and effect, and criteria not passed."),
    (
        Section("project", _("Project"), starts_page=True),
        Section("statement", _("About this list"), ("words:pl_statement",)),
        Section("recorded", _("Recorded issues"), ("table:issues",), is_wide=True),
        Section("unpassed", _("Criteria that are not passed"), ("part:unpassed",)),
        Section("signatures", _("Signatures and seals")),
    ),
    facts, blocks=(Block("pl_statement", _("About this list")),),
    writers={"xlsx": document_xlsx},
))
