"""The transitions of a quote (DOMAIN 9.11): author, reviewer and approver are three people."""

from dataclasses import dataclass

from django.db import models
from django.utils.translation import gettext_lazy as _

from delivery.quotes.models import Quote
from engagements.access import Can, allowed
from engagements.models import User

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


@dataclass(frozen=True)
class QuoteTransition:
    """From `source` to `target`; one of the permissions is needed.

    `by_author`: True, only the quote's author; False, anybody but the author; None, anybody.
    """

    move: str
    source: str
    target: str
    permissions: tuple[Can, ...]
    by_author: bool | None = None
    by_reviewer: bool = True


TRANSITIONS = (
    QuoteTransition(QuoteMove.SUBMIT, State.DRAFT, State.IN_REVIEW, (Can.PRICE,)),
    QuoteTransition(QuoteMove.WITHDRAW, State.IN_REVIEW, State.DRAFT, (Can.PRICE,), True),
    QuoteTransition(QuoteMove.WITHDRAW, State.REVIEWED, State.DRAFT, (Can.PRICE,), True),
    QuoteTransition(QuoteMove.REVIEW, State.IN_REVIEW, State.REVIEWED, (Can.WORK, Can.PRICE),
                    False),
    QuoteTransition(QuoteMove.APPROVE, State.REVIEWED, State.APPROVED, (Can.MANAGE,), False,
                    by_reviewer=False),
    QuoteTransition(QuoteMove.RETURN, State.IN_REVIEW, State.DRAFT, (Can.WORK, Can.PRICE), False),
    QuoteTransition(QuoteMove.RETURN, State.REVIEWED, State.DRAFT, (Can.MANAGE,), False),
    QuoteTransition(QuoteMove.RETURN, State.APPROVED, State.DRAFT, (Can.MANAGE,), False),
    QuoteTransition(QuoteMove.ISSUE, State.APPROVED, State.ISSUED, (Can.PRICE,)),
    QuoteTransition(QuoteMove.ACCEPT, State.ISSUED, State.ACCEPTED, (Can.REVIEW,)),
    QuoteTransition(QuoteMove.DECLINE, State.ISSUED, State.DECLINED, (Can.REVIEW,)),
)


def sources_of(move: str) -> frozenset[str]:
    """The states in which a move is possible."""
    return frozenset(row.source for row in TRANSITIONS if row.move == move)


def target_of(move: str) -> str:
    """The state to which a move leads."""
    return next(row.target for row in TRANSITIONS if row.move == move)


def has_permission(user: User, move: str) -> bool:
    """Whether the role makes the move in any state."""
    return any(allowed(user, one) for row in TRANSITIONS if row.move == move
               for one in row.permissions)


def allowed_moves(user: User, quote: Quote) -> list[str]:
    """The moves that state, role and separation of duties leave to the user, without the checks
    of the quote's content."""
    return [row.move for row in TRANSITIONS
            if row.source == quote.current_state and _may(user, quote, row)]


def _may(user: User, quote: Quote, row: QuoteTransition) -> bool:
    is_author = quote.created_by_id == user.pk
    return (any(allowed(user, one) for one in row.permissions)
            and row.by_author in (None, is_author)
            and (row.by_reviewer or quote.reviewed_by_id != user.pk))
