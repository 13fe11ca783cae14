"""The chain of a document (DOMAIN 9.11): written, reviewed by somebody else, approved, issued.

What the reviewer saw is what is issued: from the submission on the facts stay as they are.
"""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.reports import registry
from delivery.reports.models import Document, DocumentStep
from delivery.reports.services.locking import locked, note_step, require_state
from delivery.reports.services.orders import place_orders, wake_later
from engagements.access import Can, require
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import User

State, Action = Document.State, DocumentStep.Action


@transaction.atomic
def submit_document(*, actor: User, document: Document) -> Document:
    """Hand a draft to its reviewers."""
    require(actor, registry.get(document.kind).written_by, document.engagement)
    document = require_state(locked(document), State.DRAFT)
    document.submitted_by, document.submitted_at = actor, timezone.now()
    return _move(document, actor, State.IN_REVIEW, Action.SUBMIT)


@transaction.atomic
def review_document(*, actor: User, document: Document, comment: str = "") -> Document:
    """Confirm a draft as its reviewer; whoever wrote or submitted it cannot."""
    require(actor, registry.get(document.kind).reviewed_by, document.engagement)
    document = require_state(locked(document), State.IN_REVIEW)
    if actor.pk in (document.created_by_id, document.submitted_by_id):
        raise NotAllowed(_("You wrote this document; somebody else must review it."))
    document.reviewed_by, document.reviewed_at = actor, timezone.now()
    return _move(document, actor, State.REVIEWED, Action.REVIEW, comment)


@transaction.atomic
def send_back_document(*, actor: User, document: Document, reason: str) -> Document:
    """Return a draft in review, or a reviewed one, to its author, with a reason."""
    kind = registry.get(document.kind)
    document = require_state(locked(document), State.IN_REVIEW, State.REVIEWED)
    require(actor, kind.issued_by if document.state == State.REVIEWED else kind.reviewed_by,
            document.engagement)
    if not reason.strip():
        raise InvalidInput(_("Give the reason for sending the document back."))
    return _to_draft(document, actor, Action.SEND_BACK, reason.strip())


@transaction.atomic
def recall_document(*, actor: User, document: Document) -> Document:
    """Its author takes a document back from review."""
    document = require_state(locked(document), State.IN_REVIEW, State.REVIEWED)
    require(actor, registry.get(document.kind).written_by, document.engagement)
    if actor.pk not in (document.created_by_id, document.submitted_by_id):
        raise NotAllowed(_("Only its author takes a document back; a reviewer sends it back."))
    return _to_draft(document, actor, Action.RECALL)


@transaction.atomic
def withdraw_document(*, actor: User, document: Document, reason: str) -> Document:
    """Withdraw an issued document on which the customer has not decided.

    Its files stay readable as they are; copies that bear the mark are made beside them.
    """
    require(actor, Can.ISSUE, document.engagement)
    document = require_state(locked(document), State.ISSUED)
    if not reason.strip():
        raise InvalidInput(_("Give the reason for withdrawing the document."))
    if getattr(document, "review", None) and document.review.decision:
        raise WrongState(_("The customer has decided on this document; correct it by a new "
                           "version."))
    _move(document, actor, State.WITHDRAWN, Action.WITHDRAW, reason.strip())
    place_orders(document, ("withdrawn",))
    wake_later(document)
    return document


def _to_draft(document: Document, actor: User, action: str, comment: str = "") -> Document:
    document.submitted_by = document.submitted_at = None
    document.reviewed_by = document.reviewed_at = None
    return _move(document, actor, State.DRAFT, action, comment)


def _move(document: Document, actor: User, state: str, action: str, comment: str = ""
          ) -> Document:
    document.state = state
    document.save()
    note_step(document, actor, action, comment)
    return document
