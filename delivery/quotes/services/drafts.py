"""Quotes come into being, get their terms and their next versions."""

from datetime import date, timedelta
from decimal import Decimal

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.quotes import standard_conditions
from delivery.quotes.draft_revisions import differences, keep, locked_draft
from delivery.quotes.models import Quote, QuoteLine
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from engagements.models import Engagement, User

VALID_DAYS = 30
MAX_MILESTONES = 12
PAYMENT_TERMS = [
    {"percent": "30", "name": "合同签订", "name_en": "Contract signed", "days": 10},
    {"percent": "40", "name": "初验通过", "name_en": "Provisional acceptance", "days": 15},
    {"percent": "30", "name": "终验通过", "name_en": "Final acceptance", "days": 15},
]
COPIED = ("subject", "subject_en", "currency", "exchange_rate", "discount_rate",
          "discount_reason", "invoice", "payment_terms", "staffing", "conditions", "notes",
          "notes_en", "source", "source_note", "internal_note",
          "relation", "estimate_version", "framework")

# Of another customer's quote: no discount and no remark, which were agreed with that customer.
COPIED_ELSEWHERE = ("currency", "exchange_rate", "invoice", "payment_terms", "staffing",
                    "conditions", "notes", "notes_en")


def create_quote(*, actor: User, engagement: Engagement, today: date | None = None, **fields
                 ) -> Quote:
    """A draft with a number of its own: QT-<project>-<date>-<sequence> (DOMAIN 9.1).

    It starts with the standard written conditions and payment milestones; `fields` overrides.
    """
    require(actor, Can.PRICE, engagement)
    today = today or timezone.localdate()
    start = {"quote_date": today, "valid_until": today + timedelta(days=VALID_DAYS),
             "payment_terms": PAYMENT_TERMS,
             "conditions": standard_conditions.standard_conditions(
                 [model.scope for model in engagement.models.current()] or [engagement.scope]),
             "notes": standard_conditions.NOTES, "notes_en": standard_conditions.NOTES_EN,
             "subject": engagement.name, "subject_en": engagement.name_en}
    prefix = f"QT-{engagement.code}-{today:%Y%m%d}"
    for attempt in range(20):
        sequence = Quote.objects.filter(number__startswith=prefix, version=1).count() + 1
        try:
            with transaction.atomic():
                quote = Quote.objects.create(
                    engagement=engagement, number=f"{prefix}-{sequence + attempt:03}",
                    created_by=actor, **{**start, **fields})
                audit_log.record(actor=actor, action="quote.create", target=quote,
                                 engagement=engagement)
                return quote
        except IntegrityError:
            continue
    raise WrongState(_("No free quote number could be found; try again."))


@transaction.atomic
def copy_quote(*, actor: User, quote: Quote, engagement: Engagement) -> Quote:
    """A draft for another engagement, with the lines and terms of `quote`: COPIED_ELSEWHERE.

    Lines keep the prices they were quoted at; remarks stay behind.
    """
    require(actor, Can.PRICE, quote.engagement)
    copy = create_quote(actor=actor, engagement=engagement,
                        **{name: getattr(quote, name) for name in COPIED_ELSEWHERE})
    lines = list(quote.lines.all())
    for line in lines:
        line.pk, line.quote, line.remark = None, copy, ""
    QuoteLine.objects.bulk_create(lines, batch_size=500)
    audit_log.record(actor=actor, action="quote.copy", target=copy, engagement=engagement,
                     data={"quote": quote.pk, "lines": len(lines)})
    return copy


@transaction.atomic
def update_quote(*, actor: User, quote: Quote, revision: int | None = None, **fields) -> Quote:
    """Change the terms of a draft: discount, validity, payment, written conditions and so on.

    Args:
        revision: what the writer saw; ChangedMeanwhile says what is newer.
    """
    require(actor, Can.PRICE, quote.engagement)
    quote = locked_draft(quote, revision)
    _check_terms(quote, fields)
    changes = differences({name: getattr(quote, name) for name in fields}, fields)
    for name, value in fields.items():
        setattr(quote, name, value)
    keep(quote, actor, "quote.update", changes=changes)
    return quote


def _check_terms(quote: Quote, fields: dict) -> None:
    rate = Decimal(fields.get("discount_rate", quote.discount_rate))
    if not 0 <= rate < 1:
        raise InvalidInput(_("The discount must be at least 0 % and below 100 %."))
    first, last = (fields.get(name, getattr(quote, name)) for name in ("quote_date", "valid_until"))
    if last < first:
        raise InvalidInput(_("The quote would end (%(last)s) before it begins (%(first)s).")
                           % {"last": last, "first": first})
    if Decimal(fields.get("exchange_rate", quote.exchange_rate)) <= 0:
        raise InvalidInput(_("The exchange rate must be greater than zero."))
    currency = fields.get("currency", quote.currency)
    if currency != quote.currency and quote.lines.exists():
        raise InvalidInput(_("The lines are priced in %(currency)s; remove them before changing "
                             "the currency.") % {"currency": quote.currency})
    if len(fields.get("payment_terms", [])) > MAX_MILESTONES:
        raise InvalidInput(_("At most %(n)d milestones.") % {"n": MAX_MILESTONES})


@transaction.atomic
def new_version(*, actor: User, quote: Quote, reason: str = "") -> Quote:
    """A draft of the next version with the same lines and terms; the old one stays as it is."""
    require(actor, Can.PRICE, quote.engagement)
    return copy_version(actor, quote, list(quote.lines.all()), reason)


def copy_version(author: User, quote: Quote, lines: list[QuoteLine], reason: str, *,
                 is_beside_open: bool = False) -> Quote:
    """The next version with the terms of `quote` and these lines; for services in a transaction.

    Args:
        is_beside_open: also where a version of the number is still open; it stays behind.
    Raises WrongState while one is open otherwise.
    """
    newest = newest_version(quote.number)
    if newest.state in Quote.OPEN_STATES and not is_beside_open:
        raise WrongState(_("Version %(version)d is still open.") % {"version": newest.version})
    today = timezone.localdate()
    copy = Quote.objects.create(
        engagement=quote.engagement, number=quote.number, version=newest.version + 1,
        quote_date=today, valid_until=today + timedelta(days=VALID_DAYS), created_by=author,
        change_reason=reason.strip()[:240], **{name: getattr(quote, name) for name in COPIED})
    for line in lines:
        line.pk, line.quote = None, copy
    QuoteLine.objects.bulk_create(lines, batch_size=500)
    audit_log.record(actor=author, action="quote.new_version", target=copy,
                     engagement=copy.engagement, data={"reason": reason})
    return copy


def newest_version(number: str) -> Quote:
    """The newest version of a number, which is locked: its first version stands for it.

    The newest is read once the lock is there. Whoever waited would else be given what was the
    newest before, and begin a second version behind it.
    """
    versions = Quote.objects.filter(number=number)
    versions.select_for_update(of=("self",), no_key=True).order_by("version").first()
    return versions.order_by("-version").first()
