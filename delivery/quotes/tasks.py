"""Celery tasks; each calls one service."""

from celery import shared_task

from delivery.quotes import services


@shared_task(name="quotes.store_files")
def store_files(quote_id: int) -> None:
    """Store the files that an issued quote lacks."""
    services.store_quote_files(quote_id)


@shared_task(name="quotes.sweep")
def sweep() -> None:
    """Enqueue the issued quotes whose files are missing: messages may have been lost."""
    services.enqueue_missing_files()


@shared_task(name="quotes.expire")
def expire() -> None:
    """Mark quotes nobody answered in time."""
    services.expire_quotes()
