"""What follows from a job that succeeded: measurements, then verdicts."""

from django.dispatch import receiver

from assessments import services
from workers.signals import job_succeeded


@receiver(job_succeeded)
def measure_and_judge(sender, job, readings, **kwargs) -> None:
    """Record what the job's files measured and judge the current criteria they touch."""
    if job.model is None:
        return
    services.judge_affected([m for artifact in job.artifacts.all()
                             for m in services.measure_artifact(artifact)])
