"""Migration assessment report: the chapters of DOMAIN 9.6."""

from django.utils.translation import gettext_lazy as _

from delivery.reports.facts import (
    agreement_sheets,
    analysis,
    analysis_modes,
    benefits,
    graph_operators,
    money,
    overall_analysis,
    planning,
    survey,
)
from delivery.reports.facts.source import Source
from delivery.reports.issue_checks import checks
from delivery.reports.registry import Block, DocumentKind, Section, register


def facts(source: Source) -> dict:
    """Survey, analyses, baselines, effort, risks and resources."""
    modes = analysis_modes.modes(source)
    return {
        "tables": {
            "overall": overall_analysis.overall(source),
            "modes": analysis_modes.modes_table(modes),
            "findings": analysis_modes.findings_table(modes),
            "operators": graph_operators.operators(source),
            "present": survey.answers(source, lambda: _("Business, platform and application"),
                                      survey.PRESENT),
            "models_today": survey.model_answers(source, lambda: _("Models today"), survey.MODEL),
            **analysis.support(source), "baselines": agreement_sheets.baselines(source),
            "figures_today": survey.model_answers(
                source, lambda: _("Accuracy and performance today"), survey.BASELINE),
            "target": survey.answers(source, lambda: _("Target platform"), survey.TARGET),
            "resources": money.resources(source), "risks": planning.risks(source),
            "effort": planning.effort(source), "time": planning.stages_in_time(source),
            "benefit": survey.answers(source, lambda: _("Benefit expected"), ("benefit",)),
            "benefit_computed": benefits.benefits(source), "fee": money.fee(source),
        },
        "figures": {key: found for key, found in
                    {"support": analysis.support_figure(source),
                     "topology": survey.topology_figure(source)}.items() if found},
        "survey": survey.survey_state(source), "evidence": analysis.raw_files(source),
    }


register(DocumentKind(
    "AS", _("Migration assessment report"),
    _("Whether and how the models can move: support, gaps, effort, risks, advice."),
    (
        Section("summary", _("Summary and conclusion"),
                ("words:as_conclusion", "table:overall", "part:model_table"), starts_page=True),
        Section("method", _("Objects and method"), ("words:as_method", "part:survey_state")),
        Section("today", _("Present state"), ("table:present", "figure:topology",
                                            "table:models_today")),
        Section("support", _("Support"), ("figure:support", "table:support", "table:gaps",
                                          "table:modes", "table:findings", "table:operators")),
        Section("baseline", _("Baseline"), ("table:figures_today", "table:baselines"),
                is_wide=True),
        Section("target", _("Target platform and resources"),
                ("words:as_target", "table:target", "table:resources")),
        Section("risks", _("Risks and responses"), ("table:risks",)),
        Section("strategy", _("Migration strategies compared"), ("words:as_strategy",)),
        Section("effort", _("Effort and duration"), ("table:effort", "table:time")),
        Section("benefit", _("Benefit and cost"),
                ("words:as_benefit", "table:benefit", "table:benefit_computed",
                 "table:fee")),
        Section("advice", _("Advice and next steps"), ("words:as_advice",)),
    ),
    facts,
    annexes=(Section("manifest", _("Raw files of the analyses"), is_wide=True),),
    blocks=(
        Block("as_conclusion", _("Conclusion"),
              hint=_("Feasible, feasible under conditions or not, and how difficult.")),
        Block("as_method", _("Method")),
        Block("as_target", _("Advice on the target platform"), is_required=False),
        Block("as_strategy", _("Strategies")),
        Block("as_benefit", _("Benefit"), is_required=False, hint=_(
            "Priced: share of time saved × card hours × price of a card hour. For reference: "
            "20 % more performance on average after tuning; of a GPT-4 training for 78 million "
            "USD, each per cent of MFU saves about 1.3 million (source: Huawei Cloud, description "
            "of the migration service, benefits to the customer).")),
        Block("as_advice", _("Advice")),
    ),
    rules=(
        checks.needs("tables.effort.rows", lambda: _("Estimate the effort."), "planning:effort"),
    ),
))
