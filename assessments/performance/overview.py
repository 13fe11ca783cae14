"""The performance of an engagement's models at a glance, in a fixed number of queries."""

from dataclasses import dataclass

from django.db.models import Count, Q

from assessments.models import Measurement
from assessments.performance.gains import BY_NAME, METRICS, Gain, Metric, gain
from assessments.queries import of_target
from engagements.models import Engagement, MigratedModel
from workers.models import Artifact


@dataclass(frozen=True)
class ModelLine:
    """A model, its headline metric measured first and newest, and what else there is of it."""

    model: MigratedModel
    metric: Metric | None
    first: Measurement | None
    newest: Measurement | None

    @property
    def gain(self) -> Gain | None:
        if self.metric is None or self.first == self.newest:
            return None
        return gain(self.metric, self.first.value, self.newest.value)


def overview(engagement: Engagement) -> list[ModelLine]:
    """Two queries. The headline is the first metric of METRICS that the model has measured."""
    models = engagement.models.annotate(
        round_count=Count("optimisation_rounds", distinct=True),
        profile_count=Count("artifacts", distinct=True, filter=Q(artifacts__in=of_target(
            Artifact.objects.filter(readings__kind="profile"), file=""))))
    rows = of_target(Measurement.objects.filter(
        model__engagement=engagement, quantity__in=BY_NAME, value__isnull=False)).order_by(
        "pk").only("model_id", "quantity", "value", "is_practice")
    measured: dict[tuple[int, str], list[Measurement]] = {}
    for row in rows:
        measured.setdefault((row.model_id, row.quantity), []).append(row)
    return [_line(model, measured) for model in models]


def _line(model: MigratedModel, measured: dict[tuple[int, str], list[Measurement]]) -> ModelLine:
    metric = next((m for m in METRICS if (model.pk, m.name) in measured), None)
    found = measured[model.pk, metric.name] if metric else [None]
    return ModelLine(model, metric, found[0], found[-1])
