"""Celery tasks; each calls one service."""

from celery import shared_task

from delivery.planning.people import planned_tasks
from delivery.planning.services import files


@shared_task(name="planning.store_files")
def store_files(kind: str, row_id: int) -> None:
    """Store the files that an issued planning document lacks."""
    files.store_planning_files(kind, row_id)


@shared_task(name="planning.sweep")
def sweep() -> None:
    """Enqueue the issued rows whose files are missing: messages may have been lost."""
    files.enqueue_missing_files()


@shared_task(name="planning.refresh_planned_days")
def refresh_planned_days() -> None:
    """Compute the days of planned tasks anew: what is not begun moves with today."""
    planned_tasks.rebuild()
