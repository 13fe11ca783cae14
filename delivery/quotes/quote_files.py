"""The files of a quote: stored once it is issued, rendered on request until then."""

from django.db.models import Count, QuerySet

from delivery.documents.bilingual import LANGUAGES
from delivery.documents.issued_files import stored_content
from delivery.quotes.models import Quote
from delivery.quotes.rendering import quote_pdf


def quote_workbook(quote: Quote, language: str) -> bytes:
    """As `quote_xlsx`, whose library is loaded by the first call."""
    from delivery.quotes.xlsx.workbook import quote_xlsx  # openpyxl: not at start

    return quote_xlsx(quote, language)


RENDERERS = {"pdf": quote_pdf, "xlsx": quote_workbook}
FILES_PER_QUOTE = len(LANGUAGES) * len(RENDERERS)


def ids_lacking_files() -> QuerySet:
    """Ids of issued quotes of which a language or a format is not stored yet."""
    return Quote.objects.frozen().values("pk").annotate(stored=Count("files")).filter(
        stored__lt=FILES_PER_QUOTE).values_list("pk", flat=True)


def is_lacking_files(quote: Quote) -> bool:
    """Whether workers are making files of the quote."""
    return bool(quote.content_hash) and quote.files.count() < FILES_PER_QUOTE


def quote_file(quote: Quote, language: str, form: str = "pdf") -> bytes:
    """The bytes of a quote as pdf or xlsx: the stored ones of an issued quote.

    Raises FileNotReady until a worker has stored them, FileDamaged if they have changed since.
    """
    if quote.content_hash:
        return stored_content(quote, quote.files, language, form)
    return RENDERERS[form](quote, language)
