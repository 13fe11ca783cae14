"""Versions of a metric definition: what changed, and what that does to a figure."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

from assessments.labels.verdict_sentences import sentence
from assessments.models import MetricDefinition, Outcome
from assessments.presentation.definition_preview import tried
from assessments.verdicts.computation import rule_of
from toolreaders.verdicts.sentences import shown
from toolreaders.verdicts.verdict import Outcome as Judged
from toolreaders.verdicts.verdict import judge_values

# What a new version may change; code, calculator and quantity stay.
WORDS = ("name", "name_en", "formula", "formula_en", "alignment", "alignment_en", "source")
CURVE_RULE = ("figure", "first_step", "last_step", "epsilon", "minimum_coverage",
              "minimum_points")
RULE = ("comparison", *CURVE_RULE, "selection", "runs")
CHANGEABLE = (*WORDS, *RULE)
ABSOLUTE = "mean_absolute_error"


@dataclass(frozen=True)
class Change:
    """A field that differs between two versions."""

    label: str
    before: Any
    after: Any


@dataclass(frozen=True)
class Effect:
    """What one version makes of a sample."""

    version: str
    outcome: str
    outcome_label: str
    figure: str
    sentence: str


@dataclass(frozen=True)
class Sample:
    """What to try: a pair of curves, or two values; `threshold` is in the definition's unit."""

    threshold: Decimal
    pair: str = "halves"
    baseline: float | None = None
    candidate: float | None = None
    cards: int | None = None


def changes(old: MetricDefinition, new: MetricDefinition) -> list[Change]:
    """The fields in which two versions differ, as people read them."""
    found = []
    for name in CHANGEABLE:
        if getattr(old, name) != getattr(new, name):
            field = MetricDefinition._meta.get_field(name.removesuffix("_en"))
            label = f"{field.verbose_name}{' (en)' if name.endswith('_en') else ''}"
            found.append(Change(label, _text(old, name), _text(new, name)))
    return found


def _text(definition: MetricDefinition, name: str) -> Any:
    display = getattr(definition, f"get_{name}_display", None)
    return display() if display else getattr(definition, name)


def unit_of(definition: MetricDefinition, figure: str) -> str:
    """The unit that a judged figure brings: absolute errors of a loss have none."""
    if definition.calculator != MetricDefinition.Calculator.LOSS_CURVE:
        return definition.unit
    return "" if figure == ABSOLUTE else "%"


def effects(versions: list[tuple[str, MetricDefinition]], sample: Sample) -> list[Effect]:
    """Each version's figure and verdict on the same sample; selection of runs plays no part."""
    return [_effect(label, definition, sample) for label, definition in versions]


def _effect(label: str, definition: MetricDefinition, sample: Sample) -> Effect:
    threshold = sample.threshold / (100 if definition.unit == "%" else 1)
    judged = _judged(definition, sample, threshold)
    figure = "--"
    if judged.figure is not None:
        figure = shown(judged.figure, threshold, definition.unit)[0]
    return Effect(label, judged.outcome, Outcome(judged.outcome).label, figure, sentence(
        judged.outcome, judged.reason, judged.figure, threshold, definition.comparison,
        definition.unit, judged.facts))


def _judged(definition: MetricDefinition, sample: Sample, threshold: Decimal) -> Judged:
    rule = rule_of(definition)
    if definition.calculator == MetricDefinition.Calculator.LOSS_CURVE:
        return tried(sample.pair, threshold, rule)[0]
    return judge_values(definition.calculator, sample.candidate, sample.baseline,
                        threshold=threshold, rule=rule, cards=sample.cards)


def version_label(definition: MetricDefinition) -> str:
    """v3; the version that is not stored yet is the new one."""
    return f"v{definition.version}" if definition.pk else _("new version")
