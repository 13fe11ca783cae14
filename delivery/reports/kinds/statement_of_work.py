"""Statement of work: the order of DOMAIN 9.5; also as a Word file, since customers edit it."""

from django.utils.translation import gettext_lazy as _

from delivery.reports.facts import agreement_sheets, money, people, planning
from delivery.reports.facts.source import Source
from delivery.reports.issue_checks import checks
from delivery.reports.office.writers import document_docx
from delivery.reports.registry import EFFORT_HINT, Block, DocumentKind, Section, register


def facts(source: Source) -> dict:
    """Tasks, deliverables, schedule, people and fee."""
    return {"tables": {
        "tasks": planning.scope_of_work(source), "deliverables": planning.deliverables(source),
        "criteria": agreement_sheets.criteria(source), "time": planning.stages_in_time(source),
        "milestones": planning.milestones(source), "organisation": people.organisation(source),
        "staffing": planning.staffing(source),
        "effort_compared": planning.effort_compared(source), "services": money.services(source),
        "fee": money.fee(source)}}


register(DocumentKind(
    "SOW", _("Statement of work"),
    _("Scope, duties, deliverables, acceptance, schedule, change control and fee."),
    (
        Section("preface", _("Preface"), ("words:sow_purpose",), starts_page=True),
        Section("references", _("References")),
        Section("overview", _("Overview of the project"),
                ("part:description", "part:model_table", "words:sow_assumptions")),
        Section("work", _("Scope of work"), ("table:tasks",), is_wide=True),
        Section("excluded", _("Not included"), ("words:sow_out_of_scope",)),
        Section("deliverables", _("Deliverables"), ("table:deliverables",)),
        Section("acceptance", _("Standard of acceptance"),
                ("words:sow_acceptance", "table:criteria")),
        Section("schedule", _("Schedule"), ("table:time",)),
        Section("organisation", _("Organisation and roles"),
                ("table:organisation", "table:staffing", "table:effort_compared",
                 "words:sow_effort")),
        Section("change", _("Change control"), ("words:sow_change",)),
        Section("fee", _("Fee and payment"), ("table:fee", "table:services", "table:milestones")),
        Section("terms", _("Order of precedence and personnel"), ("words:sow_terms",)),
        Section("signatures", _("Signatures and seals")),
    ),
    facts,
    blocks=(
        Block("sow_purpose", _("Purpose and terms")), Block("sow_assumptions", _("Assumptions")),
        Block("sow_out_of_scope", _("Not included")),
        Block("sow_acceptance", _("Acceptance method")),
        Block("sow_effort", _("Estimate and quotation"), is_required=False,
              hint=EFFORT_HINT),
        Block("sow_change", _("Change procedure")), Block("sow_terms", _("Terms")),
    ),
    rules=(
        checks.contract, checks.period, checks.effort_explained("sow_effort"),
        checks.needs("tables.fee.rows", lambda: _("Issue a quotation: the fee comes from it."),
                     "quotes:engagement"),
        checks.needs("tables.time.rows", lambda: _("Make the plan: the schedule comes from it."),
                     "planning:plan"),
    ),
    writers={"docx": document_docx},
))
