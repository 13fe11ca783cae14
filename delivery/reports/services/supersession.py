"""Which earlier versions of a document no longer hold."""

from delivery.reports.models import Document
from delivery.reports.signals import document_replaced
from delivery.reports.transitions import TRANSITIONS
from engagements.models import User
from engagements.moves import follow


def supersede_older(*, actor: User, document: Document) -> None:
    """The version in force gives way to the issued `document`; what the customer has signed does so
    only once the customer has signed the new one, so that an offered or withdrawn version takes
    nothing from it. Call it inside the transaction that issued or concluded the document.

    Each superseded version gets its audit entry; `document_replaced` is sent for it.
    """
    older = Document.objects.filter(
        number=document.number, version__lt=document.version, state__in=Document.IN_FORCE)
    for old in older.select_for_update(of=("self",), no_key=True).select_related("engagement"):
        if old.is_concluded and not document.is_concluded:
            continue
        follow(actor=actor, table=TRANSITIONS, subject=old, event="a newer version holds",
               by=str(document))
        document_replaced.send(Document, document=old, by=document)
