"""Environment report: what is installed on the nodes, and whether it is ready."""

from django.utils.translation import gettext_lazy as _

from delivery.reports.facts import node_checks
from delivery.reports.facts.environments import environments, sides_of
from delivery.reports.facts.planned_environment import planned_and_measured, planned_table
from delivery.reports.facts.source import Source
from delivery.reports.issue_checks import checks
from delivery.reports.registry import Block, DocumentKind, Section, register


def facts(source: Source) -> dict:
    """Nodes, versions, cards, checks, and both sides of the comparison."""
    planned = planned_and_measured(source)
    return {
        "readiness": node_checks.readiness(source, planned),
        "evidence": node_checks.raw_files(source),
        "tables": {"environments": environments(sides_of(source.judged, source.survey)),
                   "planned": planned_table(planned), "nodes": node_checks.nodes(source),
                   "versions": node_checks.versions(source), "checks": node_checks.checks(source),
                   "cards": node_checks.cards(source)}}


register(DocumentKind(
    "EC", _("Environment report"),
    _("Nodes, versions and cards as the checks found them, and whether they are ready."),
    (
        Section("summary", _("Conclusion"), ("part:readiness", "words:ec_remarks"),
                starts_page=True),
        Section("project", _("Project")),
        Section("nodes", _("Nodes and versions"), ("table:nodes", "table:versions")),
        Section("checks", _("Checks"), ("table:checks", "table:cards")),
        Section("comparison", _("Source and target compared"),
                ("table:environments", "table:planned")),
    ),
    facts,
    annexes=(Section("manifest", _("Raw files of the checks"), is_wide=True),),
    blocks=(Block("ec_remarks", _("Remarks"), is_required=False),),
    rules=(
        checks.no_open_jobs,
        checks.needs("tables.checks.rows", lambda: _("Run the checks of the environment."),
                     "engagements:engagement"),
    ),
))
