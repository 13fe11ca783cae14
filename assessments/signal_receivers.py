"""What follows from a job that succeeded and from a file that was read."""

from django.dispatch import receiver

from assessments import services
from assessments.queries import is_indexable
from engagements.queue.enqueue import enqueue_on_commit
from workers.signals import job_succeeded, reading_stored


@receiver(job_succeeded)
def measure_and_judge(sender, job, readings, **kwargs) -> None:
    """Record what the job's files measured and judge the current criteria they touch.

    A regression run is measured, and compared by who started it; it judges nothing.
    """
    if job.model is None:
        return
    measured = [m for artifact in job.artifacts.all() for m in services.measure_artifact(artifact)]
    if not job.is_regression:
        services.judge_affected(measured)


@receiver(reading_stored)
def index_operators(sender, reading, **kwargs) -> None:
    """A comparison's rows are indexed by a worker: a large workbook takes many seconds."""
    if is_indexable(reading):
        enqueue_on_commit("assessments.index_comparison", reading.artifact_id, expires=600)
