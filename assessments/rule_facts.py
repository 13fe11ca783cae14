"""What the criteria of a model tell the rules (DOMAIN R-ACC-02, R-ACC-08, R-CFG-16)."""

from typing import Any

from assessments.models import AcceptedDifference, Baseline, Criterion
from assessments.queries import recorded_runs
from engagements.models import MigratedModel
from workers.rules.facts.stored import register_provider

CURVE, SCORE = "loss_curve", "score"


@register_provider
def of_criteria(model: MigratedModel) -> dict[str, Any]:
    """Runs of the newest loss baseline, reviewed differences, whether scores are accepted."""
    baseline = Baseline.objects.filter(model=model, quantity__startswith=CURVE).order_by(
        "-pk").first()
    criteria = Criterion.objects.filter(model=model)
    accepted = AcceptedDifference.objects.filter(engagement=model.engagement_id)
    facts: dict[str, Any] = {"is_evaluation_accepted": criteria.filter(
        definition__quantity=SCORE).exists()} if criteria.exists() else {}
    facts["reviewed_differences"] = sorted(set(accepted.values_list("item", flat=True)))
    if baseline:
        facts["baseline_runs"] = recorded_runs(baseline)
    return facts
