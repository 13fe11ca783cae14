"""What follows inside this app from a job that succeeded: the next step of its chain."""

from django.dispatch import receiver

from workers.signals import job_succeeded


@receiver(job_succeeded)
def next_step_of_chain(sender, job, **kwargs) -> None:
    """Runs in the job's final transaction: either both are written or neither."""
    from workers.services import (
        chains,  # brings the SSH library, which every command would wait for
    )

    chains.go_on(job)
