"""Celery tasks: each calls one service."""

from celery import shared_task

from delivery.acceptance import services
from delivery.acceptance.models import Review


@shared_task(name="acceptance.store_copies")
def store_copies(review_id: int) -> None:
    """Make the sealed copies of one review. Safe to repeat."""
    services.store_signed_copies(Review.objects.get(pk=review_id))


@shared_task(name="acceptance.complete_copies")
def complete_copies() -> None:
    """Make signed copies that a crash or a missing time stamp left out."""
    services.complete_signed_copies()
