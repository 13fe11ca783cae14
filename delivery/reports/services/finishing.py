"""The end of issuing: when the last file is stored, the document is issued."""

from delivery.documents.bilingual import LANGUAGES
from delivery.reports import registry
from delivery.reports.models import Document
from delivery.reports.services.locking import locked
from delivery.reports.signals import document_replaced
from delivery.reports.transitions import TRANSITIONS
from engagements.audit import audit_log

STORED = TRANSITIONS.automatic["its last file is stored"]


def finish_issue(document: Document) -> bool:
    """Make a document issued once all its files are there; what it replaces is superseded.

    To be called within the transaction that stored a file.
    """
    document = locked(document)
    if document.state != Document.State.ISSUING or not _is_complete(document):
        return False
    document.state = STORED.target
    document.save(update_fields=["state"])
    old = document.replaces
    if old and old.state in Document.IN_FORCE:
        old.state = Document.State.SUPERSEDED
        old.save(update_fields=["state"])
        document_replaced.send(Document, document=old, by=document)
    audit_log.record(actor=document.issued_by, action=STORED.audit.code, target=document,
                     engagement=document.engagement,
                     data={"number": document.number, "hash": document.content_hash})
    return True


def _is_complete(document: Document) -> bool:
    stored = set(document.files.values_list("language", "format"))
    return stored >= {(language, form) for language in LANGUAGES
                      for form in registry.get(document.kind).formats}
