"""The one entry point of every step of a quote's life, for pages and API."""

from django.utils.translation import gettext as _

from delivery.quotes.models import Quote
from delivery.quotes.services.customer_answers import answer_quote
from delivery.quotes.services.transitions import (
    approve_quote,
    discard_quote,
    issue_quote,
    return_quote,
    review_quote,
    submit_quote,
    withdraw_quote,
)
from engagements.errors import InvalidInput
from engagements.models import User


def move_quote(*, actor: User, quote: Quote, move: str, reason: str = "") -> Quote:
    """The entry point of all transitions of `QuoteMove`."""
    if move == "return":
        return return_quote(actor=actor, quote=quote, reason=reason)
    if move in ("accept", "decline"):
        return answer_quote(actor=actor, quote=quote, is_accepted=move == "accept", reason=reason)
    if move == "review":
        return review_quote(actor=actor, quote=quote, note=reason)
    moves = {"submit": submit_quote, "discard": discard_quote, "withdraw": withdraw_quote,
             "approve": approve_quote, "issue": issue_quote}
    if move not in moves:
        raise InvalidInput(_("There is no such step."))
    return moves[move](actor=actor, quote=quote)
