"""What follows from a job that succeeded: measurements, then verdicts."""

from django.dispatch import receiver

from assessments import services
from assessments.models import CriteriaSet, Criterion
from workers.signals import job_succeeded


@receiver(job_succeeded)
def measure_and_judge(sender, job, readings, **kwargs) -> None:
    """Record what the job's files measured and judge the signed criteria they touch."""
    if job.model is None:
        return
    touched = {m.quantity for artifact in job.artifacts.all()
               for m in services.measure_artifact(artifact)}
    for criterion in Criterion.objects.filter(
            criteria_set__state=CriteriaSet.State.SIGNED, model=job.model,
            definition__quantity__in=touched):
        services.judge_criterion(criterion)
