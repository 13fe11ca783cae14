"""All runs behind a verdict: judged, measured, failed and aborted (DOMAIN AR-09)."""

from dataclasses import dataclass

from assessments.models import Criterion, Measurement, Verdict
from assessments.queries import measurements_of
from toolreaders.verdicts.sentences import shown
from workers.models import Job
from workers.models.job import JobState

SHOWN = 100
UNSUCCESSFUL = (JobState.FAILED, JobState.CANCELLED, JobState.TIMED_OUT, JobState.LOST)


@dataclass(frozen=True)
class Run:
    """A measurement, or a job that brought none; `figure` as text where this run was judged."""

    job: Job | None
    measurement: Measurement | None
    is_judged: bool
    figure: str


def all_runs(criterion: Criterion, verdict: Verdict | None) -> list[Run]:
    """Newest first: what was measured, and the unsuccessful jobs of the same kinds."""
    judged = {run["artifact"]: _figure(criterion, run.get("figure"))
              for run in (verdict.facts.get("runs", []) if verdict else [])}
    measured = list(measurements_of(criterion).select_related("job__node")[:SHOWN])
    kinds = {m.job.kind for m in measured if m.job}
    found = [Run(m.job, m, m.artifact_id in judged, judged.get(m.artifact_id, "--"))
             for m in measured]
    failed = Job.objects.whole().filter(
        model=criterion.model, kind__in=kinds, state__in=UNSUCCESSFUL)
    found += [Run(job, None, False, "--")
              for job in failed.select_related("node").order_by("-pk")[:SHOWN]]
    return sorted(found, key=_time, reverse=True)


def _figure(criterion: Criterion, figure: float | None) -> str:
    if not isinstance(figure, (int, float)):
        return "--"
    return shown(figure, criterion.threshold, criterion.definition.unit)[0]


def _time(run: Run):
    return run.measurement.created_at if run.measurement else run.job.created_at
