"""The life of a quote up to its issue: author, reviewer, approver (DOMAIN 9.11)."""

from django.db import transaction
from django.db.models import ProtectedError
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.quotes import snapshot, standard_rates
from delivery.quotes.models import Quote
from delivery.quotes.quote_checks import QuoteCheck, failed_checks
from delivery.quotes.services.files import enqueue_files
from delivery.quotes.transitions import TRANSITIONS, QuoteMove
from engagements.audit import audit_log
from engagements.errors import DeskError, NotAllowed, WrongState
from engagements.models import Role, User
from engagements.moves import require_move
from engagements.text.text_joining import following, labelled, listed


class ChecksFailed(DeskError):
    """Rules are not met; `details["checks"]` lists code, sentence and where to cure it."""

    code = "checks_failed"
    status = 409


@transaction.atomic
def submit_quote(*, actor: User, quote: Quote) -> Quote:
    """Hand a draft to its reviewer. Raises ChecksFailed naming the rules that are not met."""
    quote = locked_for(actor, quote, QuoteMove.SUBMIT)
    refuse_failed(quote)
    return _move(quote, actor, QuoteMove.SUBMIT)


@transaction.atomic
def discard_quote(*, actor: User, quote: Quote) -> Quote:
    """Delete a draft; its number or version is free again. Returns the row that was.

    Raises WrongState while a change request rests on it.
    """
    quote = locked_for(actor, quote, QuoteMove.DISCARD)
    pk = quote.pk
    try:
        quote.delete()
    except ProtectedError as error:
        raise WrongState(_("A change request refers to %(quote)s.") % {"quote": quote}) from error
    quote.pk = pk
    audit_log.record(actor=actor, action="quote.discard", target=quote,
                     engagement=quote.engagement, data={"quote": str(quote)})
    return quote


def refuse_failed(quote: Quote) -> None:
    """Raise ChecksFailed naming the rules (R-QUO) that are not met."""
    refuse(failed_checks(quote))


def refuse(missing: list[QuoteCheck]) -> None:
    """Raise ChecksFailed if there is any."""
    if missing:
        raise ChecksFailed(following(*(labelled(c.code, c.sentence) for c in missing)),
                           checks=[c.as_dict() for c in missing])


@transaction.atomic
def review_quote(*, actor: User, quote: Quote, note: str = "") -> Quote:
    """Confirm effort, tax and margin of a submitted quote: who delivers or prices does.

    Its author never does.

    Args:
        note: what was looked at; stands in the history of the firm only.
    """
    quote = locked_for(actor, quote, QuoteMove.REVIEW)
    quote.reviewed_by, quote.reviewed_at = actor, timezone.now()
    return _move(quote, actor, QuoteMove.REVIEW, reason=note.strip())


@transaction.atomic
def approve_quote(*, actor: User, quote: Quote) -> Quote:
    """Approve a reviewed quote within the role's discount limit; a third person does it."""
    quote = locked_for(actor, quote, QuoteMove.APPROVE)
    check_limit(actor, quote)
    quote.approved_by, quote.approved_at = actor, timezone.now()
    return _move(quote, actor, QuoteMove.APPROVE, discount=str(quote.discount_rate))


def check_limit(actor: User, quote: Quote) -> None:
    """Raise NotAllowed when the discount is above what the actor's role approves (R-QUO-06)."""
    limit = standard_rates.discount_limit(actor.role)
    if quote.discount_rate <= limit:
        return
    able = standard_rates.roles_that_approve(quote.discount_rate)
    raise NotAllowed(
        _("A discount of %(rate)s is above your limit of %(limit)s (R-QUO-06). It can be approved "
          "by: %(roles)s.") % {
            "rate": f"{quote.discount_rate * 100:.2f} %", "limit": f"{limit * 100:.2f} %",
            "roles": listed(str(Role(role).label) for role in able) or _("nobody")})


@transaction.atomic
def return_quote(*, actor: User, quote: Quote, reason: str) -> Quote:
    """Reviewer or approver sends a quote that is not yet issued back to its author."""
    quote = locked_for(actor, quote, QuoteMove.RETURN, reason)
    return _back_to_draft(quote, actor, QuoteMove.RETURN, reason)


@transaction.atomic
def withdraw_quote(*, actor: User, quote: Quote) -> Quote:
    """Its author takes a quote back before it is approved."""
    return _back_to_draft(locked_for(actor, quote, QuoteMove.WITHDRAW), actor, QuoteMove.WITHDRAW)


def _back_to_draft(quote: Quote, actor: User, move: str, reason: str = "") -> Quote:
    quote.reviewed_by = quote.reviewed_at = quote.approved_by = quote.approved_at = None
    quote.revision += 1
    return _move(quote, actor, move, reason=reason, revision=quote.revision)


@transaction.atomic
def issue_quote(*, actor: User, quote: Quote) -> Quote:
    """Freeze the quote: the snapshot and its hash never change again.

    The checks run once more, as time has passed; an earlier issued version is superseded.
    """
    quote = locked_for(actor, quote, QuoteMove.ISSUE)
    refuse_failed(quote)
    freeze(quote)
    supersede_older(quote, actor, Quote.State.ISSUED)
    return _move(quote, actor, QuoteMove.ISSUE, hash=quote.content_hash)


def freeze(quote: Quote) -> None:
    """Fix the snapshot, its hash and the time of issue on the row; the caller saves it. Workers
    store its files after the commit."""
    quote.snapshot = snapshot.snapshot(quote)
    quote.content_hash = snapshot.content_hash(quote.snapshot)
    quote.issued_at = timezone.now()
    enqueue_files(quote)


def supersede_older(quote: Quote, actor: User, *states: str) -> None:
    """Earlier versions of the number in these states give way to `quote`."""
    for older in Quote.objects.select_for_update(of=("self",), no_key=True).filter(
            number=quote.number, version__lt=quote.version, state__in=states):
        moved(older, actor, Quote.State.SUPERSEDED, "quote.supersede", by=str(quote))


def locked_for(actor: User, quote: Quote, move: str, reason: str = "") -> Quote:
    """The locked row, once the table of transitions lets the actor make the move."""
    quote = Quote.objects.select_for_update(of=("self",), no_key=True).get(pk=quote.pk)
    require_move(actor, TRANSITIONS, quote, move, reason)
    return quote


def _move(quote: Quote, actor: User, move: str, **data) -> Quote:
    return moved(quote, actor, TRANSITIONS[move].target, f"quote.{move}", **data)


def moved(quote: Quote, actor: User | None, state: str, action: str, **data) -> Quote:
    """Save the row in its new state, with the audit entry."""
    quote.state = state
    quote.save()
    audit_log.record(actor=actor, action=action, target=quote, engagement=quote.engagement,
                     data=data)
    return quote
