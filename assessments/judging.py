"""From a criterion and a measurement to the pure arithmetic: reads the stored raw files."""

from assessments.alignment import align
from assessments.models import Criterion, Measurement, MetricDefinition
from assessments.quantities import quantities
from assessments.verdict import (
    NOT_MEASURED,
    NOT_PROVABLE,
    Outcome,
    Rule,
    judge_curve,
    judge_values,
)
from workers.artifacts import is_intact, local_path
from workers.models import Artifact
from workers.readers import read_file
from workers.readers.base import ReadError
from workers.readers.series import read_series


def rule_of(definition: MetricDefinition) -> Rule:
    """The arithmetic that a definition record asks for."""
    return Rule(
        figure=definition.figure, comparison=definition.comparison, epsilon=definition.epsilon,
        first_step=definition.first_step, last_step=definition.last_step,
        minimum_coverage=definition.minimum_coverage, minimum_points=definition.minimum_points)


def compute(criterion: Criterion, measurement: Measurement | None) -> Outcome:
    """The verdict, from raw files whose checksums still hold."""
    if measurement is None:
        return Outcome(NOT_MEASURED, None, "no_measurement")
    definition, baseline = criterion.definition, criterion.baseline
    needs_baseline = definition.calculator != MetricDefinition.Calculator.VALUE
    if needs_baseline and baseline is None:
        return Outcome(NOT_PROVABLE, None, "no_baseline")
    files = [measurement.artifact] + ([baseline.artifact] if baseline else [])
    if not all(is_intact(artifact) for artifact in files):
        return Outcome(NOT_PROVABLE, None, "file_changed")
    try:
        return _judge(criterion, measurement)
    except ReadError:
        return Outcome(NOT_PROVABLE, None, "file_unreadable")


def _judge(criterion: Criterion, measurement: Measurement) -> Outcome:
    definition, baseline = criterion.definition, criterion.baseline
    if definition.calculator == MetricDefinition.Calculator.LOSS_CURVE:
        return judge_curve(aligned_curves(baseline.artifact, measurement.artifact),
                           criterion.threshold, rule_of(definition))
    return judge_values(
        definition.calculator, _value(measurement.artifact, criterion.quantity),
        _value(baseline.artifact, baseline.quantity) if baseline else None,
        threshold=criterion.threshold, rule=rule_of(definition),
        cards=measurement.job.cards_wanted if measurement.job else None)


def aligned_curves(baseline: Artifact, candidate: Artifact):
    """Both curves, read from the raw files and brought onto common steps."""
    with local_path(baseline) as first, local_path(candidate) as second:
        return align(read_series(first), read_series(second))


def _value(artifact: Artifact, quantity: str) -> float | None:
    with local_path(artifact) as path:
        reading = read_file(path)
    return next((q.value for q in quantities(reading.kind, reading.values)
                 if q.name == quantity), None)
