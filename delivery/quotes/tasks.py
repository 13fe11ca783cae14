"""Celery tasks; each calls one service."""

from celery import shared_task

from delivery.quotes import services


@shared_task(name="quotes.expire")
def expire() -> None:
    """Mark quotes nobody answered in time."""
    services.expire_quotes()
