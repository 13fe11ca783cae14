"""The chain of a document (DOMAIN 9.11): written, reviewed by somebody else, approved, issued.

What the reviewer saw is what is issued: from the submission on the facts stay as they are.
"""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.reports import registry
from delivery.reports.approvals import approval_chain
from delivery.reports.facts.snapshot import collect
from delivery.reports.issue_checks.checks import require_complete
from delivery.reports.models import ApprovalTurn, Document
from delivery.reports.services.files import forget_files
from delivery.reports.services.locking import current, locked_for, record_step
from delivery.reports.services.render_jobs import enqueue_later, queue_render_jobs
from delivery.reports.transitions import TRANSITIONS, DocumentMove
from engagements.errors import InvalidInput
from engagements.models import Engagement, User
from engagements.moves import require_permission

State = Document.State


@transaction.atomic
def move_document(*, actor: User, document: Document, move: str, comment: str = "") -> Document:
    """Make a move whose effect stands in the table, with a step of the chain."""
    document = locked_for(actor, document, move, comment)
    return _complete(document, actor, move, comment)


def submit_document(*, actor: User, document: Document) -> Document:
    """Hand a draft to its reviewers.

    Raises InvalidInput naming what is missing or contradictory: nobody reviews what cannot be
    issued.
    """
    require_permission(actor, TRANSITIONS, document, DocumentMove.SUBMIT)
    if document.state == State.DRAFT:
        require_complete(document)
    return move_document(actor=actor, document=document, move=DocumentMove.SUBMIT)


def review_document(*, actor: User, document: Document, comment: str = "") -> Document:
    """Confirm a draft as one of its reviewers; whoever wrote or submitted it cannot.

    When the last review of the chain is done the document is reviewed.
    """
    return move_document(actor=actor, document=document, move=DocumentMove.REVIEW, comment=comment)


def send_back_document(*, actor: User, document: Document, reason: str) -> Document:
    """Return a draft in review, or a reviewed one, to its author, with a reason."""
    return move_document(actor=actor, document=document, move=DocumentMove.SEND_BACK,
                         comment=reason.strip())


@transaction.atomic
def hand_over_review(*, actor: User, document: Document, colleague: User, reason: str = ""
                     ) -> Document:
    """Let a colleague do the review that is the actor's turn."""
    document = locked_for(actor, document, DocumentMove.HAND_OVER)
    turn = approval_chain.turn_of(actor, document)
    turn.holder = _colleague(actor, document, colleague)
    turn.save()
    record_step(document, actor, DocumentMove.HAND_OVER, _to(colleague, reason))
    return document


@transaction.atomic
def add_co_signer(*, actor: User, document: Document, colleague: User, reason: str = ""
                  ) -> Document:
    """Ask a colleague to review beside the actor, whose turn it is; both must confirm."""
    document = locked_for(actor, document, DocumentMove.CO_SIGN)
    turn = approval_chain.turn_of(actor, document)
    ApprovalTurn.objects.create(document=document, position=turn.position, title="会签",
                        title_en="Co-signed by", holder=_colleague(actor, document, colleague))
    record_step(document, actor, DocumentMove.CO_SIGN, _to(colleague, reason))
    return document


def _colleague(actor: User, document: Document, colleague: User) -> User:
    colleagues = approval_chain.colleagues(document)
    if colleague == actor or not colleagues.filter(pk=colleague.pk).exists():
        raise InvalidInput(_("%(person)s cannot review this document.") % {"person": colleague})
    if document.turns.filter(holder=colleague, done_by=None).exists():
        raise InvalidInput(_("%(person)s has already been asked.") % {"person": colleague})
    return colleague


def _to(colleague: User, reason: str) -> str:
    return f"→ {colleague}" + (f": {reason.strip()}" if reason.strip() else "")


def recall_document(*, actor: User, document: Document) -> Document:
    """Its author takes a document back from review.

    One that was approved and of which a file cannot be made is taken back as well by whoever
    issues: it loses number and date, and its facts are collected anew. Nobody was given it.
    """
    facts = _facts_of_draft(document)
    with transaction.atomic():
        document = locked_for(actor, document, DocumentMove.RECALL)
        if document.state == Document.State.ISSUING:
            _undo_issue(document)
            document.snapshot = facts or collect(document, now=timezone.now())
            forget_files(document)
        return _complete(document, actor, DocumentMove.RECALL)


def _facts_of_draft(document: Document) -> dict:
    """Those of a document that is being issued, as if it had no number; {} in other states.
    Collected before the transaction, since files are read for them."""
    document = current(document)
    if document.state != State.ISSUING:
        return {}
    _undo_issue(document)
    return collect(document, now=timezone.now())


def _undo_issue(document: Document) -> None:
    document.number, document.content_hash = "", ""
    document.issued_at = document.issued_by = None
    document.state = State.DRAFT


@transaction.atomic
def withdraw_document(*, actor: User, document: Document, reason: str) -> Document:
    """Withdraw an issued document on which the customer has not decided.

    Its files stay readable byte for byte: the checksums of all of them, office files too, were
    issued. Copies that bear the mark on every page are made beside them.
    """
    document = locked_for(actor, document, DocumentMove.WITHDRAW, reason)
    _complete(document, actor, DocumentMove.WITHDRAW, reason.strip())
    queue_render_jobs(document, registry.get(document.kind).withdrawn_formats)
    enqueue_later(document)
    return document


def withdraw_undecided(*, engagement: Engagement, actor: User, **_signal) -> None:
    """Take back what lies with the customer of an engagement that is cancelled, with its reason."""
    for document in engagement.documents.filter(state=State.ISSUED, review__decision=""):
        withdraw_document(actor=actor, document=document, reason=engagement.end_reason)


def _complete(document: Document, actor: User, move: str, comment: str = "") -> Document:
    """Run the effect and save the document in the state that the move leads to, with the step of
    the chain; a review that others are to follow leaves it in review."""
    row = TRANSITIONS[move]
    if row.effect:
        row.effect(document, actor, comment)
    if move != DocumentMove.REVIEW or not approval_chain.open_turns(document).exists():
        document.state = row.target
    document.save()
    record_step(document, actor, move, comment)
    return document
