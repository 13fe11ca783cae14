"""Stored files of documents."""

from hashlib import sha256

from django.core.files.base import ContentFile
from django.db import transaction

from delivery.reports.models import Document, DocumentFile
from engagements.audit import audit_log

PREVIEW = "preview"


@transaction.atomic
def store_file(document: Document, language: str, content: bytes, format: str = "pdf"
               ) -> DocumentFile:
    """Keep rendered bytes with their checksum, and note it in the audit log. A format is stored
    once per language."""
    entry = DocumentFile(document=document, language=language, format=format,
                         size=len(content), sha256=sha256(content).hexdigest())
    entry.file.save(entry.download_name, ContentFile(content), save=False)
    entry.save()
    audit_log.record(actor=None, action="document.file", target=document,
                     engagement=document.engagement,
                     data={"language": language, "format": format, "sha256": entry.sha256})
    return entry


def forget_previews(document: Document) -> None:
    """Previews show facts that are no more: remove rows at once, files after the commit."""
    files = list(document.files.filter(format=PREVIEW))
    document.render_jobs.filter(format=PREVIEW).delete()
    document.files.filter(format=PREVIEW).delete()
    for entry in files:
        transaction.on_commit(lambda stored=entry.file: stored.storage.delete(stored.name))
