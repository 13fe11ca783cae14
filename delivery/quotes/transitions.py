"""The transitions of a quote (DOMAIN 9.11): author, reviewer and approver are three people."""

from collections.abc import Mapping

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from delivery.quotes.models import Quote
from delivery.quotes.standard_rates import discount_limit
from engagements import duties
from engagements.access import Can, allowed
from engagements.duties import Duty
from engagements.errors import NotAllowed, WrongState
from engagements.models import User
from engagements.transitions import TransitionTable, transition

State = Quote.State


class QuoteMove(models.TextChoices):
    """Values are the words of the REST API and of the page's addresses."""

    SUBMIT = "submit", _("Submit for review")
    DISCARD = "discard", _("Discard the draft")
    WITHDRAW = "withdraw", _("Withdraw")
    REVIEW = "review", _("Confirm the review")
    APPROVE = "approve", _("Approve")
    RETURN = "return", _("Send back")
    ISSUE = "issue", _("Issue to the customer")
    ACCEPT = "accept", _("Accept the quote")
    DECLINE = "decline", _("Decline the quote")


def may_review(user: User) -> bool:
    """Who delivers or prices."""
    return allowed(user, Can.WORK) or allowed(user, Can.PRICE)


def _reviews(user: User, quote: Quote) -> bool:
    """A reviewed quote is for managers."""
    return quote.state not in (State.REVIEWED, State.APPROVED) and may_review(user)


def _is_author(user: User, quote: Quote) -> None:
    if quote.created_by_id != user.pk:
        raise NotAllowed(gettext(
            "Only the author can withdraw a quote; approvers send it back."))


def _is_not_author(user: User, quote: Quote) -> None:
    if quote.created_by_id == user.pk:
        raise NotAllowed(gettext("You wrote this quote; withdraw it instead."))


def _done_by(quote: Quote) -> Mapping[Duty, set]:
    return {Duty.AUTHOR: {quote.created_by_id}, Duty.REVIEWER: {quote.reviewed_by_id},
            Duty.APPROVER: {quote.approved_by_id}}


def _steps(quote: Quote) -> list[duties.Step]:
    return [duties.Step(Duty.REVIEWER, gettext("Confirm the review"), may_review),
            duties.Step(Duty.APPROVER, gettext("Approve"), lambda user: allowed(user, Can.MANAGE)
                        and discount_limit(user.role) >= quote.discount_rate)]


DUTIES = duties.register(duties.DutyRule(
    code="quote", title=_("Quotes"), done_by=_done_by, steps=_steps, is_settable=True))


def _is_valid(_user: User, quote: Quote) -> None:
    if quote.valid_until < timezone.localdate():
        raise WrongState(gettext("This quote expired on %(day)s. Ask for a new version.")
                         % {"day": quote.valid_until})


TRANSITIONS = TransitionTable({
    QuoteMove.SUBMIT: transition(State.DRAFT, to=State.IN_REVIEW, by=Can.PRICE),
    QuoteMove.DISCARD: transition(State.DRAFT, by=Can.PRICE),
    QuoteMove.WITHDRAW: transition(State.IN_REVIEW, State.REVIEWED, to=State.DRAFT, by=Can.PRICE,
                                   guards=(_is_author,)),
    QuoteMove.REVIEW: transition(State.IN_REVIEW, to=State.REVIEWED, by=(Can.WORK, Can.PRICE),
                                 guards=(duties.separated(DUTIES, Duty.REVIEWER),)),
    QuoteMove.APPROVE: transition(State.REVIEWED, to=State.APPROVED, by=Can.MANAGE,
                                  guards=(duties.separated(DUTIES, Duty.APPROVER),)),
    QuoteMove.RETURN: transition(State.IN_REVIEW, State.REVIEWED, State.APPROVED, to=State.DRAFT,
                                 by=(Can.MANAGE, _reviews), needs_reason=True,
                                 guards=(_is_not_author,)),
    QuoteMove.ISSUE: transition(State.APPROVED, to=State.ISSUED, by=Can.PRICE),
    QuoteMove.ACCEPT: transition(State.ISSUED, to=State.ACCEPTED, by=Can.REVIEW,
                                 guards=(_is_valid,)),
    QuoteMove.DECLINE: transition(State.ISSUED, to=State.DECLINED, by=Can.REVIEW,
                                  guards=(_is_valid,), needs_reason=True),
})
