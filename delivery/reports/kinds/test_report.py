"""Test report: the chapters of GB/T 8567-2006 as DOMAIN 9.8 maps them, in that order.

Its English titles are those of the test completion report of ISO/IEC/IEEE 29119-3 (DOMAIN 10);
what that standard asks for beyond GB/T 8567 follows in chapters of its own, and a table in the
introduction says where each of its items stands.
"""

from django.utils.translation import gettext_lazy as _

from delivery.reports.facts.agreement_sheets import origins
from delivery.reports.facts.before_after import before_after, worsened
from delivery.reports.facts.cases import case_numbers, criterion_cases
from delivery.reports.facts.completion import (
    performed,
    reusable_assets,
    test_deliverables,
    test_objects,
)
from delivery.reports.facts.human_evaluation import human_evaluation
from delivery.reports.facts.measuring_conditions import measuring_conditions
from delivery.reports.facts.planning import risks
from delivery.reports.facts.run_cases import run_cases
from delivery.reports.facts.source import Source
from delivery.reports.facts.stage_history import passage, sent_back, stages_passed
from delivery.reports.facts.verdicts import judged_pictures, judged_records
from delivery.reports.issue_checks import checks, verdict_checks
from delivery.reports.office.writers import annex_xlsx
from delivery.reports.registry import Block, DocumentKind, Section, register
from engagements.access import Can

ANNEXES = (
    Section("definitions", _("Metric definitions")),
    Section("manifest", _("Evidence manifest"), ("part:files_used",)),
    Section("checklist", _("Reviewer's checklist")),
)
JUDGED_RULES = (checks.contract, checks.no_open_jobs, verdict_checks.criteria_signed,
                verdict_checks.verdicts_follow, verdict_checks.third_party_stands,
                verdict_checks.conditions_recorded)


def facts(source: Source) -> dict:
    """What every document on verdicts shows; risks that remain, and how the stages were passed."""
    made = records(source)
    return {**made, **judged_pictures(source), "worse": worsened(source),
            "tables": {**made["tables"], "before_after": before_after(source)}}


def records(source: Source) -> dict:
    """The part of the facts that stands in rows."""
    judged = judged_records(source)
    return {**judged, "tables": {
        **judged["tables"], "cases": criterion_cases(source),
        "functional": run_cases(source),
        "measuring": measuring_conditions(source, case_numbers(source)),
        "risks": risks(source), "origins": origins(source), "passage": passage(source),
        "stages_passed": stages_passed(source),
        "sent_back": sent_back(source), "objects": test_objects(source),
        **human_evaluation(source), "performed": performed(source),
        "test_deliverables": test_deliverables(source),
        "assets": reusable_assets(source)}}


register(DocumentKind(
    "TR", _("Test completion report"),
    _("States the verdict of every signed criterion, with all runs and raw files."),
    (
        Section("summary", _("Summary for the decision"), ("part:decision_summary",),
                starts_page=True, is_numbered=False),
        Section("introduction", _("Document information"),
                ("part:introduction", "table:objects"), starts_page=True),
        Section("references", _("References"), ("part:references", "table:third_party")),
        Section("overview", _("Test completion evaluation"),
                ("part:overview", "table:coverage", "table:environments",
                 "table:conditions", "table:planned",
                 "part:improvements")),
        Section("cases", _("Test cases and results"),
                ("part:cases", "table:cases", "table:functional", "table:measuring"),
                is_wide=True),
        Section("details", _("Test measures"),
                ("table:before_after", "table:human", "part:details", "figures:performance")),
        Section("records", _("Testing performed"),
                ("table:performed", "table:origins", "table:criterion_runs", "part:judged_runs")),
        Section("evaluation", _("Deviations and residual risks"),
                ("part:defects", "table:issues", "table:risks", "table:accepted",
                 "table:examined", "part:evaluation")),
        Section("activities", _("Test activities and what blocked progress"),
                ("part:activities", "table:stages_passed", "table:sent_back")),
        Section("test_deliverables", _("Test deliverables and reusable test assets"),
                ("table:test_deliverables", "part:assets")),
        Section("lessons", _("Lessons learned"), ("words:tr_lessons",)),
        Section("signatures", _("Conclusion and signatures"),
                ("part:recommendation_box", "part:signatures")),
    ),
    facts, annexes=ANNEXES, blocks=(
        Block("tr_lessons", _("Lessons learned"), is_required=False,
              hint=_("What to keep and what to change in the next migration.")),),
    rules=(*JUDGED_RULES, verdict_checks.tested_by_another), written_by=Can.ISSUE, is_judged=True,
    records=records, writers={"xlsx": annex_xlsx},
))
