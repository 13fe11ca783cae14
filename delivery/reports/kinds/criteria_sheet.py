"""Acceptance criteria sheet that both parties sign (DOMAIN AR-02)."""

from django.utils.translation import gettext_lazy as _

from delivery.reports.facts import agreement_sheets
from delivery.reports.facts.definitions import definitions
from delivery.reports.facts.source import Source
from delivery.reports.issue_checks import checks, verdict_checks
from delivery.reports.office.writers import document_xlsx
from delivery.reports.registry import Block, DocumentKind, Section, register


def facts(source: Source) -> dict:
    """The criteria with their definitions."""
    return {"definitions": definitions(source.judged),
            "tables": {"criteria": agreement_sheets.criteria(source)}}


register(DocumentKind(
    "AC", _("Acceptance criteria sheet"),
    _("Metrics, definitions and thresholds as both parties signed them."),
    (
        Section("project", _("Project"), starts_page=True),
        Section("statement", _("What is confirmed"), ("words:ac_statement", "part:criteria_state")),
        Section("criteria", _("Criteria"), ("table:criteria",)),
        Section("definitions", _("Metric definitions")),
        Section("signatures", _("Signatures and seals")),
    ),
    facts, blocks=(Block("ac_statement", _("What both parties confirm")),),
    rules=(checks.contract, verdict_checks.criteria_signed), writers={"xlsx": document_xlsx},
))
