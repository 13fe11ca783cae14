"""Stored files of documents."""

from django.db import transaction

from delivery.documents.services.issued_files import store_content
from delivery.reports.models import Document, DocumentFile

PREVIEW = "preview"


def store_file(document: Document, language: str, content: bytes, format: str = "pdf"
               ) -> DocumentFile:
    """Keep rendered bytes with their checksum, and note it in the audit log. A format is stored
    once per language."""
    entry = DocumentFile(document=document, language=language, format=format)
    store_content(entry, content, action="document.file", target=document)
    return entry


def forget_previews(document: Document) -> None:
    """Previews show facts that are no more."""
    forget_files(document, format=PREVIEW)


def forget_files(document: Document, **only: str) -> None:
    """Remove files that nobody was given, and orders for such: rows at once, bytes after the
    commit. Of an issued document only previews may go."""
    files = list(document.files.filter(**only))
    document.render_jobs.filter(**only).delete()
    document.files.filter(**only).delete()
    for entry in files:
        transaction.on_commit(lambda stored=entry.file: stored.storage.delete(stored.name))
