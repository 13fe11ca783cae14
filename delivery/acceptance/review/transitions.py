"""States of a review, and the table of actions allowed in them by permission."""

from django.db import models
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from delivery.acceptance.models import Review, Signer
from delivery.reports.models import Document
from engagements.access import Can
from engagements.audit import audit_log
from engagements.errors import NotAllowed, WrongState
from engagements.models import User
from engagements.transitions import TransitionTable, automatic, transition


class ReviewState(models.TextChoices):
    """Derived from document and decision; see `state_of`."""

    OPEN = "open"  # issued, the customer has not decided
    DECIDED = "decided"  # decided, not signed by everybody
    DEEMED = "deemed"  # accepted under the contract, without a signature
    SIGNED = "signed"
    REPLACED = "replaced"  # superseded by a newer version, or withdrawn


class ReviewAction(models.TextChoices):
    """Values are the names of the API's endpoints."""

    COMMENT = "comment"
    RESOLVE = "resolve"
    RECEIPTS = "receipts"
    DECIDE = "decide"
    IDENTIFY = "identify"
    SIGN = "sign"
    DECLINE = "decline"
    DELEGATE = "delegate"
    SIGNERS = "signers"
    NOTICE = "notice"
    DEEMED = "deemed"


_S, _A = ReviewState, ReviewAction
ISSUED = frozenset({_S.OPEN, _S.DECIDED, _S.DEEMED})
IN_SIGNING = frozenset({_S.DECIDED, _S.SIGNED})


def state_of(review: Review) -> ReviewState:
    """The state that follows from the document's state and the decision."""
    if review.document.state == Document.State.SIGNED:
        return ReviewState.SIGNED
    if review.document.state != Document.State.ISSUED:
        return ReviewState.REPLACED
    if review.decision == Review.Decision.DEEMED:
        return ReviewState.DEEMED
    return ReviewState.DECIDED if review.decision else ReviewState.OPEN


def current_signer(user: User, review: Review) -> Signer | None:
    """The user's row if it is the user's turn to sign; None where no order is set.

    Raises WrongState after a signature, a refusal or out of turn, NotAllowed for no signer.
    """
    if any(row.signer_id == user.pk for row in review.signatures.all()):
        raise WrongState(_("You have already signed this document."))
    rows = list(review.signers.all())
    refused = next((row for row in rows if row.state == Signer.State.DECLINED), None)
    if refused:
        raise WrongState(_("%(person)s declined to sign: %(reason)s The project manager names the "
                           "signers again or issues a new version.")
                         % {"person": refused.user, "reason": refused.reason})
    if rows and user.pk not in {row.user_id for row in rows}:
        raise NotAllowed(_("You are not among the signers of this document."))
    current = next((row for row in rows if row.state == Signer.State.WAITING), None)
    if current and current.user_id != user.pk:
        raise WrongState(_("It is %(person)s's turn to sign.") % {"person": current.user})
    return current


def _is_unsigned(_user: User, review: Review) -> None:
    if review.signatures.exists():
        raise WrongState(_("Somebody has signed this decision; it is not changed any more."))


def refusal(review: Review, action: str) -> str:
    """The sentence why an action is not allowed in the review's state."""
    state = state_of(review)
    if action == ReviewAction.DECIDE and state in ISSUED:
        return _("This document is accepted under the contract; nobody decides on it.")
    if action == ReviewAction.DEEMED and state in ISSUED:
        return _("The customer has responded; deemed acceptance does not apply.")
    if action == ReviewAction.RECEIPTS:
        return _("This version has been replaced; nothing can be added to it.")
    if TRANSITIONS[action].sources == IN_SIGNING:
        return {
            ReviewState.OPEN: _("Decide first, then sign."),
            ReviewState.DEEMED: _("This document is deemed accepted under the contract; no "
                                  "signature is needed."),
            ReviewState.REPLACED: _("This version has been replaced; sign the latest one."),
        }[state]
    return _("This document has been signed or replaced; nothing can be added to it.")


_EITHER = (Can.REVIEW, Can.WORK)
_DECIDED = "review.decide", gettext_lazy("Acceptance decided")
TRANSITIONS = TransitionTable({
    _A.COMMENT: transition(*ISSUED, by=_EITHER,
                           audit=("review.comment", gettext_lazy("Review commented on"))),
    _A.RESOLVE: transition(*ISSUED, by=_EITHER,
                           audit=("review.resolve", gettext_lazy("Comment resolved"))),
    _A.RECEIPTS: transition(*ISSUED, _S.SIGNED, by=Can.REVIEW,
                            audit=("review.receipt", gettext_lazy("Receipt confirmed"))),
    _A.DECIDE: transition(_S.OPEN, _S.DECIDED, to=_S.DECIDED, by=Can.REVIEW,
                          guards=(_is_unsigned,), audit=_DECIDED),
    _A.IDENTIFY: transition(*IN_SIGNING, by=Can.REVIEW, guards=(current_signer,),
                            audit=("review.identify", gettext_lazy("Signer identified"))),
    _A.SIGN: transition(*IN_SIGNING, by=Can.REVIEW, to=_S.SIGNED, guards=(current_signer,),
                        label=gettext_lazy("Sign"),
                        audit=("document.sign", gettext_lazy("Document signed"))),
    _A.DECLINE: transition(*ISSUED, by=Can.REVIEW, guards=(current_signer,),
                           audit=("review.decline", gettext_lazy("Signature declined"))),
    _A.DELEGATE: transition(*ISSUED, by=Can.REVIEW, guards=(current_signer,),
                            audit=("review.delegate", gettext_lazy("Signature handed over"))),
    _A.SIGNERS: transition(*ISSUED, by=Can.ISSUE,
                           audit=("review.signers", gettext_lazy("Signers named"))),
    _A.NOTICE: transition(*ISSUED, by=Can.ISSUE,
                          audit=("review.notice", gettext_lazy("Notice of acceptance given"))),
    _A.DEEMED: transition(_S.OPEN, to=_S.DEEMED, by=Can.ISSUE, audit=_DECIDED),
}, state_of=state_of, refusal=refusal, automatic={
    "a newer version is issued, or this one withdrawn": automatic(
        *ISSUED, _S.SIGNED, to=_S.REPLACED),
})


def record_action(actor: User, review: Review, action: str, data: dict) -> None:
    """Write the audit entry of an action of the table, of the review's document."""
    audit_log.record(actor=actor, action=TRANSITIONS[action].audit.code, target=review.document,
                     engagement=review.document.engagement, data=data)
