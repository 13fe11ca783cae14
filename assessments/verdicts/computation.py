"""From a criterion and a measurement to the pure arithmetic: reads the stored raw files."""

from functools import cached_property

from assessments.models import Baseline, CriteriaSet, Criterion, Measurement, MetricDefinition
from assessments.queries import measurements_of, recorded_runs, runs_of
from assessments.verdicts.environments import ORDER, began_of, frozen_since, unreviewed
from toolreaders import read_file
from toolreaders.base import ReadError, ReadingWarning
from toolreaders.curves.alignment import Aligned, align
from toolreaders.curves.band import Band, band_of
from toolreaders.curves.differences import Finding
from toolreaders.training.series import LossSeries, read_series
from toolreaders.verdicts.devices import NoNpu, names_npu, no_npu_in, not_proven
from toolreaders.verdicts.quantities import value_of
from toolreaders.verdicts.selection import (
    AGENT_DECLARED,
    AGREED_LATER,
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
from workers import kinds
from workers.artifacts import provenance
from workers.artifacts.artifact_store import is_intact, read_stored
from workers.artifacts.provenance import Provenance
from workers.models import Artifact, Job


def rule_of(definition: MetricDefinition) -> Rule:
    """The arithmetic that a definition record asks for."""
    return Rule(
        figure=definition.figure, comparison=definition.comparison, epsilon=definition.epsilon,
        first_step=definition.first_step, last_step=definition.last_step,
        minimum_coverage=definition.minimum_coverage, minimum_points=definition.minimum_points)


def compute(criterion: Criterion, measurement: Measurement | None) -> Outcome:
    """The verdict, from raw files whose checksums still hold.

    Not provable while criteria or baseline are unsigned, an environment difference is unreviewed
    or the criterion was frozen after a judged run began, and of a run that used no NPU, whatever
    the arithmetic says.
    """
    if measurement is None:
        return Outcome(NOT_MEASURED, None, "no_measurement")
    definition, baseline = criterion.definition, criterion.baseline
    runs = judged_runs(criterion, measurement)
    if obstacle := _obstacle(criterion, runs):
        return Outcome(NOT_PROVABLE, None, obstacle)
    curves = Curves(baseline)
    try:
        outcomes = [_judge(criterion, run, curves) for run in runs]
        band = _band(criterion, runs[0], curves)
    except ReadError as error:
        return unread(error.code)
    chosen = judge_runs(outcomes, *criterion.run_rule, criterion.threshold, rule_of(definition))
    known = [provenance.of(run.artifact) for run in runs]
    chosen.facts["runs"] = [{"artifact": run.artifact_id, "job": run.job_id,
                             "figure": outcome.figure, "outcome": outcome.outcome,
                             "began": began_of(origin).isoformat(), **_origin(origin)}
                            for run, outcome, origin in zip(runs, outcomes, known, strict=True)]
    since = frozen_since(criterion)
    chosen.facts["frozen_since"] = since.isoformat() if since else None
    chosen.facts["differences"] = [*chosen.facts.get("differences", []), *band]
    chosen.facts["warnings"] = [*chosen.facts.get("warnings", []), *_not_repeated(baseline)]
    chosen.facts["device"] = known[0].device if all(
        origin.device for origin in known) else None
    chosen = withheld(chosen, _doubt(criterion, runs))
    return not_proven(chosen, next(filter(None, map(without_npu, known)), None))


def _origin(known: Provenance) -> dict:
    """Whose file it is, for the verdict: the job that made it wherever it came from, or who
    declares it; what it was made for, and the device that is shown."""
    return {"made_by": known.job.pk if known.job else None, "purpose": known.purpose,
            "device": known.device, "declared_by": known.declared_by}


def judge_one(criterion: Criterion, run: Measurement) -> Outcome:
    """What this one run alone says of a criterion: no verdict, and nothing is stored."""
    if obstacle := _obstacle(criterion, [run]):
        return Outcome(NOT_PROVABLE, None, obstacle)
    try:
        outcome = _judge(criterion, run, Curves(criterion.baseline))
        if provenance.of(run.artifact).is_declared_by_agent:
            return withheld(outcome, AGENT_DECLARED)
        return not_proven(outcome, without_npu(provenance.of(run.artifact)))
    except ReadError as error:
        return unread(error.code)


class Curves:
    """Curves beside one baseline: in one judgement each file is read once."""

    def __init__(self, baseline: Baseline | None) -> None:
        self.baseline = baseline
        self._aligned: dict[int, Aligned] = {}

    @cached_property
    def _of_baseline(self) -> LossSeries:
        return read_stored(read_series, self.baseline.artifact)

    def aligned(self, candidate: Artifact) -> Aligned:
        """The baseline's curve and the candidate's on common steps; raises ReadError."""
        if candidate.pk not in self._aligned:
            self._aligned[candidate.pk] = align(self._of_baseline,
                                                read_stored(read_series, candidate))
        return self._aligned[candidate.pk]

    def band(self) -> Band | None:
        """The band of the baseline and of its repeats from before the freeze; raises ReadError."""
        repeats = self.baseline.runs.filter(is_remeasurement=False).select_related("artifact")
        return band_of([self.aligned(repeat.artifact) for repeat in repeats])


def _band(criterion: Criterion, run: Measurement, curves: Curves) -> list[Finding]:
    """Whether the newest run leaves the band of the baseline's repeats; [] for what is no curve or
    was not repeated."""
    if criterion.definition.calculator != MetricDefinition.Calculator.LOSS_CURVE:
        return []
    band = curves.band()
    found = band and band.finding(curves.aligned(run.artifact))
    return [found] if found else []


def _not_repeated(baseline: Baseline | None) -> list[dict]:
    """A warning where the baseline was frozen with fewer than three runs (R-ACC-08)."""
    runs = recorded_runs(baseline) if baseline else FEWEST_RUNS
    if runs >= FEWEST_RUNS:
        return []
    return [vars(ReadingWarning("baseline_not_repeated", (
        f"The baseline rests on {runs} of the {FEWEST_RUNS} runs that show it can be repeated.")))]


def _obstacle(criterion: Criterion, runs: list[Measurement]) -> str | None:
    """The reason why nothing can be computed from these files, if there is one."""
    baseline = criterion.baseline
    if not baseline and criterion.definition.calculator != MetricDefinition.Calculator.VALUE:
        return "no_baseline"
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
    """The independent runs that the criterion's selection rule looks at, newest first."""
    selection, wanted = criterion.run_rule
    if selection == MetricDefinition.Selection.LAST:
        return [newest]
    earlier = measurements_of(criterion).filter(artifact__lte=newest.artifact_id)
    found = runs_of(earlier)[:wanted]
    return found if newest in found else [newest]  # a trial, which shows no NPU


def cards_of(job: Job | None) -> int | None:
    """Cards of all nodes that a job's figure stands for; None where that is not recorded."""
    if job is None:
        return None
    declared = job.parameters.get("cards_used")  # of a figure computed from another job's log
    return declared or job.cards_wanted * max(
        int(job.parameters.get("nodes") or 1), job.nodes_wanted) or None


def _doubt(criterion: Criterion, runs: list[Measurement]) -> str | None:
    if any(provenance.of(run.artifact).is_declared_by_agent for run in runs):
        return AGENT_DECLARED
    if criterion.criteria_set.state == CriteriaSet.State.DRAFT:
        return UNSIGNED
    if criterion.baseline and criterion.baseline.frozen_at is None:
        return BASELINE_UNSIGNED
    open_items = {item.name for run in runs for item in unreviewed(criterion, run)}
    if open_items - {ORDER}:
        return UNREVIEWED
    return AGREED_LATER if open_items else None


def _judge(criterion: Criterion, measurement: Measurement, curves: Curves) -> Outcome:
    definition, baseline = criterion.definition, criterion.baseline
    if definition.calculator == MetricDefinition.Calculator.LOSS_CURVE:
        return judge_curve(curves.aligned(measurement.artifact), criterion.threshold,
                           rule_of(definition))
    return judge_values(
        definition.calculator, _value(measurement.artifact, criterion.quantity),
        _value(baseline.artifact, baseline.quantity) if baseline else None,
        threshold=criterion.threshold, rule=rule_of(definition),
        cards=cards_of(measurement.job))


def without_npu(known: Provenance) -> NoNpu | None:
    """Why the file shows no NPU: what it says itself, else the record of the job that made its
    bytes; of what the server computed, what is known of the files that it read.

    None where a record, or the file, shows one; where no job made it, a person declares it.
    """
    if known.device:
        return None
    found = read_stored(no_npu_in, known.artifact)
    if found or known.is_without_device:
        return found or NoNpu()
    if any(map(_needs_device, known.makers)) and not read_stored(names_npu, known.artifact):
        return NoNpu()
    return next(filter(None, map(without_npu, known.inputs)), None)


def _needs_device(job: Job) -> bool:
    """Whether the job itself has to show the NPU of its figures."""
    return kinds.of_job(job).figures_need_device(job.parameters)


def aligned_curves(baseline: Artifact, candidate: Artifact):
    """Both curves, read from the raw files and brought onto common steps."""
    return align(read_stored(read_series, baseline), read_stored(read_series, candidate))


def _value(artifact: Artifact, quantity: str) -> float | None:
    reading = read_stored(read_file, artifact)
    return value_of(reading.kind, reading.values, quantity)
