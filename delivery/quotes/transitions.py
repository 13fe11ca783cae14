"""The life of a quote (DOMAIN 9.11): who may make which move in which state, and what it does.

Author, reviewer and approver are three people.
"""

from collections.abc import Collection, Mapping

from django.db import models
from django.db.models import ProtectedError, QuerySet
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from delivery.quotes import snapshot, tax_and_discounts
from delivery.quotes.models import Quote
from delivery.quotes.quote_checks import failed_checks
from engagements import duties
from engagements.access import Can, allowed
from engagements.duties import Duty
from engagements.errors import DeskError, NotAllowed, WrongState
from engagements.models import Role, User
from engagements.moves import follow
from engagements.queue import enqueue_on_commit
from engagements.text.text_joining import following, labelled, listed
from engagements.transitions import TransitionTable, automatic, transition

State = Quote.State
STORE_FILES = "quotes.store_files"  # the task
SWEEP_SECONDS = 300


class ChecksFailed(DeskError):
    """Rules are not met; `details["checks"]` lists code, sentence and where to cure it."""

    code = "checks_failed"
    status = 409


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
    REVOKE = "revoke", _("Revoke the quote")


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
                        and tax_and_discounts.discount_limit(user.role) >= quote.discount_rate)]


DUTIES = duties.register(duties.DutyRule(
    code="quote", title=_("Quotes"), done_by=_done_by, steps=_steps, is_settable=True))


def _is_valid(_user: User, quote: Quote) -> None:
    if quote.valid_until < timezone.localdate():
        raise WrongState(gettext("This quote expired on %(day)s. Ask for a new version.")
                         % {"day": quote.valid_until})


def _has_relation(_user: User, quote: Quote) -> None:
    """What was accepted after the issue is not told apart by a frozen quote."""
    others = listed(map(str, Quote.objects.accepted_besides(quote).without_facts()))
    if others and not quote.relation:
        raise WrongState(gettext("%(others)s was accepted in the meantime, and %(quote)s does not "
                                 "say whether it replaces it. Ask for a new version.")
                         % {"others": others, "quote": quote})


# What the moves do ------------------------------------------------------------------------


def _submit(quote: Quote, _actor: User, _reason: str) -> None:
    checked_facts(quote)


def checked_facts(quote: Quote, lines: list | None = None, coming: Collection[str] = ()) -> dict:
    """The facts that the quote would freeze, of its lines or those that it would hold; `coming`:
    stages that come into scope with it.

    Raises ChecksFailed naming the rules (R-QUO) that are not met.
    """
    lines = snapshot.line_rows(quote) if lines is None else lines
    amounts = snapshot.all_amounts(quote, lines)
    facts = snapshot.snapshot(quote, lines, amounts)
    if missing := failed_checks(quote, facts, lines, amounts, coming):
        raise ChecksFailed(following(*(labelled(c.code, c.sentence) for c in missing)),
                           checks=[c.as_dict() for c in missing])
    return facts


def _discard(quote: Quote, _actor: User, _reason: str) -> dict:
    """Its number or version is free again."""
    pk = quote.pk
    try:
        quote.delete()
    except ProtectedError as error:
        raise WrongState(gettext("A change request refers to %(quote)s.") % {
            "quote": quote}) from error
    quote.pk = pk
    return {"quote": str(quote)}


def _review(quote: Quote, actor: User, note: str) -> dict:
    """The note, on what was looked at, stands in the history of the firm only."""
    quote.reviewed_by, quote.reviewed_at = actor, timezone.now()
    return {"reason": note.strip()}


def _approve(quote: Quote, actor: User, _reason: str) -> dict:
    quote.approved_by, quote.approved_at = actor, timezone.now()
    return {"discount": str(quote.discount_rate)}


def check_limit(actor: User, quote: Quote) -> None:
    """Raise NotAllowed when the discount is above what the actor's role approves (R-QUO-06)."""
    limit = tax_and_discounts.discount_limit(actor.role)
    if quote.discount_rate <= limit:
        return
    able = tax_and_discounts.roles_that_approve(quote.discount_rate)
    raise NotAllowed(
        gettext("A discount of %(rate)s is above your limit of %(limit)s (R-QUO-06). It can be "
                "approved by: %(roles)s.") % {
            "rate": f"{quote.discount_rate * 100:.2f} %", "limit": f"{limit * 100:.2f} %",
            "roles": listed(str(Role(role).label) for role in able) or gettext("nobody")})


def _back_to_draft(quote: Quote, _actor: User, reason: str) -> dict:
    quote.reviewed_by = quote.reviewed_at = quote.approved_by = quote.approved_at = None
    quote.revision += 1
    return {"reason": reason, "revision": quote.revision}


def _issue(quote: Quote, actor: User, _reason: str) -> dict:
    """The checks run once more, as time has passed; an earlier issued version is superseded."""
    freeze(quote, checked_facts(quote))
    supersede_older(quote, actor, State.ISSUED)
    return {"hash": quote.content_hash}


def freeze(quote: Quote, facts: dict) -> None:
    """Fix the facts, their hash and the time of issue on the row; the caller saves it. Workers
    store its files after the commit."""
    quote.snapshot, quote.content_hash = facts, snapshot.content_hash(facts)
    quote.issued_at = timezone.now()
    enqueue_on_commit(STORE_FILES, quote.pk, expires=SWEEP_SECONDS)


def supersede_older(quote: Quote, actor: User, *states: str) -> None:
    """Earlier versions of the number in these states give way to `quote`."""
    _supersede(Quote.objects.filter(number=quote.number, version__lt=quote.version,
                                    state__in=states), quote, actor)


def _supersede(older: QuerySet[Quote], quote: Quote, actor: User) -> None:
    for row in older.select_for_update(of=("self",), no_key=True):
        follow(actor=actor, table=TRANSITIONS, subject=row, event="superseded", by=str(quote))


def take_answer(quote: Quote, actor: User, *, is_accepted: bool, reason: str) -> dict:
    """Put the customer's answer on the locked row; what an accepted quote replaces gives way."""
    if not is_accepted:
        return _answer(quote, actor, reason)
    _has_relation(actor, quote)
    return _accept(quote, actor, reason)


def _answer(quote: Quote, actor: User, reason: str) -> dict:
    quote.answered_by, quote.answered_at = actor, timezone.now()
    quote.answer_reason = reason.strip()
    return {"reason": reason}


def _accept(quote: Quote, actor: User, reason: str) -> dict:
    supersede_older(quote, actor, State.ACCEPTED)
    if quote.relation == Quote.Relation.REPLACES:
        _supersede(Quote.objects.accepted_besides(quote), quote, actor)
    return _answer(quote, actor, reason)


def _revoke(_quote: Quote, _actor: User, reason: str) -> dict:
    """Take back an offer that nobody accepted; what was accepted changes by a change request."""
    return {"reason": reason.strip()}


_ACCEPTED = "quote.accepted", _("Quote accepted by the customer")
_DECLINED = "quote.declined", _("Quote declined by the customer")
ANSWERED_OUTSIDE = {True: "accepted outside the portal", False: "declined outside the portal"}
TRANSITIONS = TransitionTable({
    QuoteMove.SUBMIT: transition(
        State.DRAFT, to=State.IN_REVIEW, by=Can.PRICE, effect=_submit,
        audit=("quote.submit", _("Quote submitted for review"))),
    QuoteMove.DISCARD: transition(
        State.DRAFT, by=Can.PRICE, effect=_discard, deletes=True,
        audit=("quote.discard", _("Draft quote discarded"))),
    QuoteMove.WITHDRAW: transition(
        State.IN_REVIEW, State.REVIEWED, to=State.DRAFT, by=Can.PRICE, guards=(_is_author,),
        effect=_back_to_draft, audit=("quote.withdraw", _("Quote withdrawn by its author"))),
    QuoteMove.REVIEW: transition(
        State.IN_REVIEW, to=State.REVIEWED, by=(Can.WORK, Can.PRICE),
        guards=(duties.separated(DUTIES, Duty.REVIEWER),), effect=_review,
        audit=("quote.review", _("Quote reviewed"))),
    QuoteMove.APPROVE: transition(
        State.REVIEWED, to=State.APPROVED, by=Can.MANAGE,
        guards=(duties.separated(DUTIES, Duty.APPROVER), check_limit), effect=_approve,
        audit=("quote.approve", _("Quote approved"))),
    QuoteMove.RETURN: transition(
        State.IN_REVIEW, State.REVIEWED, State.APPROVED, to=State.DRAFT,
        by=(Can.MANAGE, _reviews), needs_reason=True, guards=(_is_not_author,),
        effect=_back_to_draft, audit=("quote.return", _("Quote sent back"))),
    QuoteMove.ISSUE: transition(
        State.APPROVED, to=State.ISSUED, by=Can.PRICE, effect=_issue,
        audit=("quote.issue", _("Quote issued"))),
    QuoteMove.ACCEPT: transition(
        State.ISSUED, to=State.ACCEPTED, by=Can.REVIEW, guards=(_is_valid, _has_relation),
        effect=_accept,
        audit=_ACCEPTED),
    QuoteMove.DECLINE: transition(
        State.ISSUED, to=State.DECLINED, by=Can.REVIEW, guards=(_is_valid,), needs_reason=True,
        effect=_answer, audit=_DECLINED),
    QuoteMove.REVOKE: transition(
        State.ISSUED, to=State.REVOKED, by=(Can.PRICE, Can.MANAGE), needs_reason=True,
        effect=_revoke, audit=("quote.revoke", _("Quote revoked by the firm"))),
}, automatic={
    "expired": automatic(State.ISSUED, to=State.EXPIRED,
                         audit=("quote.expire", _("Quote expired"))),
    "superseded": automatic(State.ISSUED, State.ACCEPTED, to=State.SUPERSEDED,
                            audit=("quote.supersede", _("Quote superseded"))),
    ANSWERED_OUTSIDE[True]: automatic(
        State.ISSUED, State.EXPIRED, to=State.ACCEPTED, audit=_ACCEPTED),
    ANSWERED_OUTSIDE[False]: automatic(
        State.ISSUED, State.EXPIRED, to=State.DECLINED, audit=_DECLINED),
    "agreed by a change order": automatic(State.DRAFT, to=State.ACCEPTED, audit=_ACCEPTED),
})
