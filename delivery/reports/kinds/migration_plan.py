"""Migration plan: the fifteen chapters of DOMAIN 9.7."""

from django.utils.translation import gettext_lazy as _

from assessments.definitions.route_aspects import Side
from delivery.reports.facts import agreement_sheets, money, node_checks, people, planning, survey
from delivery.reports.facts.agreed_deliverables import promised_table
from delivery.reports.facts.definitions import definitions
from delivery.reports.facts.source import Source
from delivery.reports.issue_checks import checks, verdict_checks
from delivery.reports.office.writers import document_docx
from delivery.reports.registry import Block, DocumentKind, Section, register


def facts(source: Source) -> dict:
    """Environments, tasks, criteria, resources, risks and deliverables."""
    return {
        "definitions": definitions(source.judged),
        "tables": {
            "present": survey.answers(source, lambda: _("Present platform"), ("gpu", "libraries")),
            "target": survey.answers(source, lambda: _("Target platform"), survey.TARGET),
            "time": planning.stages_in_time(source), "tasks": planning.tasks(source),
            "versions": node_checks.versions(source), "criteria": agreement_sheets.criteria(source),
            "resources": money.resources(source), "staffing": planning.staffing(source),
            "organisation": people.organisation(source), "risks": planning.risks(source),
            "deliverables": promised_table(source)}}


register(DocumentKind(
    "MP", _("Migration plan"),
    _("Route, tasks, environments, tests, resources and fallback; cites criteria and baselines."),
    (
        Section("goal", _("Goals and scope"), ("part:description", "part:model_table"),
                starts_page=True),
        Section("references", _("Basis")),
        Section("platforms", _("Present state and target environment"),
                ("table:present", "table:target")),
        Section("route", _("Overall technical route"), ("words:mp_route",)),
        Section("stages", _("Stages, owners and dates"), ("table:time", "table:tasks")),
        Section("environment", _("Environment"), ("table:versions",)),
        Section("training", _("Training migration"), ("words:mp_training",), side=Side.TRAINING),
        Section("inference", _("Inference migration"), ("words:mp_inference",),
                side=Side.INFERENCE),
        Section("accuracy", _("Accuracy and performance"), ("words:mp_accuracy",)),
        Section("testing", _("Tests and acceptance"), ("table:criteria",)),
        Section("resources", _("Resources and personnel"),
                ("table:resources", "table:staffing", "table:organisation")),
        Section("cooperation", _("Cooperation of the customer"), ("words:mp_cooperation",)),
        Section("risks", _("Risks and fallback"), ("table:risks", "words:mp_fallback")),
        Section("communication", _("Changes and communication"), ("words:mp_communication",)),
        Section("deliverables", _("Deliverables"), ("table:deliverables",)),
        Section("signatures", _("Signatures and seals")),
    ),
    facts,
    annexes=(Section("definitions", _("Metric definitions"), starts_page=True),),
    blocks=(
        Block("mp_route", _("Technical route")),
        Block("mp_training", _("Training migration"), side=Side.TRAINING),
        Block("mp_inference", _("Inference migration"), side=Side.INFERENCE),
        Block("mp_accuracy", _("Accuracy and performance")),
        Block("mp_cooperation", _("Cooperation")), Block("mp_fallback", _("Fallback")),
        Block("mp_communication", _("Changes and communication")),
    ),
    rules=(
        checks.period, verdict_checks.criteria_signed,
        checks.needs("tables.tasks.rows", lambda: _("Make the plan: tasks and dates come from it."),
                     "planning:plan"),
    ),
    writers={"docx": document_docx},
))
