"""Reads of the library of measured figures: lists, and what is similar to a model."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from django.db.models import Q, QuerySet, Sum
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from assessments.models import Baseline, MetricDefinition
from assessments.queries import current_criteria
from delivery.knowledge.families import family_of, size_of
from delivery.knowledge.models import FigureRange, ModelFigure
from delivery.knowledge.models.measured_figure import (
    CURVE_ERROR,
    EFFORT,
    figure_in_unit,
    label_of,
)
from delivery.planning.effort.usage import current_estimate
from engagements.models import Engagement, MigratedModel, User

FILTERS = ("family", "size", "quantity", "chip", "cann")
# A baseline so many times above the largest or below the smallest similar figure is asked about.
FAR = 3
FEWEST_ENGAGEMENTS = 2  # of one alone nobody knows how far figures vary


@dataclass(frozen=True)
class Similar:
    """Figures of one quantity of models of the same family and size in other engagements."""

    model: MigratedModel
    family: str
    engagements: int
    minimum: float
    median: float
    maximum: float


def filtered(rows: QuerySet, asked: Mapping[str, str]) -> QuerySet:
    """Those that the query string asks for, by any of `FILTERS`."""
    for name in FILTERS:
        if value := asked.get(name, "").strip():
            rows = rows.filter(**{name: value})
    return rows


def choices(user: User) -> dict[str, list[tuple[str, str]]]:
    """What the filters of the page offer: value and label of each."""
    rows = FigureRange.objects.visible_to(user).order_by()

    def values(name: str) -> list[str]:
        return sorted(value for value in rows.values_list(name, flat=True).distinct() if value)

    return {"families": [(name, _(name)) for name in values("family")],
            "quantities": [(name, label_of(name)) for name in values("quantity")],
            "chips": [(name, name) for name in values("chip")],
            "releases": [(name, name) for name in values("cann")]}


def similar(model: MigratedModel, quantity: str, *, is_practice: bool) -> Similar | None:
    """What other engagements measured of models of this family and size; None of none."""
    family, size = family_of(model), size_of(model)
    if not family:
        return None
    found = list(ModelFigure.objects.filter(
        family=family, size=size, quantity=quantity, is_practice=is_practice).exclude(
        engagement=model.engagement_id).values_list("value", "engagement"))
    if not found:
        return None
    values = [value for value, _engagement in found]
    label = ModelFigure(family=family, size=size).family_label
    return Similar(model, label, len({engagement for _value, engagement in found}),
                   min(values), median(values), max(values))


def similar_effort(engagement: Engagement) -> list[Similar]:
    """Of each model of an engagement what similar ones took elsewhere, in person-days."""
    return [found for model in engagement.models.current()
            if (found := similar(model, EFFORT, is_practice=engagement.has_practice_data))]


def question_about(baseline: Baseline) -> str:
    """Asked where a baseline lies beyond three times the range of similar figures, in the active
    language; nothing where it does not, or where too little is known."""
    if baseline.value is None or baseline.artifact is None or baseline.artifact.is_practice:
        return ""
    found = similar(baseline.model, baseline.quantity, is_practice=False)
    value = float(baseline.value)
    if found is None or found.engagements < FEWEST_ENGAGEMENTS or (
            found.minimum / FAR <= value <= found.maximum * FAR):
        return ""
    return _("%(value)s is more than three times outside the range measured in %(n)d engagements "
             "for %(family)s (%(low)s to %(high)s). Are unit, number of cards and batch size "
             "right?") % {
        "value": figure_in_unit(value, baseline.unit), "n": found.engagements,
        "family": found.family,
        "low": figure_in_unit(found.minimum, baseline.unit),
        "high": figure_in_unit(found.maximum, baseline.unit)}


def risk_hints(engagement: Engagement) -> list[str]:
    """Sentences on what the library says against the plan: effort below all that similar models
    took, a limit of the curve error below all that they reached."""
    return [*_effort_hints(engagement), *_curve_hints(engagement)]


def _effort_hints(engagement: Engagement) -> Iterator[str]:
    estimate = current_estimate(engagement)
    if estimate is None:
        return
    planned: dict[Any, Any] = dict(estimate.lines.filter(~Q(model=None)).order_by().values_list(
        "model").annotate(days=Sum("likely")))
    for found in similar_effort(engagement):
        days = planned.get(found.model.pk)
        if days is not None and days < found.minimum:
            yield ngettext(
                "%(model)s is estimated at %(days).1f person-days; %(n)d similar engagement took "
                "%(low).1f to %(high).1f.",
                "%(model)s is estimated at %(days).1f person-days; %(n)d similar engagements took "
                "%(low).1f to %(high).1f.", found.engagements) % {
                "model": found.model.code, "days": days, "n": found.engagements,
                "low": found.minimum, "high": found.maximum}


def _curve_hints(engagement: Engagement) -> Iterator[str]:
    criteria_set = current_criteria(engagement)
    rows = criteria_set.criteria.filter(
        definition__calculator=MetricDefinition.Calculator.LOSS_CURVE,
        definition__figure="mean_relative_error").select_related("model", "definition") \
        if criteria_set else ()
    for row in rows:
        found = similar(row.model, CURVE_ERROR, is_practice=engagement.has_practice_data)
        if found and float(row.threshold) < found.minimum:
            yield ngettext(
                "%(model)s promises a curve error of at most %(limit)s; %(n)d similar engagement "
                "reached %(low)s at best.",
                "%(model)s promises a curve error of at most %(limit)s; %(n)d similar engagements "
                "reached %(low)s at best.", found.engagements) % {
                "model": row.model.code, "limit": figure_in_unit(float(row.threshold), "%"),
                "n": found.engagements, "low": figure_in_unit(found.minimum, "%")}
