"""From a criterion and a measurement to the pure arithmetic: reads the stored raw files."""

from itertools import islice

from assessments.models import Baseline, CriteriaSet, Criterion, Measurement, MetricDefinition
from assessments.queries import independent, measurements_of, recorded_runs
from assessments.verdicts.environments import unreviewed
from toolreaders.base import ReadError, ReadingWarning
from toolreaders.curves.alignment import align
from toolreaders.training.series import read_series
from toolreaders.verdicts.devices import NoNpu, no_npu_in, not_proven
from toolreaders.verdicts.quantities import value_of
from toolreaders.verdicts.selection import (
    BASELINE_UNSIGNED,
    UNREVIEWED,
    UNSIGNED,
    judge_runs,
    withheld,
)
from toolreaders.verdicts.spread import FEWEST_RUNS
from toolreaders.verdicts.verdict import (
    NOT_MEASURED,
    NOT_PROVABLE,
    Outcome,
    Rule,
    judge_curve,
    judge_values,
    unread,
)
from workers.artifacts.artifact_store import is_intact, local_path
from workers.artifacts.reading_process import read_file, run_bounded
from workers.models import Artifact, Job


def rule_of(definition: MetricDefinition) -> Rule:
    """The arithmetic that a definition record asks for."""
    return Rule(
        figure=definition.figure, comparison=definition.comparison, epsilon=definition.epsilon,
        first_step=definition.first_step, last_step=definition.last_step,
        minimum_coverage=definition.minimum_coverage, minimum_points=definition.minimum_points)


def compute(criterion: Criterion, measurement: Measurement | None) -> Outcome:
    """The verdict, from raw files whose checksums still hold.

    Not provable while criteria or baseline are unsigned or an environment difference is
    unreviewed, and of a run that used no NPU, whatever the arithmetic says.
    """
    if measurement is None:
        return Outcome(NOT_MEASURED, None, "no_measurement")
    definition, baseline = criterion.definition, criterion.baseline
    needs_baseline = definition.calculator != MetricDefinition.Calculator.VALUE
    if needs_baseline and baseline is None:
        return Outcome(NOT_PROVABLE, None, "no_baseline")
    runs = judged_runs(criterion, measurement)
    obstacle = _obstacle(runs, baseline)
    if obstacle:
        return Outcome(NOT_PROVABLE, None, obstacle)
    try:
        outcomes = [_judge(criterion, run) for run in runs]
    except ReadError as error:
        return unread(error.code)
    chosen = judge_runs(outcomes, definition.selection, definition.runs, criterion.threshold,
                        rule_of(definition))
    chosen.facts["runs"] = [{"artifact": run.artifact_id, "job": run.job_id,
                             "figure": outcome.figure, "outcome": outcome.outcome}
                            for run, outcome in zip(runs, outcomes, strict=True)]
    chosen.facts["warnings"] = [*chosen.facts.get("warnings", []), *_not_repeated(baseline)]
    chosen.facts["device"] = measurement.job.results.get("device") if measurement.job else None
    chosen = withheld(chosen, _doubt(criterion, runs))
    return not_proven(chosen, next(filter(None, (without_npu(run.artifact) for run in runs)), None))


def judge_one(criterion: Criterion, run: Measurement) -> Outcome:
    """What this one run alone says of a criterion: no verdict, and nothing is stored."""
    if obstacle := _obstacle([run], criterion.baseline):
        return Outcome(NOT_PROVABLE, None, obstacle)
    try:
        return not_proven(_judge(criterion, run), without_npu(run.artifact))
    except ReadError as error:
        return unread(error.code)


def _not_repeated(baseline: Baseline | None) -> list[dict]:
    """A warning where the baseline was frozen with fewer than three runs (R-ACC-08)."""
    runs = recorded_runs(baseline) if baseline else FEWEST_RUNS
    if runs >= FEWEST_RUNS:
        return []
    return [vars(ReadingWarning("baseline_not_repeated", (
        f"The baseline rests on {runs} of the {FEWEST_RUNS} runs that show it can be repeated.")))]


def _obstacle(runs: list[Measurement], baseline: Baseline | None) -> str | None:
    """The reason why nothing can be computed from these files, if there is one."""
    files = [run.artifact for run in runs] + ([baseline.artifact] if baseline else [])
    checks = (
        (baseline and baseline.unit and any(r.unit and r.unit != baseline.unit for r in runs),
         "units_differ"),
        (baseline and any(r.artifact.sha256 == baseline.artifact.sha256 for r in runs),
         "same_file"),
        (not all(is_intact(artifact) for artifact in files), "file_changed"),
    )
    return next((reason for is_so, reason in checks if is_so), None)


def judged_runs(criterion: Criterion, newest: Measurement) -> list[Measurement]:
    """The independent runs that the definition's selection rule looks at, newest first."""
    definition = criterion.definition
    if definition.selection == MetricDefinition.Selection.LAST:
        return [newest]
    earlier = measurements_of(criterion).filter(pk__lte=newest.pk)
    return list(islice(independent(earlier.iterator(chunk_size=100)), definition.runs))


def cards_of(job: Job | None) -> int | None:
    """Cards of all nodes that a job's figure stands for; None where that is not recorded."""
    if job is None:
        return None
    declared = job.parameters.get("cards_used")  # of a figure computed from another job's log
    return declared or job.cards_wanted * max(
        int(job.parameters.get("nodes") or 1), job.nodes_wanted) or None


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
        cards=cards_of(measurement.job))


def without_npu(artifact: Artifact) -> NoNpu | None:
    """What the file says of a run without an NPU, or else the record of the job that brought it.

    None where that record proves a device: a client of a service holds none itself.
    """
    recorded = artifact.job.results if artifact.job else {}
    if recorded.get("device"):
        return None
    with local_path(artifact) as path:
        found = run_bounded(no_npu_in, path)
    return found or (NoNpu() if recorded.get("not_provable") == "device" else None)


def aligned_curves(baseline: Artifact, candidate: Artifact):
    """Both curves, read from the raw files and brought onto common steps."""
    with local_path(baseline) as first, local_path(candidate) as second:
        return align(run_bounded(read_series, first), run_bounded(read_series, second))


def _value(artifact: Artifact, quantity: str) -> float | None:
    with local_path(artifact) as path:
        reading = read_file(path)
    return value_of(reading.kind, reading.values, quantity)
