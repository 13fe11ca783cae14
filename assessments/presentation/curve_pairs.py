"""The two curves that a job's page shows: those it compared, or those its log was judged by."""

from dataclasses import dataclass
from math import isfinite

from django.urls import reverse
from django.utils.translation import gettext

from assessments.models import Baseline, MetricDefinition, Verdict
from assessments.queries import newest_verdict, verdict_sentence
from toolreaders.base import ReadError
from toolreaders.training.series import read_series
from toolreaders.verdicts.difference_sentences import difference_sentence
from workers.artifacts.artifact_store import read_stored
from workers.models import Job

COMPARISON = "acc.loss_compare"


@dataclass(frozen=True)
class CurvePair:
    """Where the chart's specification is, what the curves differ in, and whose page says more."""

    chart: str
    findings: list[str]
    sentence: str = ""
    page: str = ""


def compared_two_logs(job: Job) -> bool:
    """Whether the job itself compared two logs that have steps in common."""
    return job.kind == COMPARISON and bool((job.results or {}).get("common_points"))


def curve_pair(job: Job) -> CurvePair | None:
    """The pair of a job; None where it compared none and no newest verdict rests on its log."""
    if compared_two_logs(job):
        return CurvePair(reverse("assessments:job_curve_spec", args=[job.pk]),
                         finding_sentences(job.results))
    if job.model_id is None:
        return None
    verdicts = Verdict.objects.filter(
        measurement__job=job, facts__common_points__gt=0,
        criterion__definition__calculator=MetricDefinition.Calculator.LOSS_CURVE)
    verdict = verdicts.select_related("criterion__definition").order_by("-pk").first()
    if verdict is None or newest_verdict(verdict.criterion) != verdict:
        return None
    pk = verdict.criterion_id
    return CurvePair(reverse("assessments:curve_spec", args=[pk]),
                     finding_sentences(verdict.facts),
                     verdict_sentence(verdict.criterion, verdict),
                     reverse("assessments:criterion", args=[pk]))


def loss_of_baseline(model: int | None) -> list[tuple[float, float]]:
    """Step and loss of the model's newest loss curve on the source platform, a frozen one first;
    nothing where there is none, or none by step."""
    known = sorted(Baseline.objects.filter(model=model, quantity="loss_curve").select_related(
        "artifact"), key=lambda row: (row.frozen_at is not None, row.pk)) if model else []
    try:
        series = read_stored(read_series, known[-1].artifact) if known else None
    except ReadError:
        return []
    if series is None or series.step_unit != "step":
        return []
    return [point for point in zip(series.steps, series.losses, strict=True) if isfinite(point[1])]


def finding_sentences(facts: dict) -> list[str]:
    """What the curves differ in, in the active language."""
    return [difference_sentence(finding, gettext) for finding in facts.get("differences") or []]
