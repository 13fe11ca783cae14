"""What follows from a job that succeeded and from a file that was read."""

from django.dispatch import receiver

from assessments import services
from assessments.queries import is_indexable
from engagements.queue.enqueue import enqueue_on_commit
from workers.signals import job_succeeded, reading_stored


@receiver(job_succeeded)
def measure_and_judge(sender, job, readings, **kwargs) -> None:
    """Record what the job's files measured and judge the current criteria they touch."""
    if job.model is None:
        return
    services.judge_affected([m for artifact in job.artifacts.all()
                             for m in services.measure_artifact(artifact)])


@receiver(reading_stored)
def index_operators(sender, reading, **kwargs) -> None:
    """A comparison's rows are indexed by a worker: a large workbook takes many seconds."""
    if is_indexable(reading):
        enqueue_on_commit("assessments.index_comparison", reading.artifact_id, expires=600)
