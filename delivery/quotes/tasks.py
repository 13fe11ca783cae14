"""Celery tasks: doors to the services."""

from celery import shared_task

from delivery.quotes import services


@shared_task(name="quotes.expire")
def expire() -> None:
    """Mark quotes nobody answered in time."""
    services.expire_quotes()
