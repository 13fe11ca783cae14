"""Writes about people and customers: who signs in as what, and whom the firm works for."""

from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from engagements.access import Can, allowed, require, require_administrator
from engagements.audit import audit_log
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import Customer, Role, User
from engagements.text.text_joining import in_turn, labelled

PERSON_FACTS = ("full_name", "job_title", "organisation", "phone", "email", "role", "is_active")
CUSTOMER_FACTS = ("name", "name_en", "industry", "credit_code", "address", "contact_name",
                  "contact_phone", "contact_email")


@transaction.atomic
def add_person(*, actor: User, username: str, password: str, **facts: Any) -> User:
    """Somebody who may sign in. Only administrators; the audit entry never holds the password.

    Raises InvalidInput for a name that is taken, a weak password or facts that do not fit.
    """
    require_administrator(actor)
    person = User(username=username.strip(), **_known(facts, PERSON_FACTS))
    _set_password(person, password)
    _checked(person)
    person.save()
    audit_log.record(actor=actor, action="person.add", target=person,
                 data={"username": person.username, "role": person.role})
    return person


@transaction.atomic
def change_password(*, actor: User, password: str) -> User:
    """A password of one's own choice. The audit entry never holds it.

    Raises InvalidInput for a weak one.
    """
    person = User.objects.select_for_update(no_key=True).get(pk=actor.pk)
    _set_password(person, password)
    person.save(update_fields=["password"])
    audit_log.record(actor=actor, action="user.password", target=person)
    return person


@transaction.atomic
def update_person(*, actor: User, person: User, password: str = "", **facts: Any) -> User:
    """Change facts of a person (PERSON_FACTS), and the password where one is given.

    Raises WrongState for the last administrator, and where somebody on a team would change to or
    from the customer's side.
    """
    require_administrator(actor)
    person = User.objects.select_for_update(no_key=True).get(pk=person.pk)
    changed = {name: [str(getattr(person, name)), str(value)]
               for name, value in _known(facts, PERSON_FACTS).items()
               if getattr(person, name) != value}
    was_reviewer = person.is_reviewer
    for name in changed:
        setattr(person, name, facts[name])
    _require_administrators(person)
    if was_reviewer != person.is_reviewer and person.memberships.exists():
        raise WrongState(_("%(person)s is on a team; take them off before changing sides.")
                         % {"person": person})
    if password:
        _set_password(person, password)
        changed["password"] = ["***", "***"]
    _checked(person)
    person.save()
    audit_log.record(actor=actor, action="person.update", target=person, data=changed)
    return person


def _require_administrators(person: User) -> None:
    others = User.objects.filter(role=Role.ADMINISTRATOR, is_active=True).exclude(pk=person.pk)
    if not (person.is_active and person.role == Role.ADMINISTRATOR) and not others.exists():
        raise WrongState(_("Somebody has to stay administrator."))


def _set_password(person: User, password: str) -> None:
    try:
        validate_password(password, person)
    except ValidationError as error:
        raise InvalidInput(" ".join(error.messages)) from error
    person.set_password(password)


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
               for name, value in _known(facts, CUSTOMER_FACTS).items()
               if getattr(customer, name) != value}
    for name in changed:
        setattr(customer, name, facts[name])
    _checked(customer)
    customer.save()
    audit_log.record(actor=actor, action="customer.update", target=customer, data=changed)
    return customer


def _known(facts: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if name in names}


def _checked(row: User | Customer) -> None:
    """InvalidInput in words where a field or a unique name does not fit."""
    try:
        row.full_clean()
    except ValidationError as error:
        raise InvalidInput(in_turn(
            labelled(row._meta.get_field(name).verbose_name, " ".join(sentences))
            if name != "__all__" else " ".join(sentences)
            for name, sentences in error.message_dict.items())) from error
