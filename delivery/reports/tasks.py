"""Celery tasks: doors to the services."""

from celery import shared_task
from django.utils import timezone

from delivery.reports.services import draw_pictures, take_render_job
from delivery.reports.services.render_jobs import due, wake


@shared_task(name="reports.make")
def make(order_id: int) -> None:
    """Fill an order for a file, unless somebody else does."""
    take_render_job(order_id)


@shared_task(name="reports.draw")
def draw(document_id: int) -> None:
    """Draw the pictures of a draft before somebody waits for them."""
    draw_pictures(document_id)


@shared_task(name="reports.sweep")
def sweep() -> None:
    """Wake what is due; found in the database, not in the queue."""
    wake(due(timezone.now()))
