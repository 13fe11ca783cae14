"""Writes of framework contracts and their call-offs."""

from datetime import date
from decimal import Decimal

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.quotes.models import FrameworkContract, Quote, RateCard
from delivery.quotes.services.drafts import create_quote
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from engagements.models import Customer, Engagement, User

TERMS = ("invoice", "payment_terms", "conditions", "notes", "notes_en")


@transaction.atomic
def add_framework(*, actor: User, customer: Customer, number: str, name: str, valid_from: date,
                  card: RateCard, valid_to: date | None = None,
                  discount_rate: Decimal = Decimal(0), ceiling: Decimal | None = None,
                  terms: Quote | None = None) -> FrameworkContract:
    """Record what was agreed with a customer for all its engagements.

    Raises InvalidInput for a number that is taken, a period that ends before it begins, terms of
    another customer's quote, a discount or a ceiling out of bounds.
    """
    require(actor, Can.PRICE)
    number = number.strip()
    if FrameworkContract.objects.filter(number=number).exists():
        raise InvalidInput(_("The contract number %(number)s is taken.") % {"number": number})
    if terms and terms.engagement.customer_id != customer.pk:
        raise InvalidInput(_("The quote %(quote)s is of another customer.") % {"quote": terms})
    _check(valid_from, valid_to, discount_rate, ceiling)
    made = FrameworkContract.objects.create(
        customer=customer, number=number, name=name.strip(), valid_from=valid_from,
        valid_to=valid_to, card=card, discount_rate=discount_rate, ceiling=ceiling, terms=terms,
        created_by=actor)
    audit_log.record(actor=actor, action="framework.add", target=made,
                     data={"customer": customer.name, "ceiling": f"{ceiling}"})
    return made


@transaction.atomic
def change_framework(*, actor: User, framework: FrameworkContract, name: str | None = None,
                     valid_to: date | None = None, ceiling: Decimal | None = None
                     ) -> FrameworkContract:
    """Change what a contract may change without becoming another one: name, end and ceiling; what
    is left out stays. Quotes keep what they were called off at."""
    require(actor, Can.PRICE)
    framework = FrameworkContract.objects.select_for_update(of=("self",), no_key=True).get(
        pk=framework.pk)
    new = {"name": name, "valid_to": valid_to, "ceiling": ceiling}
    for field, value in new.items():
        if value is not None:
            setattr(framework, field, value)
    _check(framework.valid_from, framework.valid_to, framework.discount_rate, framework.ceiling)
    framework.save()
    audit_log.record(actor=actor, action="framework.change", target=framework, data={
        field: f"{value}" for field, value in new.items() if value is not None})
    return framework


@transaction.atomic
def call_off(*, actor: User, framework: FrameworkContract, engagement: Engagement) -> Quote:
    """A draft quote of the engagement under the contract: its currency, discount and terms.

    Raises InvalidInput for an engagement of another customer, WrongState for a contract that is not
    valid today.
    """
    require(actor, Can.PRICE, engagement)
    if framework.customer_id != engagement.customer_id:
        raise InvalidInput(_("%(contract)s is with another customer.") % {"contract": framework})
    if not framework.is_valid_on(timezone.localdate()):
        raise WrongState(_("%(contract)s is not valid today.") % {"contract": framework})
    agreed = {name: getattr(framework.terms, name) for name in TERMS} if framework.terms else {}
    return create_quote(
        actor=actor, engagement=engagement, framework=framework,
        currency=framework.card.currency, discount_rate=framework.discount_rate,
        discount_reason=str(framework) if framework.discount_rate else "", **agreed)


def _check(valid_from: date, valid_to: date | None, discount_rate: Decimal,
           ceiling: Decimal | None) -> None:
    if valid_to and valid_to < valid_from:
        raise InvalidInput(_("The contract begins on %(day)s; it cannot end before.") % {
            "day": valid_from})
    if not 0 <= discount_rate < 1:
        raise InvalidInput(_("A discount is a fraction from 0 to below 1."))
    if ceiling is not None and ceiling <= 0:
        raise InvalidInput(_("A ceiling is above zero; leave it empty where none is agreed."))
