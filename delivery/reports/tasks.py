"""Celery tasks; each calls one service."""

from celery import shared_task
from django.utils import timezone

from delivery.reports.models import RenderJob
from delivery.reports.services import draw_pictures, take_render_job
from delivery.reports.services.render_jobs import enqueue_render_jobs


@shared_task(name="reports.make")
def make(render_job_id: int) -> None:
    """Render one file, unless another worker does."""
    take_render_job(render_job_id)


@shared_task(name="reports.draw")
def draw(document_id: int) -> None:
    """Draw the pictures of a draft before somebody waits for them."""
    draw_pictures(document_id)


@shared_task(name="reports.sweep")
def sweep() -> None:
    """Enqueue what is due in the database: messages may have been lost."""
    enqueue_render_jobs(RenderJob.objects.due(timezone.now()))
