"""Celery tasks; each calls one service."""

from celery import shared_task

from delivery.knowledge.services import figures


@shared_task(name="knowledge.refresh_figures")
def refresh_figures() -> None:
    """Take into the library what was measured, judged and worked since the last time."""
    figures.refresh_changed()
