"""Writes about customers."""

from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from engagements.access import Can, allowed, require
from engagements.audit import audit_log
from engagements.errors import NotAllowed
from engagements.models import Customer, User
from engagements.services.field_validation import validate_row

CUSTOMER_FACTS = ("name", "name_en", "industry", "credit_code", "address", "address_en",
                  "contact_name", "contact_name_en", "contact_phone", "contact_email")


@transaction.atomic
def create_customer(*, actor: User, name: str, **fields) -> Customer:
    """A new customer. Writes an audit entry."""
    require(actor, Can.BEGIN)
    customer = Customer.objects.create(name=name.strip(), **fields)
    audit_log.record(actor=actor, action="customer.create", target=customer)
    return customer


@transaction.atomic
def update_customer(*, actor: User, customer: Customer, **facts: Any) -> Customer:
    """Change facts of a customer (CUSTOMER_FACTS); quotes that are issued keep theirs.

    Raises InvalidInput for what does not fit its field; NotAllowed, also where the customer is of
    none of the actor's engagements.
    """
    require(actor, Can.MANAGE if allowed(actor, Can.MANAGE) else Can.PRICE)
    if not Customer.objects.visible_to(actor).filter(pk=customer.pk).exists():
        raise NotAllowed(_("You are not a member of any engagement of this customer."))
    customer = Customer.objects.select_for_update(no_key=True).get(pk=customer.pk)
    changed = {name: [str(getattr(customer, name)), str(value)]
               for name, value in facts.items()
               if name in CUSTOMER_FACTS and getattr(customer, name) != value}
    for name in changed:
        setattr(customer, name, facts[name])
    validate_row(customer)
    customer.save()
    audit_log.record(actor=actor, action="customer.update", target=customer, data=changed)
    return customer
