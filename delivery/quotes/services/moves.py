"""The moves of a quote for pages, API and commands; their table says what each needs and does."""

from datetime import date
from functools import partial

from django.db import transaction
from django.utils import timezone

from delivery.quotes.models import Quote
from delivery.quotes.signals import quote_accepted, quote_approved
from delivery.quotes.transitions import TRANSITIONS, QuoteMove
from engagements.models import Engagement, User
from engagements.moves import follow, make_move


@transaction.atomic
def move_quote(*, actor: User, quote: Quote, move: str, reason: str = "") -> Quote:
    """Make a move of `QuoteMove`; returns the row, of a discarded draft the one that was.

    Raises ChecksFailed for rules (R-QUO) that are not met.
    """
    quote = make_move(actor=actor, table=TRANSITIONS, subject=quote, move=move, reason=reason)
    if signal := {QuoteMove.APPROVE: quote_approved, QuoteMove.ACCEPT: quote_accepted}.get(move):
        signal.send(Quote, quote=quote, actor=actor)
    return quote


submit_quote = partial(move_quote, move=QuoteMove.SUBMIT)
discard_quote = partial(move_quote, move=QuoteMove.DISCARD)
withdraw_quote = partial(move_quote, move=QuoteMove.WITHDRAW)
approve_quote = partial(move_quote, move=QuoteMove.APPROVE)
return_quote = partial(move_quote, move=QuoteMove.RETURN)
issue_quote = partial(move_quote, move=QuoteMove.ISSUE)


def review_quote(*, actor: User, quote: Quote, note: str = "") -> Quote:
    """Confirm effort, tax and margin; the note says what was looked at."""
    return move_quote(actor=actor, quote=quote, move=QuoteMove.REVIEW, reason=note)


def answer_quote(*, actor: User, quote: Quote, is_accepted: bool, reason: str = "") -> Quote:
    """The customer accepts or declines an issued quote that is still valid."""
    move = QuoteMove.ACCEPT if is_accepted else QuoteMove.DECLINE
    return move_quote(actor=actor, quote=quote, move=move, reason=reason)


def revoke_unanswered(*, engagement: Engagement, actor: User, **_signal) -> None:
    """Take back what the customer of an engagement that is cancelled has not answered."""
    for quote in engagement.quotes.filter(state=Quote.State.ISSUED):
        move_quote(actor=actor, quote=quote, move=QuoteMove.REVOKE, reason=engagement.end_reason)


def expire_quotes(*, today: date | None = None) -> int:
    """Mark what nobody answered in time; how many. Repeating it changes nothing."""
    overdue = Quote.objects.overdue(today or timezone.localdate())
    count = 0
    for pk in overdue.values_list("pk", flat=True):
        with transaction.atomic():
            quote = overdue.select_for_update(of=("self",), no_key=True).filter(pk=pk).first()
            if quote:
                follow(actor=None, table=TRANSITIONS, subject=quote, event="expired",
                       valid_until=str(quote.valid_until))
                count += 1
    return count
