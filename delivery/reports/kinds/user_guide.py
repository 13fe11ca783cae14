"""User guide of the migrated models, drafted from the runs (seed S2, acceptance: 使用说明文档)."""

from django.utils.translation import gettext_lazy as _

from delivery.reports.facts import handover, node_checks, usage
from delivery.reports.facts.source import Source
from delivery.reports.issue_checks import checks
from delivery.reports.registry import Block, DocumentKind, Section, register


def facts(source: Source) -> dict:
    """Commands, versions and conditions of the newest successful runs, and the files they left."""
    return {"tables": {"versions": node_checks.versions(source), "steps": usage.steps(source),
                       "works": handover.works(source)}}


register(DocumentKind(
    "UG", _("User guide"),
    _("How the migrated models are set up, trained and served: commands, versions, conditions."),
    (
        Section("project", _("Project"), starts_page=True),
        Section("scope", _("Purpose and scope"), ("words:ug_scope",)),
        Section("environment", _("Environment"), ("words:ug_environment", "table:versions")),
        Section("steps", _("Training and inference"), ("table:steps",), is_wide=True),
        Section("files", _("Code, scripts and models"), ("table:works",), is_wide=True),
        Section("limits", _("Limits and known problems"), ("words:ug_limits",)),
    ),
    facts,
    blocks=(Block("ug_scope", _("Purpose and scope")),
            Block("ug_environment", _("Environment"), is_required=False),
            Block("ug_limits", _("Limits and known problems"))),
    rules=(
        checks.contract,
        checks.no_open_jobs,
        checks.needs("tables.steps.rows",
                     lambda: _("Run the steps that the guide describes: none has succeeded."),
                     "engagements:engagement"),
    ),
))
