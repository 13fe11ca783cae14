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
    """Previews show facts that are no more: remove rows at once, files after the commit."""
    files = list(document.files.filter(format=PREVIEW))
    document.render_jobs.filter(format=PREVIEW).delete()
    document.files.filter(format=PREVIEW).delete()
    for entry in files:
        transaction.on_commit(lambda stored=entry.file: stored.storage.delete(stored.name))
