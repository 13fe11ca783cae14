"""Writes of quotes. Each function owns its transaction, lock and audit entry."""

from datetime import date, timedelta
from decimal import Decimal

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.quotes import catalogue, documents
from delivery.quotes.checks import failed_checks
from delivery.quotes.models import PriceLine, Quote, QuoteLine, RateCard
from delivery.quotes.money import to_cents
from engagements import audit
from engagements.access import Can, require
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import Engagement, User

VALID_DAYS = 30
PAYMENT_TERMS = [
    {"percent": "30", "name": "合同签订", "name_en": "Contract signed"},
    {"percent": "40", "name": "初验通过", "name_en": "Preliminary acceptance"},
    {"percent": "30", "name": "终验通过", "name_en": "Final acceptance"},
]


@transaction.atomic
def load_rate_cards(*, actor: User) -> RateCard:
    """The starting price list; an existing one is never touched."""
    card, created = RateCard.objects.get_or_create(
        name="2025 标准价目表", defaults={
            "valid_from": date(2025, 1, 1), "stated_total": catalogue.STATED_TOTAL,
            "source": "解决方案指南 V01（2025-06-25）；服务单价：2023 年基准人月费率样例"})
    if created:
        PriceLine.objects.bulk_create([*_resources(card), *_services(card)])
        audit.record(actor=actor, action="rate_card.load", target=card,
                     data={"printed_total": str(card.stated_total),
                           "computed_total": str(computed_total(card))})
    return card


def _resources(card: RateCard) -> list[PriceLine]:
    return [PriceLine(
        card=card, position=n, category="resource", code=code, name=name, name_en=name_en,
        specification=spec, specification_en=spec_en, unit="month", quantity=quantity,
        line_fee=Decimal(fee), unit_price=Decimal(fee) / quantity)
        for n, (code, name, name_en, spec, spec_en, quantity, fee)
        in enumerate(catalogue.RESOURCES, 1)]


def _services(card: RateCard) -> list[PriceLine]:
    return [PriceLine(
        card=card, position=100 + n, category=category, code=code, name=name, name_en=name_en,
        grade=grade, unit="person_day", quantity=1,
        unit_price=to_cents(catalogue.DAY_RATE * catalogue.GRADE_FACTORS[grade]))
        for n, (code, category, name, name_en, grade) in enumerate(catalogue.SERVICES)]


def computed_total(card: RateCard) -> Decimal:
    """The sum of the printed line fees."""
    return sum((line.line_fee for line in card.lines.exclude(line_fee=None)), Decimal(0))


def source_difference(card: RateCard) -> Decimal:
    """Printed total minus the sum of its own lines; 0 where they agree or none is printed."""
    return card.stated_total - computed_total(card) if card.stated_total is not None else Decimal(0)


def create_quote(*, actor: User, engagement: Engagement, today: date | None = None, **fields
                 ) -> Quote:
    """A draft with a number of its own: QT-<project>-<date>-<sequence> (DOMAIN 9.1)."""
    require(actor, Can.PRICE, engagement)
    today = today or timezone.localdate()
    fields.setdefault("payment_terms", PAYMENT_TERMS)
    prefix = f"QT-{engagement.code}-{today:%Y%m%d}"
    for _attempt in range(20):
        sequence = Quote.objects.filter(number__startswith=prefix, version=1).count() + 1
        try:
            with transaction.atomic():
                quote = Quote.objects.create(
                    engagement=engagement, number=f"{prefix}-{sequence + _attempt:03}",
                    quote_date=today, valid_until=today + timedelta(days=VALID_DAYS),
                    created_by=actor, **fields)
                audit.record(actor=actor, action="quote.create", target=quote,
                             engagement=engagement)
                return quote
        except IntegrityError:
            continue
    raise WrongState(_("No free quote number could be found; try again."))


def _draft(quote: Quote) -> Quote:
    quote = Quote.objects.select_for_update(of=("self",)).get(pk=quote.pk)
    if quote.state != Quote.State.DRAFT:
        raise WrongState(_("Only a draft can be changed; make a new version instead."))
    return quote


@transaction.atomic
def add_line(*, actor: User, quote: Quote, price: PriceLine, quantity: Decimal | None = None,
             months: Decimal = Decimal(1)) -> QuoteLine:
    """Add an item of the rate card; prices are copied, so that the card may change later."""
    require(actor, Can.PRICE, quote.engagement)
    quote = _draft(quote)
    if price.unit_price is None:
        raise InvalidInput(_("“%(item)s” has no price on the rate card.") % {"item": price})
    quantity = price.quantity if quantity is None else Decimal(quantity)
    if quantity <= 0 or Decimal(months) <= 0:
        raise InvalidInput(_("Quantity and months must be greater than zero."))
    line = QuoteLine.objects.create(
        quote=quote, position=quote.lines.count() + 1, category=price.category, code=price.code,
        name=price.name, name_en=price.name_en, specification=price.specification,
        specification_en=price.specification_en, grade=price.grade, unit=price.unit,
        quantity=quantity, months=months if price.unit == "month" else 1,
        unit_price=price.unit_price)
    _note_source(quote, price.card)
    audit.record(actor=actor, action="quote.add_line", target=quote, engagement=quote.engagement,
                 data={"code": price.code, "quantity": str(quantity)})
    return line


def _note_source(quote: Quote, card: RateCard) -> None:
    """Remember that the list the prices come from contradicts itself."""
    if source_difference(card) and not quote.snapshot.get("source_difference"):
        quote.snapshot = {**quote.snapshot, "source_difference": str(source_difference(card)),
                          "source_stated": str(card.stated_total),
                          "source_computed": str(computed_total(card))}
        quote.save(update_fields=["snapshot"])


@transaction.atomic
def add_resources(*, actor: User, quote: Quote, card: RateCard, months: Decimal) -> Quote:
    """All cloud resources of a card in their usual quantities, for a number of months."""
    for price in card.lines.filter(category="resource"):
        add_line(actor=actor, quote=quote, price=price, months=months)
    return quote


@transaction.atomic
def remove_line(*, actor: User, line: QuoteLine) -> None:
    """Take a line out of a draft."""
    require(actor, Can.PRICE, line.quote.engagement)
    quote = _draft(line.quote)
    audit.record(actor=actor, action="quote.remove_line", target=quote,
                 engagement=quote.engagement, data={"code": line.code})
    line.delete()


@transaction.atomic
def update_quote(*, actor: User, quote: Quote, **fields) -> Quote:
    """Change discount, validity, notes or the explanation of a differing source total."""
    require(actor, Can.PRICE, quote.engagement)
    quote = _draft(quote)
    rate = Decimal(fields.get("discount_rate", quote.discount_rate))
    if not 0 <= rate < 1:
        raise InvalidInput(_("The discount must be at least 0 % and below 100 %."))
    for name, value in fields.items():
        setattr(quote, name, value)
    quote.save()
    audit.record(actor=actor, action="quote.update", target=quote, engagement=quote.engagement,
                 data={k: str(v) for k, v in fields.items()})
    return quote


@transaction.atomic
def submit_quote(*, actor: User, quote: Quote) -> Quote:
    """Hand a draft to its approver. Raises InvalidInput listing the checks that fail."""
    require(actor, Can.PRICE, quote.engagement)
    quote = _draft(quote)
    missing = failed_checks(quote)
    if missing:
        raise InvalidInput(" ".join(f"{c.code}: {c.sentence}" for c in missing))
    return _move(quote, actor, Quote.State.IN_REVIEW, "quote.submit")


@transaction.atomic
def approve_quote(*, actor: User, quote: Quote) -> Quote:
    """Approve; a quote's author never approves it, and only a manager may."""
    require(actor, Can.MANAGE, quote.engagement)
    quote = _in_state(quote, Quote.State.IN_REVIEW)
    if quote.created_by_id == actor.pk:
        raise NotAllowed(_("You wrote this quote; somebody else must approve it."))
    quote.approved_by = actor
    return _move(quote, actor, Quote.State.APPROVED, "quote.approve")


@transaction.atomic
def return_quote(*, actor: User, quote: Quote, reason: str) -> Quote:
    """Send a quote in review back to its author."""
    require(actor, Can.MANAGE, quote.engagement)
    quote = _in_state(quote, Quote.State.IN_REVIEW)
    if not reason.strip():
        raise InvalidInput(_("Give the reason for sending the quote back."))
    return _move(quote, actor, Quote.State.DRAFT, "quote.return", reason=reason)


@transaction.atomic
def issue_quote(*, actor: User, quote: Quote) -> Quote:
    """Freeze the quote: the snapshot and its hash never change again."""
    require(actor, Can.PRICE, quote.engagement)
    quote = _in_state(quote, Quote.State.APPROVED)
    quote.snapshot = documents.snapshot(quote)
    quote.content_hash = documents.content_hash(quote.snapshot)
    quote.issued_at = timezone.now()
    Quote.objects.filter(number=quote.number, state=Quote.State.ISSUED).update(
        state=Quote.State.SUPERSEDED)
    return _move(quote, actor, Quote.State.ISSUED, "quote.issue", hash=quote.content_hash)


@transaction.atomic
def new_version(*, actor: User, quote: Quote) -> Quote:
    """A draft of the next version with the same lines."""
    require(actor, Can.PRICE, quote.engagement)
    newest = Quote.objects.filter(number=quote.number).order_by("-version").first()
    if newest.state in (Quote.State.DRAFT, Quote.State.IN_REVIEW, Quote.State.APPROVED):
        raise WrongState(_("Version %(version)d is still open.") % {"version": newest.version})
    today = timezone.localdate()
    lines = list(quote.lines.all())
    copy = Quote.objects.create(
        engagement=quote.engagement, number=quote.number, version=newest.version + 1,
        quote_date=today, valid_until=today + timedelta(days=VALID_DAYS),
        discount_rate=quote.discount_rate, discount_reason=quote.discount_reason,
        payment_terms=quote.payment_terms, notes=quote.notes, notes_en=quote.notes_en,
        source_note=quote.source_note, created_by=actor)
    for line in lines:
        line.pk, line.quote = None, copy
    QuoteLine.objects.bulk_create(lines)
    audit.record(actor=actor, action="quote.new_version", target=copy,
                 engagement=copy.engagement)
    return copy


@transaction.atomic
def answer_quote(*, actor: User, quote: Quote, is_accepted: bool, reason: str = "") -> Quote:
    """The customer accepts or declines an issued quote that is still valid."""
    require(actor, Can.REVIEW, quote.engagement)
    quote = _in_state(quote, Quote.State.ISSUED)
    if quote.valid_until < timezone.localdate():
        raise WrongState(_("This quote expired on %(day)s.") % {"day": quote.valid_until})
    if not is_accepted and not reason.strip():
        raise InvalidInput(_("Give the reason for declining."))
    state = Quote.State.ACCEPTED if is_accepted else Quote.State.DECLINED
    return _move(quote, actor, state, f"quote.{state}", reason=reason)


def move_quote(*, actor: User, quote: Quote, move: str, reason: str = "") -> Quote:
    """One door for all moves: submit, approve, issue, return, accept, decline."""
    if move == "return":
        return return_quote(actor=actor, quote=quote, reason=reason)
    if move in ("accept", "decline"):
        return answer_quote(actor=actor, quote=quote, is_accepted=move == "accept", reason=reason)
    moves = {"submit": submit_quote, "approve": approve_quote, "issue": issue_quote}
    if move not in moves:
        raise InvalidInput(_("There is no such step."))
    return moves[move](actor=actor, quote=quote)


def _in_state(quote: Quote, state: str) -> Quote:
    quote = Quote.objects.select_for_update(of=("self",)).get(pk=quote.pk)
    if quote.state != state:
        raise WrongState(_("The quote is “%(state)s”.") % {"state": quote.get_state_display()})
    return quote


def _move(quote: Quote, actor: User, state: str, action: str, **data) -> Quote:
    quote.state = state
    quote.save()
    audit.record(actor=actor, action=action, target=quote, engagement=quote.engagement, data=data)
    return quote
