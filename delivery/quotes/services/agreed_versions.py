"""A version that a change order of both sides brings about: agreed on, so in force at once."""

from collections.abc import Iterable
from copy import copy

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.quotes.models import Quote
from delivery.quotes.services.drafts import copy_version, newest_version
from delivery.quotes.services.line_changes import LineChange, changed_lines, changed_staffing
from delivery.quotes.transitions import (
    DUTIES,
    check_limit,
    checked_facts,
    freeze,
    moved,
    supersede_older,
)
from engagements.access import Can, require
from engagements.duties import Duty, require_separated
from engagements.errors import WrongState
from engagements.models import User

IN_FORCE = (Quote.State.ISSUED, Quote.State.ACCEPTED)


def require_in_force(quote: Quote) -> None:
    """Raise WrongState unless the quote is the newest issued of its number and stands.

    A draft of a later version says nothing yet.
    """
    newest = Quote.objects.filter(number=quote.number).exclude(
        state__in=Quote.OPEN_STATES).defer("snapshot").order_by("-version").first() or quote
    if newest.pk != quote.pk or newest.state not in IN_FORCE:
        raise WrongState(_("%(quote)s is no longer in force (%(newest)s: %(state)s). Create "
                           "a new change request.") % {
            "quote": quote, "newest": newest, "state": newest.get_state_display()})


def preview_version(quote: Quote, changes: Iterable[LineChange]) -> dict:
    """The facts that the next version would freeze; nothing is written.

    Raises ChecksFailed for rules (R-QUO) that it would not meet.
    """
    lines, draft = changed_lines(quote, changes), copy(quote)
    draft.staffing, draft.approved_by = changed_staffing(quote, lines), None
    draft.quote_date = timezone.localdate()
    draft.valid_until = max(quote.valid_until, draft.quote_date)
    return checked_facts(draft, lines)


@transaction.atomic
def agree_on_version(*, actor: User, author: User, customer: User, quote: Quote,
                     changes: Iterable[LineChange], reason: str) -> Quote:
    """The next version with changed lines, accepted at once; the versions before are superseded.

    Both sides have signed the change order, which stands for review, approval and answer.

    Args:
        actor: who approved for the firm, within the role's discount limit; not the author.
        author: who wrote the change order.
        customer: who approved for the customer.
    Raises:
        WrongState: the quote is not what is in force. ChecksFailed: a rule is not met.
    """
    require(actor, Can.MANAGE, quote.engagement)
    require(customer, Can.REVIEW, quote.engagement)
    newest_version(quote.number)  # locks the number
    require_in_force(quote)
    lines = changed_lines(quote, changes)
    made = copy_version(author, quote, lines, reason, is_beside_open=True)
    require_separated(DUTIES, actor, made, Duty.APPROVER)
    made.staffing = changed_staffing(quote, lines)
    made.approved_by, made.approved_at = actor, timezone.now()
    check_limit(actor, made)
    freeze(made, checked_facts(made))
    made.answered_by, made.answered_at = customer, made.issued_at
    supersede_older(made, actor, *IN_FORCE)
    return moved(made, actor, Quote.State.ACCEPTED, "quote.accepted", reason=reason,
                 hash=made.content_hash)
