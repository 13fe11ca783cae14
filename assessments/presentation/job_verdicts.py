"""Which verdicts rest on what a job measured."""

from collections import defaultdict
from collections.abc import Iterable

from assessments.models import Verdict
from assessments.models.measurement import Outcome
from assessments.presentation.verdict_rows import Row
from workers.models import Job

WORST_FIRST = (Outcome.FAILED, Outcome.NOT_PROVABLE, Outcome.NOT_MEASURED, Outcome.PASSED)


def job_verdicts(jobs: Iterable[Job]) -> dict[int, list[Verdict]]:
    """Per job the newest verdict of each criterion judged by its files, the worst first."""
    newest: dict[tuple[int, int], Verdict] = {}
    for verdict in Verdict.objects.filter(measurement__job__in=list(jobs)).select_related(
            "measurement", "criterion__definition", "criterion__model", "criterion__criteria_set",
            "criterion__baseline__artifact").order_by("pk"):
        newest[verdict.measurement.job_id, verdict.criterion_id] = verdict
    found = defaultdict(list)
    for (job, _criterion), verdict in newest.items():
        found[job].append(verdict)
    for verdicts in found.values():
        verdicts.sort(key=lambda verdict: WORST_FIRST.index(verdict.outcome))
    return dict(found)


def verdict_rows_of(job: Job) -> list[Row]:
    """Its verdicts with figure, limit and sentence."""
    return [Row.of(verdict.criterion, verdict) for verdict in job_verdicts([job]).get(job.pk, ())]
