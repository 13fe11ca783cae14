"""The performance of an engagement's models at a glance, in a fixed number of queries."""

from dataclasses import dataclass

from django.db.models import Count, Q

from assessments.models import Measurement, OptimisationRound
from assessments.performance.gains import BY_NAME, METRICS, Gain, Metric, gain
from assessments.performance.rounds import same_cards
from assessments.performance.token_rates import in_tokens
from assessments.queries import of_target
from engagements.models import Engagement, MigratedModel
from workers.models import Artifact


@dataclass(frozen=True)
class ModelLine:
    """A model, its headline metric in the first and the last kept round of tuning, whose gain it
    is, else in the first and the newest run; and what else there is of it."""

    model: MigratedModel
    metric: Metric | None
    first: Measurement | None
    newest: Measurement | None
    gain: Gain | None


def overview(engagement: Engagement) -> list[ModelLine]:
    """Two queries, and one where rounds are recorded. The headline is the first metric of METRICS
    that the model has measured."""
    models = list(engagement.models.annotate(
        round_count=Count("optimisation_rounds", distinct=True),
        profile_count=Count("artifacts", distinct=True, filter=Q(artifacts__in=of_target(
            Artifact.objects.filter(readings__kind="profile"), file="")))))
    rows = of_target(Measurement.objects.filter(
        model__engagement=engagement, quantity__in=BY_NAME, value__isnull=False)).order_by(
        "pk").only("model_id", "quantity", "value", "place", "is_practice", "artifact_id", "job_id")
    measured: dict[tuple[int, str], list[Measurement]] = {}
    for row in in_tokens(list(rows)):
        measured.setdefault((row.model_id, row.quantity), []).append(row)
    rounds: dict[int, list[OptimisationRound]] = {}
    for entry in OptimisationRound.objects.filter(
            model__engagement=engagement, is_kept=True).select_related("artifact__job").order_by(
            "number") if any(model.round_count for model in models) else ():
        rounds.setdefault(entry.model_id, []).append(entry)
    return [_line(model, measured, rounds.get(model.pk, [])) for model in models]


def _line(model: MigratedModel, measured: dict[tuple[int, str], list[Measurement]],
          rounds: list[OptimisationRound]) -> ModelLine:
    metric = next((m for m in METRICS if (model.pk, m.name) in measured), None)
    if metric is None:
        return ModelLine(model, None, None, None, None)
    found = measured[model.pk, metric.name]
    of_rounds = [(entry, row) for entry in rounds for row in found[::-1] if entry.artifact_id == (
        row.artifact_id) or (row.job_id and row.job_id == entry.artifact.job_id)]
    (start, first), (last, newest) = (of_rounds[0], of_rounds[-1]) if of_rounds else (
        (None, found[0]), (None, found[-1]))
    if start == last:  # one round, or none: nobody said what was changed between two runs
        return ModelLine(model, metric, found[0], found[-1], None)
    return ModelLine(model, metric, first, newest, gain(
        metric, first.value, newest.value) if same_cards(start, last) else None)
