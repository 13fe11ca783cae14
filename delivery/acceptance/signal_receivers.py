"""What follows from documents that are replaced: a certificate no longer holds."""

from django.dispatch import receiver

from delivery.acceptance.services.outcome import follow_certificate
from delivery.reports.models import Document
from delivery.reports.signals import document_replaced


@receiver(document_replaced)
def certificate_was_replaced(sender, document: Document, by: Document, **kwargs) -> None:
    """Runs in the transaction that issues the correction."""
    if document.kind == Document.Kind.ACCEPTANCE:
        follow_certificate(actor=by.issued_by, engagement=by.engagement)
