"""Storing the files of issued quotes, by workers after the commit."""

from delivery.documents.services.issued_files import store_missing
from delivery.quotes.models import Quote
from delivery.quotes.quote_files import RENDERERS, ids_lacking_files
from delivery.quotes.transitions import STORE_FILES, SWEEP_SECONDS
from engagements.queue import enqueue


def store_quote_files(quote_id: int) -> int:
    """Render and store what an issued quote lacks of its files. Safe to repeat, and to run twice
    at a time. Returns how many files this call stored; 0 for a quote that is not issued.
    """
    quote = Quote.objects.frozen().select_related("engagement__customer").filter(
        pk=quote_id).first()
    return store_missing(quote, RENDERERS, action="quote.file") if quote else 0


def enqueue_missing_files() -> None:
    """Ask workers for the files that issued quotes lack, a message per quote: also of quotes that
    were issued before files were stored, and where a message was lost or a file failed."""
    for quote_id in ids_lacking_files():
        enqueue(STORE_FILES, quote_id, expires=SWEEP_SECONDS)
