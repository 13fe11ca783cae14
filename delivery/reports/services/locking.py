"""A document's row, locked, and the states in which something may be done with it."""

from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.reports.models import Document, DocumentStep
from engagements.audit import audit_log
from engagements.errors import WrongState
from engagements.models import User

Action = DocumentStep.Action
AUDITED = {
    Action.SUBMIT: "document.submit", Action.REVIEW: "document.review",
    Action.SEND_BACK: "document.send_back", Action.RECALL: "document.recall",
    Action.HAND_OVER: "document.hand_over", Action.CO_SIGN: "document.co_sign",
    Action.APPROVE: "document.approve", Action.WITHDRAW: "document.withdraw",
}


def locked(document: Document) -> Document:
    """The row as it stands now, locked until the end of the transaction."""
    return Document.objects.select_for_update(of=("self",), no_key=True).select_related(
        "engagement__customer", "created_by", "submitted_by", "reviewed_by", "replaces",
    ).get(pk=document.pk)


def require_state(document: Document, *states: str) -> Document:
    """The document, if it is in one of the states. Raises WrongState otherwise."""
    if document.is_frozen and document.state not in states:
        raise WrongState(_("An issued document is never changed; make a new version of it."))
    if document.state not in states:
        raise WrongState(_("The document is “%(state)s”; this cannot be done with it now.")
                         % {"state": document.get_state_display()})
    return document


def record_step(document: Document, actor: User, action: str, comment: str = "", **data) -> None:
    """Keep a step of the chain, with its audit entry."""
    DocumentStep.objects.create(document=document, actor=actor, action=action,
                                at=timezone.now(), comment=comment[:400])
    audit_log.record(actor=actor, action=AUDITED[action], target=document,
                     engagement=document.engagement,
                     data={**data, **({"comment": comment} if comment else {})})
