"""The transitions of a quote (DOMAIN 9.11): author, reviewer and approver are three people."""

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from delivery.quotes.models import Quote
from engagements.access import Can, allowed
from engagements.errors import NotAllowed, WrongState
from engagements.models import User
from engagements.transitions import Guard, TransitionTable, transition

State = Quote.State


class QuoteMove(models.TextChoices):
    """Values are the words of the REST API and of the page's addresses."""

    SUBMIT = "submit", _("Submit for review")
    WITHDRAW = "withdraw", _("Withdraw")
    REVIEW = "review", _("Confirm the review")
    APPROVE = "approve", _("Approve")
    RETURN = "return", _("Send back")
    ISSUE = "issue", _("Issue to the customer")
    ACCEPT = "accept", _("Accept the quote")
    DECLINE = "decline", _("Decline the quote")


def _reviews(user: User, quote: Quote) -> bool:
    """Who delivers or prices; a reviewed quote is for managers."""
    return quote.state not in (State.REVIEWED, State.APPROVED) and (
        allowed(user, Can.WORK) or allowed(user, Can.PRICE))


def _is_author(user: User, quote: Quote) -> None:
    if quote.created_by_id != user.pk:
        raise NotAllowed(gettext(
            "Only its author withdraws a quote; an approver sends it back."))


def _not_by_author(sentence: str) -> Guard:
    def guard(user: User, quote: Quote) -> None:
        if quote.created_by_id == user.pk:
            raise NotAllowed(sentence)

    return guard


def _is_not_reviewer(user: User, quote: Quote) -> None:
    if quote.reviewed_by_id == user.pk:
        raise NotAllowed(gettext("You reviewed this quote; somebody else must approve it."))


def _is_valid(_user: User, quote: Quote) -> None:
    if quote.valid_until < timezone.localdate():
        raise WrongState(gettext("This quote expired on %(day)s. Ask for a new version.")
                         % {"day": quote.valid_until})


TRANSITIONS = TransitionTable({
    QuoteMove.SUBMIT: transition(State.DRAFT, to=State.IN_REVIEW, by=Can.PRICE),
    QuoteMove.WITHDRAW: transition(State.IN_REVIEW, State.REVIEWED, to=State.DRAFT, by=Can.PRICE,
                                   guards=(_is_author,)),
    QuoteMove.REVIEW: transition(State.IN_REVIEW, to=State.REVIEWED, by=(Can.WORK, Can.PRICE),
                                 guards=(_not_by_author(_(
                                     "You wrote this quote; somebody else must review it.")),)),
    QuoteMove.APPROVE: transition(State.REVIEWED, to=State.APPROVED, by=Can.MANAGE, guards=(
        _not_by_author(_("You wrote this quote; somebody else must approve it.")),
        _is_not_reviewer)),
    QuoteMove.RETURN: transition(State.IN_REVIEW, State.REVIEWED, State.APPROVED, to=State.DRAFT,
                                 by=(Can.MANAGE, _reviews), needs_reason=True, guards=(
        _not_by_author(_("You wrote this quote; withdraw it instead.")),)),
    QuoteMove.ISSUE: transition(State.APPROVED, to=State.ISSUED, by=Can.PRICE),
    QuoteMove.ACCEPT: transition(State.ISSUED, to=State.ACCEPTED, by=Can.REVIEW,
                                 guards=(_is_valid,)),
    QuoteMove.DECLINE: transition(State.ISSUED, to=State.DECLINED, by=Can.REVIEW,
                                  guards=(_is_valid,), needs_reason=True),
})
