"""The chart behind a verdict, or behind a job that compares two logs, read from the raw files."""

from decimal import Decimal
from functools import lru_cache
from typing import Any

from assessments.charts.drawing import as_svg
from assessments.charts.loss import (
    ABSOLUTE,
    CURVES,
    ERRORS,
    curve_rows,
    error_rows,
    loss_chart_spec,
)
from assessments.models import Baseline, Criterion, MetricDefinition, Verdict
from assessments.verdicts.computation import Curves, aligned_curves, rule_of
from toolreaders.curves.alignment import Aligned
from toolreaders.curves.band import Band
from workers.models import Artifact, Job


def criterion_chart_spec(criterion: Criterion, verdict: Verdict, *, is_interactive: bool = True
                         ) -> dict[str, Any]:
    """The chart of a judged loss curve, read from the raw files; raises ReadError."""
    rule, aligned = rule_of(criterion.definition), _aligned_of(criterion, verdict)
    return loss_chart_spec(
        aligned.window(rule.first_step, rule.last_step), threshold=criterion.threshold,
        figure=verdict.figure, judged=criterion.definition.figure, is_interactive=is_interactive,
        findings=verdict.facts.get("differences") or (),
        band=_band(criterion.baseline_id, verdict.pk))


def job_chart_spec(job: Job) -> dict[str, Any]:
    """The chart of the two logs that a job compared; raises ReadError, DoesNotExist."""
    found = job.results
    files = [Artifact.objects.get(pk=job.parameters[side], engagement=job.engagement)
             for side in ("baseline", "candidate")]
    aligned = _aligned(*(value for file in files for value in (file.pk, file.sha256)))
    return loss_chart_spec(
        aligned.window(found["first_step"], found["last_step"]),
        threshold=Decimal(str(job.parameters["threshold"])), figure=found["figure"],
        judged=found["working"]["figure"], findings=found.get("differences") or ())


def curve_detail(criterion: Criterion, verdict: Verdict, first: int, last: int) -> dict[str, Any]:
    """Both curves between two steps, at most 1,000 points each; raises ReadError.

    `points` counts the steps before thinning, so that a reader sees whether all are there; the
    rows are those of the chart's own data sets.
    """
    rule, aligned = rule_of(criterion.definition), _aligned_of(criterion, verdict)
    inside = aligned.window(rule.first_step, rule.last_step).window(first, last)
    return {"first": first, "last": last, "points": len(inside.steps),
            CURVES: curve_rows(inside),
            ERRORS: error_rows(inside, is_absolute=criterion.definition.figure == ABSOLUTE)}


def _aligned_of(criterion: Criterion, verdict: Verdict) -> Aligned:
    baseline, candidate = criterion.baseline.artifact, verdict.measurement.artifact
    return _aligned(baseline.pk, baseline.sha256, candidate.pk, candidate.sha256)


@lru_cache(maxsize=2)
def _aligned(baseline: int, _baseline_sha256: str, candidate: int, _candidate_sha256: str
             ) -> Aligned:
    """Kept while somebody zooms, and for the report's other language: reading two logs of a
    million steps takes seconds."""
    return aligned_curves(*(Artifact.objects.get(pk=pk) for pk in (baseline, candidate)))


@lru_cache(maxsize=2)
def _band(baseline: int, _verdict: int) -> Band | None:
    """Kept as the curves are; the verdict's number stands for the repeats it was computed with."""
    return Curves(Baseline.objects.get(pk=baseline)).band()


def criterion_chart_svg(criterion: Criterion, verdict: Verdict | None) -> str | None:
    """The same chart as SVG text for documents; None where no two curves can be drawn."""
    if not can_be_drawn(criterion, verdict):
        return None
    return as_svg(criterion_chart_spec(criterion, verdict, is_interactive=False))


def can_be_drawn(criterion: Criterion, verdict: Verdict | None) -> bool:
    """Whether there are two readable curves: a verdict on a loss curve with common steps."""
    return bool(
        criterion.definition.calculator == MetricDefinition.Calculator.LOSS_CURVE
        and criterion.baseline and verdict and verdict.measurement
        and verdict.reason not in ("file_changed", "file_unreadable")
        and verdict.facts.get("common_points"))
