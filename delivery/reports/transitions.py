"""What may be done with a document (DOMAIN 9.11): written, reviewed and issued by three people."""

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from delivery.reports import registry
from delivery.reports.approvals import approval_chain
from delivery.reports.approvals.approval_steps import chain_of, is_for
from delivery.reports.approvals.document_duties import DUTIES
from delivery.reports.models import ApprovalTurn, Document
from engagements.access import Can, allowed
from engagements.duties import Duty, separated
from engagements.errors import NotAllowed, WrongState
from engagements.models import User
from engagements.transitions import Transition, TransitionTable, automatic, transition

State = Document.State
IN_CHAIN = (State.IN_REVIEW, State.REVIEWED)


class DocumentMove(models.TextChoices):
    """Values are the names of the API's endpoints, with underscores; `discard` is its DELETE."""

    DISCARD = "discard"
    REFRESH = "refresh"
    WORDS = "words"
    SUBMIT = "submit"
    REVIEW = "review"
    HAND_OVER = "hand_over"
    CO_SIGN = "co_sign"
    SEND_BACK = "send_back"
    RECALL = "recall"
    PREVIEW = "preview"
    ISSUE = "issue"
    CORRECT = "correct"
    WITHDRAW = "withdraw"


def _writes(user: User, document: Document) -> bool:
    return allowed(user, registry.get(document.kind).written_by)


def _issues(user: User, document: Document) -> bool:
    return allowed(user, registry.get(document.kind).issued_by)


def _returns(user: User, document: Document) -> bool:
    """Whoever approves, of a reviewed document; else a reviewer, or whose turn it is."""
    if document.state == State.REVIEWED:
        return _issues(user, document)
    return (allowed(user, registry.get(document.kind).reviewed_by)
            or approval_chain.turn_of(user, document) is not None)


def _recalls(user: User, document: Document) -> bool:
    """Whoever writes; what cannot be issued as well whoever issues."""
    is_stuck = document.state == State.ISSUING
    return _writes(user, document) or (is_stuck and _issues(user, document))


def _is_author(user: User, document: Document) -> None:
    if document.state == State.ISSUING and _issues(user, document):
        return
    if not approval_chain.is_author(user, document):
        raise NotAllowed(_("Only the author can withdraw a document; reviewers send it back."))


def _cannot_be_issued(_user: User, document: Document) -> None:
    if document.state == State.ISSUING and not document.has_failed_file:
        raise WrongState(_("Its files are being generated. An approved document can be withdrawn "
                           "only if one of them cannot be generated."))


def _not_by_author(user: User, document: Document) -> None:
    if document.state == State.IN_REVIEW and approval_chain.is_author(user, document):
        raise NotAllowed(_("You wrote this document; withdraw it instead."))


def _has_turn(user: User, document: Document) -> None:
    if approval_chain.turn_of(user, document) is None:
        raise NotAllowed(_("It is not your turn to review this document."))


def _approves_by_chain(user: User, document: Document) -> None:
    turn = approval_chain.approval_of(document)
    if turn and not is_for(user, turn):
        raise NotAllowed(_("By this kind's approval chain, “%(step)s” is done by: %(role)s.") % {
            "step": turn, "role": turn.get_role_display()})


def _is_newest(_user: User, document: Document) -> None:
    if document.successors.exists():
        raise WrongState(_("A newer version of this document already exists."))


def _is_undecided(_user: User, document: Document) -> None:
    if getattr(document, "review", None) and document.review.decision:
        raise WrongState(_("The customer has decided on this document; correct it by a new "
                           "version."))


def refusal(document: Document, _move: str) -> str:
    """The sentence why a move is not possible in the document's state."""
    if document.is_frozen:
        return _("An issued document is never changed; make a new version of it.")
    return _("The document is “%(state)s”; this cannot be done with it now.") % {
        "state": document.get_state_display()}


def _submit(document: Document, actor: User, _comment: str) -> None:
    """Hand it to its reviewers, with the turns of its kind's chain."""
    document.submitted_by, document.submitted_at = actor, timezone.now()
    document.turns.all().delete()
    ApprovalTurn.objects.bulk_create(ApprovalTurn(document=document, **step)
                                     for step in chain_of(document.kind))


def _review(document: Document, actor: User, _comment: str) -> None:
    turn = approval_chain.turn_of(actor, document)
    turn.done_by, turn.done_at = actor, timezone.now()
    turn.save()
    document.reviewed_by, document.reviewed_at = actor, turn.done_at


def _to_draft(document: Document, _actor: User, _comment: str) -> None:
    document.submitted_by = document.submitted_at = None
    document.reviewed_by = document.reviewed_at = None
    document.turns.all().delete()


_M = DocumentMove


def _writing(label, **more) -> Transition:
    return transition(State.DRAFT, by=_writes, label=label, **more)


def _reviewing(label, **more) -> Transition:
    return transition(State.IN_REVIEW, by=Can.VIEW_INTERNAL, label=label, guards=(
        separated(DUTIES, Duty.REVIEWER), _has_turn), **more)


TRANSITIONS = TransitionTable({
    _M.DISCARD: _writing(gettext_lazy("Discard"), deletes=True,
                         audit=("document.discard", gettext_lazy("Draft discarded"))),
    _M.REFRESH: _writing(gettext_lazy("Refresh data"),
                         audit=("document.refresh", gettext_lazy("Document data refreshed"))),
    _M.WORDS: _writing(gettext_lazy("Write the text"),
                       audit=("document.write", gettext_lazy("Document text edited"))),
    _M.SUBMIT: transition(State.DRAFT, to=State.IN_REVIEW, by=_writes, effect=_submit,
                          label=gettext_lazy("Submit for review"),
                          audit=("document.submit", gettext_lazy("Document submitted"))),
    _M.REVIEW: _reviewing(  # it stays in review until the last one of the chain
        gettext_lazy("Reviewed, in order"), to=State.REVIEWED, effect=_review,
        audit=("document.review", gettext_lazy("Document reviewed"))),
    _M.HAND_OVER: _reviewing(
        gettext_lazy("Hand over"),
        audit=("document.hand_over", gettext_lazy("Document handed over"))),
    _M.CO_SIGN: _reviewing(gettext_lazy("Ask to co-sign"),
                           audit=("document.co_sign", gettext_lazy("Co-signer added"))),
    _M.SEND_BACK: transition(*IN_CHAIN, to=State.DRAFT, by=_returns, guards=(_not_by_author,),
                             needs_reason=True, effect=_to_draft,
                             label=gettext_lazy("Send back"),
                             audit=("document.send_back", gettext_lazy("Document sent back"))),
    _M.RECALL: transition(*IN_CHAIN, State.ISSUING, to=State.DRAFT, by=_recalls,
                          guards=(_is_author, _cannot_be_issued), effect=_to_draft,
                          label=gettext_lazy("Undo"),
                          audit=("document.recall", gettext_lazy("Document recalled"))),
    _M.PREVIEW: transition(State.DRAFT, *IN_CHAIN, by=Can.VIEW_INTERNAL,
                           label=gettext_lazy("Generate preview")),
    _M.ISSUE: transition(State.REVIEWED, to=State.ISSUING, by=_issues, guards=(
        separated(DUTIES, Duty.APPROVER), _approves_by_chain),
        label=gettext_lazy("Approve and issue"),
        audit=("document.approve", gettext_lazy("Document approved"))),
    _M.CORRECT: transition(State.ISSUED, State.SIGNED, State.WITHDRAWN, by=Can.ISSUE,
                           guards=(_is_newest,), needs_reason=True,
                           label=gettext_lazy("Draft the next version"),
                           audit=("document.correct", gettext_lazy("Correction started"))),
    _M.WITHDRAW: transition(State.ISSUED, to=State.WITHDRAWN, by=Can.ISSUE,
                            guards=(_is_undecided,), needs_reason=True,
                            label=gettext_lazy("Withdraw this version"),
                            audit=("document.withdraw", gettext_lazy("Document withdrawn"))),
}, refusal=refusal, automatic={
    "its last file is stored": automatic(
        State.ISSUING, to=State.ISSUED,
        audit=("document.issue", gettext_lazy("Document issued"))),
    "the customer has signed": automatic(State.ISSUED, to=State.SIGNED),
    "a newer version holds": automatic(
        State.ISSUED, State.SIGNED, to=State.SUPERSEDED,
        audit=("document.supersede", gettext_lazy("Document superseded"))),
})
