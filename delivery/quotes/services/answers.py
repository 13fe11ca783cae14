"""Answers to quotes that the customer gave outside the portal: recorded by one person of the firm,
confirmed by another."""

from datetime import date

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.documents.scan_validation import checked_scan
from delivery.quotes.models import Quote, QuoteAnswer
from delivery.quotes.signals import quote_accepted
from delivery.quotes.transitions import ANSWERED_OUTSIDE, TRANSITIONS, take_answer
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import User
from engagements.moves import follow, locked

ANSWERABLE = (Quote.State.ISSUED, Quote.State.EXPIRED)  # an answer in time may be recorded late


@transaction.atomic
def record_answer(*, actor: User, quote: Quote, is_accepted: bool, way: str, given_on: date,
                  given_by: str, file=None, reason: str = "") -> QuoteAnswer:
    """Note an answer to an issued quote with its proof; the quote stays as it is until another
    person confirms it.

    Args:
        way: of `QuoteAnswer.Way`; what is written needs its scan.
        given_on: from the day of issue to the last day on which the quote is valid.
        given_by: who answered for the customer.
    Raises InvalidInput for what does not fit, WrongState for a quote that is not open.
    """
    require(actor, Can.PRICE, quote.engagement)
    quote = locked(quote)
    _require_answerable(quote)
    if quote.recorded_answers.unchecked().exists():
        raise WrongState(_("An answer is recorded already and waits for a second person."))
    if not is_accepted and not reason.strip():
        raise InvalidInput(_("Give the reason for which the customer declines."))
    issued_on = timezone.localdate(quote.issued_at)
    if not issued_on <= given_on <= min(quote.valid_until, timezone.localdate()):
        raise InvalidInput(_("An answer is given between the issue on %(first)s and the last valid "
                             "day, %(last)s, and not in the future.") % {
            "first": issued_on, "last": quote.valid_until})
    scan = checked_scan(file) if file or way != QuoteAnswer.Way.CALL else None
    answer = QuoteAnswer.objects.create(
        quote=quote, is_accepted=is_accepted, way=way, given_on=given_on,
        given_by=given_by.strip(), reason=reason.strip(), recorded_by=actor,
        **(scan.columns if scan else {}))
    _record(actor, answer, "quote.answer_recorded", is_accepted=is_accepted, way=way,
            given_on=str(given_on), given_by=answer.given_by, sha256=answer.sha256)
    return answer


@transaction.atomic
def check_answer(*, actor: User, answer: QuoteAnswer, is_confirmed: bool, remark: str = ""
                 ) -> QuoteAnswer:
    """A second person confirms a recorded answer, and the quote is accepted or declined by it; or
    says what is wrong with it, and it does not count.

    Raises NotAllowed for who recorded it, InvalidInput for a refusal without a remark, WrongState
    where it was looked at already or the quote is not open any more.
    """
    require(actor, Can.PRICE, answer.engagement)
    quote = locked(answer.quote)
    answer = locked(answer)
    if answer.is_confirmed is not None:
        raise WrongState(_("%(person)s has looked at this answer already.") % {
            "person": answer.checked_by})
    if answer.recorded_by_id == actor.pk:
        raise NotAllowed(_("You recorded this answer; somebody else confirms it."))
    if not is_confirmed and not remark.strip():
        raise InvalidInput(_("Say what is wrong with the recorded answer."))
    answer.is_confirmed, answer.remark = is_confirmed, remark.strip()
    answer.checked_by, answer.checked_at = actor, timezone.now()
    answer.save()
    _record(actor, answer, "quote.answer_checked", is_confirmed=is_confirmed, remark=answer.remark)
    if is_confirmed:
        _answer_quote(actor, quote, answer)
    return answer


def _answer_quote(actor: User, quote: Quote, answer: QuoteAnswer) -> None:
    _require_answerable(quote)
    take_answer(quote, actor, is_accepted=answer.is_accepted, reason=answer.reason)
    follow(actor=actor, table=TRANSITIONS, subject=quote,
           event=ANSWERED_OUTSIDE[answer.is_accepted], answer=str(answer),
           given_by=answer.given_by, given_on=str(answer.given_on))
    if answer.is_accepted:
        quote_accepted.send(Quote, quote=quote, actor=actor)


def _require_answerable(quote: Quote) -> None:
    if quote.state not in ANSWERABLE:
        raise WrongState(_("Quote %(quote)s is “%(state)s”: no answer to it is awaited.") % {
            "quote": quote, "state": quote.get_state_display()})


def _record(actor: User, answer: QuoteAnswer, action: str, **data) -> None:
    audit_log.record(actor=actor, action=action, target=answer, engagement=answer.engagement,
                     data={"quote": str(answer.quote), **data})
