"""States of a review, and the table of actions allowed in them by permission."""

from dataclasses import dataclass

from django.db import models
from django.utils.translation import gettext as _

from delivery.acceptance.models import Review, Signer
from delivery.reports.models import Document
from engagements.access import Can, allowed
from engagements.models import User


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
    SIGNERS = "signers"
    NOTICE = "notice"
    DEEMED = "deemed"


@dataclass(frozen=True)
class Rule:
    """States in which an action is allowed, and the permissions of which one is needed."""

    states: frozenset[str]
    permissions: tuple[Can, ...]


_S, _A = ReviewState, ReviewAction
ISSUED = frozenset({_S.OPEN, _S.DECIDED, _S.DEEMED})
IN_SIGNING = frozenset({_S.DECIDED, _S.SIGNED})

TRANSITIONS: dict[str, Rule] = {
    _A.COMMENT: Rule(ISSUED, (Can.REVIEW, Can.WORK)),
    _A.RESOLVE: Rule(ISSUED, (Can.REVIEW, Can.WORK)),
    _A.RECEIPTS: Rule(ISSUED | {_S.SIGNED}, (Can.REVIEW,)),
    _A.DECIDE: Rule(frozenset({_S.OPEN}), (Can.REVIEW,)),
    _A.IDENTIFY: Rule(IN_SIGNING, (Can.REVIEW,)),
    _A.SIGN: Rule(IN_SIGNING, (Can.REVIEW,)),
    _A.DECLINE: Rule(ISSUED, (Can.REVIEW,)),
    _A.SIGNERS: Rule(ISSUED, (Can.ISSUE,)),
    _A.NOTICE: Rule(ISSUED, (Can.ISSUE,)),
    _A.DEEMED: Rule(frozenset({_S.OPEN}), (Can.ISSUE,)),
}


def state_of(review: Review) -> ReviewState:
    """The state that follows from the document's state and the decision."""
    if review.document.state == Document.State.SIGNED:
        return ReviewState.SIGNED
    if review.document.state != Document.State.ISSUED:
        return ReviewState.REPLACED
    if review.decision == Review.Decision.DEEMED:
        return ReviewState.DEEMED
    return ReviewState.DECIDED if review.decision else ReviewState.OPEN


def allowed_actions(user: User, review: Review) -> list[str]:
    """Actions that state, role and signing order allow; reads signers and signatures."""
    state = state_of(review)
    found = [action for action, rule in TRANSITIONS.items() if state in rule.states
             and any(allowed(user, one) for one in rule.permissions)]
    signing = {ReviewAction.IDENTIFY, ReviewAction.SIGN}
    if signing & set(found) and not is_next_signer(user, review):
        found = [action for action in found if action not in signing]
    return found


def is_next_signer(user: User, review: Review) -> bool:
    """Whether it is the user's turn: not signed yet, nobody declined, next in any order set."""
    if any(row.signer_id == user.pk for row in review.signatures.all()):
        return False
    signers = list(review.signers.all())
    waiting = [row for row in signers if row.state == Signer.State.WAITING]
    has_refusal = any(row.state == Signer.State.DECLINED for row in signers)
    return not signers or bool(not has_refusal and waiting and waiting[0].user_id == user.pk)


def refusal(action: str, state: str) -> str:
    """The sentence why an action is not allowed in a state."""
    if action == ReviewAction.DECIDE and state in ISSUED:
        return _("The decision was made already; it is made once.")
    if action == ReviewAction.DEEMED and state in ISSUED:
        return _("The customer has answered; there is no silence to rely on.")
    if action == ReviewAction.RECEIPTS:
        return _("This version was replaced; nothing is added to it.")
    if TRANSITIONS[action].states == IN_SIGNING:
        return {
            ReviewState.OPEN: _("Decide first, then sign."),
            ReviewState.DEEMED: _("This document is accepted under the contract; nobody signs it."),
            ReviewState.REPLACED: _("This version was replaced; sign the newest one."),
        }[state]
    return _("This document is signed or was replaced; nothing is added to it.")
