"""A document's row, locked, and the states in which something may be done with it."""

from django.db.models import QuerySet
from django.utils import timezone

from delivery.reports.models import Document, DocumentStep
from delivery.reports.transitions import TRANSITIONS
from engagements.audit import audit_log
from engagements.models import User
from engagements.moves import require_move


def current(document: Document, rows: QuerySet[Document] | None = None) -> Document:
    """The row as it stands now, with what its facts name."""
    return (Document.objects.all() if rows is None else rows).select_related(
        "engagement__customer", "created_by", "submitted_by", "reviewed_by", "replaces",
    ).get(pk=document.pk)


def locked(document: Document) -> Document:
    """The row as it stands now, locked until the end of the transaction."""
    return current(document, Document.objects.select_for_update(of=("self",), no_key=True))


def locked_for(actor: User, document: Document, move: str, reason: str | None = None) -> Document:
    """The locked row, once the table of transitions lets the actor make the move."""
    document = locked(document)
    require_move(actor, TRANSITIONS, document, move, reason)
    return document


def record_step(document: Document, actor: User, move: str, comment: str = "", **data) -> None:
    """Keep a step of the chain, with the audit entry of its move."""
    action = TRANSITIONS[move].audit.code
    DocumentStep.objects.create(
        document=document, actor=actor, action=action.removeprefix("document."),
        at=timezone.now(), comment=comment[:400])
    audit_log.record(actor=actor, action=action, target=document,
                     engagement=document.engagement,
                     data={**data, **({"comment": comment} if comment else {})})
