"""From a criterion and a measurement to the pure arithmetic: reads the stored raw files."""

from assessments.curves.alignment import align
from assessments.models import CriteriaSet, Criterion, Measurement, MetricDefinition
from assessments.queries import measurements_of
from assessments.verdicts.environments import unreviewed
from assessments.verdicts.quantities import quantities
from assessments.verdicts.selection import (
    BASELINE_UNSIGNED,
    UNREVIEWED,
    UNSIGNED,
    judge_runs,
    withheld,
)
from assessments.verdicts.verdict import (
    NOT_MEASURED,
    NOT_PROVABLE,
    Outcome,
    Rule,
    judge_curve,
    judge_values,
)
from workers.collecting.artifacts import is_intact, local_path
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
    """The verdict, from raw files whose checksums still hold.

    Not provable while criteria or baseline are unsigned or an environment difference is
    unreviewed, whatever the arithmetic says.
    """
    if measurement is None:
        return Outcome(NOT_MEASURED, None, "no_measurement")
    definition, baseline = criterion.definition, criterion.baseline
    needs_baseline = definition.calculator != MetricDefinition.Calculator.VALUE
    if needs_baseline and baseline is None:
        return Outcome(NOT_PROVABLE, None, "no_baseline")
    runs = judged_runs(criterion, measurement)
    if baseline and baseline.unit and any(r.unit and r.unit != baseline.unit for r in runs):
        return Outcome(NOT_PROVABLE, None, "units_differ")
    files = [run.artifact for run in runs] + ([baseline.artifact] if baseline else [])
    if not all(is_intact(artifact) for artifact in files):
        return Outcome(NOT_PROVABLE, None, "file_changed")
    try:
        outcomes = [_judge(criterion, run) for run in runs]
    except ReadError:
        return Outcome(NOT_PROVABLE, None, "file_unreadable")
    chosen = judge_runs(outcomes, definition.selection, definition.runs, criterion.threshold,
                        rule_of(definition))
    chosen.facts["runs"] = [{"artifact": run.artifact_id, "job": run.job_id,
                             "figure": outcome.figure, "outcome": outcome.outcome}
                            for run, outcome in zip(runs, outcomes, strict=True)]
    return withheld(chosen, _doubt(criterion, runs))


def judged_runs(criterion: Criterion, newest: Measurement) -> list[Measurement]:
    """The runs that the definition's selection rule looks at, newest first."""
    definition = criterion.definition
    if definition.selection == MetricDefinition.Selection.LAST:
        return [newest]
    earlier = measurements_of(criterion).filter(pk__lte=newest.pk)
    return list(earlier[:definition.runs])


def _doubt(criterion: Criterion, runs: list[Measurement]) -> str | None:
    if criterion.criteria_set.state == CriteriaSet.State.DRAFT:
        return UNSIGNED
    if criterion.baseline and criterion.baseline.frozen_at is None:
        return BASELINE_UNSIGNED
    return UNREVIEWED if any(any(unreviewed(criterion, run)) for run in runs) else None


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
