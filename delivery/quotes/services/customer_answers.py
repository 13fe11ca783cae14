"""What happens to an issued quote: the customer's answer, expiry."""

from datetime import date

from django.db import transaction
from django.utils import timezone

from delivery.quotes.models import Quote
from delivery.quotes.services.transitions import locked_for, moved, supersede_older
from delivery.quotes.transitions import TRANSITIONS, QuoteMove
from engagements.models import User


@transaction.atomic
def answer_quote(*, actor: User, quote: Quote, is_accepted: bool, reason: str = "") -> Quote:
    """The customer accepts or declines an issued quote that is still valid."""
    move = QuoteMove.ACCEPT if is_accepted else QuoteMove.DECLINE
    quote, state = locked_for(actor, quote, move, reason), TRANSITIONS[move].target
    quote.answered_by, quote.answered_at = actor, timezone.now()
    quote.answer_reason = reason.strip()
    if is_accepted:
        supersede_older(quote, actor, Quote.State.ACCEPTED)
    return moved(quote, actor, state, f"quote.{state}", reason=reason)


def expire_quotes(*, today: date | None = None) -> int:
    """Mark what nobody answered in time; how many. Repeating it changes nothing."""
    overdue = Quote.objects.overdue(today or timezone.localdate())
    count = 0
    for pk in overdue.values_list("pk", flat=True):
        with transaction.atomic():
            quote = overdue.select_for_update(of=("self",), no_key=True).filter(pk=pk).first()
            if quote:
                moved(quote, None, Quote.State.EXPIRED, "quote.expire",
                      valid_until=str(quote.valid_until))
                count += 1
    return count
