"""Delivery and hand-over list, receipt confirmed item by item (DOMAIN AR-13)."""

from django.utils.translation import gettext_lazy as _

from delivery.reports.facts import handover
from delivery.reports.facts.agreed_deliverables import agreed_table
from delivery.reports.facts.source import Source
from delivery.reports.issue_checks import checks
from delivery.reports.office.writers import document_xlsx
from delivery.reports.registry import Block, DocumentKind, Section, register


def facts(source: Source) -> dict:
    """Documents, bundles, code and models with their checksums."""
    return {"tables": {"documents": handover.documents(source), "works": handover.works(source),
                       "pins": handover.pins(source),
                       "agreed": agreed_table(source)}}


register(DocumentKind(
    "HD", _("Delivery and hand-over list"),
    _("Everything that is handed over, with version and checksum, received by name."),
    (
        Section("project", _("Project"), starts_page=True),
        Section("statement", _("Statement of delivery"), ("words:hd_statement",)),
        Section("agreed", _("Completeness"), ("table:agreed",)),
        Section("documents", _("Documents and evidence"), ("table:documents",)),
        Section("works", _("Code, scripts and models"), ("table:works",), is_wide=True),
        Section("pins", _("Repositories and container images"), ("table:pins",)),
        Section("guidance", _("Notes for operation"), ("words:hd_guidance",)),
        Section("receipt", _("Receipt")),
    ),
    facts,
    blocks=(Block("hd_statement", _("Statement of delivery")),
            Block("hd_guidance", _("Notes for operation"), is_required=False)),
    rules=(
        checks.contract,
        checks.needs("tables.documents.rows",
                     lambda: _("Issue the documents that are handed over."),
                    "reports:engagement"),
    ),
    writers={"xlsx": document_xlsx},
))
