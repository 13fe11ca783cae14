"""Statement of work: the order of DOMAIN 9.5; also as a Word file, since customers edit it."""

from django.utils.translation import gettext_lazy as _

from delivery.reports.facts import agreement_sheets, money, people, planning
from delivery.reports.facts.agreed_deliverables import promised_table
from delivery.reports.facts.agreed_terms import terms
from delivery.reports.facts.source import Source
from delivery.reports.issue_checks import checks
from delivery.reports.office.writers import document_docx
from delivery.reports.registry import Block, DocumentKind, Section, register


def facts(source: Source) -> dict:
    """Tasks, deliverables, schedule, people and fee; and the agreement that is put to both sides,
    which comes into force with the document."""
    return {"tables": {
        "tasks": planning.scope_of_work(source), "deliverables": promised_table(source),
        "excluded": terms(source, lambda: _("Included and not included"), "included", "excluded"),
        "terms": terms(source, lambda: _("Terms agreed on"), "platform", "warranty_months",
                       "acceptance", "signers", "cooperation"),
        "criteria": agreement_sheets.criteria(source), "time": planning.stages_in_time(source),
        "milestones": planning.milestones(source), "organisation": people.organisation(source),
        "staffing": planning.staffing(source), "services": money.services(source),
        "fee": money.fee(source)}, "agreement": source.agreement.values}


register(DocumentKind(
    "SOW", _("Statement of work"),
    _("Scope, duties, deliverables, acceptance, schedule, change control and fee."),
    (
        Section("preface", _("Preface"), ("words:sow_purpose",), starts_page=True),
        Section("references", _("References")),
        Section("overview", _("Overview of the project"),
                ("part:description", "part:model_table", "words:sow_assumptions")),
        Section("work", _("Scope of work"), ("table:tasks",), is_wide=True),
        Section("excluded", _("Not included"), ("table:excluded",)),
        Section("deliverables", _("Deliverables"), ("table:deliverables",)),
        Section("acceptance", _("Standard of acceptance"),
                ("words:sow_acceptance", "table:criteria")),
        Section("schedule", _("Schedule"), ("table:time",)),
        Section("organisation", _("Organisation and roles"),
                ("table:organisation", "table:staffing")),
        Section("change", _("Change control"), ("words:sow_change",)),
        Section("fee", _("Fee and payment"), ("table:fee", "table:services", "table:milestones")),
        Section("terms", _("Order of precedence and personnel"),
                ("table:terms", "words:sow_terms")),
        Section("signatures", _("Signatures and seals")),
    ),
    facts,
    blocks=(
        Block("sow_purpose", _("Purpose and terms")), Block("sow_assumptions", _("Assumptions")),
        Block("sow_acceptance", _("Acceptance method")),
        Block("sow_change", _("Change procedure")), Block("sow_terms", _("Terms")),
    ),
    rules=(
        checks.contract, checks.period,
        checks.needs("tables.fee.rows", lambda: _("Issue a quotation: the fee comes from it."),
                     "quotes:engagement"),
        checks.needs("tables.time.rows", lambda: _("Make the plan: the schedule comes from it."),
                     "planning:plan"),
    ),
    writers={"docx": document_docx},
))
