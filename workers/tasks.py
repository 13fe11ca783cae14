"""Celery tasks: doors to the runner."""

from celery import shared_task

from workers import dispatch, runner


@shared_task(name="workers.advance")
def advance(job_id: int) -> None:
    """Take the job as far as it goes without waiting."""
    runner.advance_while_due(job_id)


@shared_task(name="workers.tick")
def tick() -> None:
    """Wake every job whose next step is due; found in the database, not in the queue."""
    for job_id in runner.due_jobs():
        dispatch.send(job_id)
