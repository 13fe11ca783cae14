"""The metric definitions behind criteria and verdicts (AR-01, AR-09)."""

from assessments.models import MetricDefinition
from delivery.documents.bilingual import both, pair
from delivery.reports.facts import run_records
from toolreaders.verdicts.sentences import SIGNS


def definitions(judged: run_records.Judged) -> list[dict]:
    used: dict[int, MetricDefinition] = {c.definition_id: c.definition for c, _v in judged}
    return [{
        "key": f"{d.code} v{d.version}", "code": d.code, "version": d.version,
        "name": pair(d.name, d.name_en),
        "formula": pair(d.formula, d.formula_en),
        "alignment": pair(d.alignment, d.alignment_en), "unit": d.unit,
        "calculator": both(d.get_calculator_display), "comparison": SIGNS[d.comparison],
        "epsilon": d.epsilon, "minimum_coverage": d.minimum_coverage,
        "minimum_points": d.minimum_points, "first_step": d.first_step,
        "last_step": d.last_step, "source": both(lambda d=d: d.localized_source),
        "is_of_curves": d.calculator == MetricDefinition.Calculator.LOSS_CURVE,
        "selection": both(lambda d=d: selection_rule(d)),
    } for d in used.values()]


def selection_rule(definition: MetricDefinition) -> str:
    """Which of the runs count, in words (AR-09)."""
    rule = definition.get_selection_display()
    return f"{rule} (k = {definition.runs})" if definition.runs > 1 else rule
