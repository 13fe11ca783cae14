"""Writes about people: who signs in, and as what."""

from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from engagements.access import require_administrator
from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from engagements.models import Role, User
from engagements.services.field_validation import validate_row

PERSON_FACTS = ("full_name", "job_title", "organisation", "phone", "email", "role", "is_active")


@transaction.atomic
def add_person(*, actor: User, username: str, password: str, **facts: Any) -> User:
    """Somebody who may sign in. Only administrators; the audit entry never holds the password.

    Raises InvalidInput for a name that is taken, a weak password or facts that do not fit.
    """
    require_administrator(actor)
    person = User(username=username.strip(), **_person_facts(facts))
    set_password(person, password)
    validate_row(person)
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
    set_password(person, password)
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
               for name, value in _person_facts(facts).items()
               if getattr(person, name) != value}
    was_reviewer = person.is_reviewer
    for name in changed:
        setattr(person, name, facts[name])
    _require_administrators(person)
    if was_reviewer != person.is_reviewer and person.memberships.exists():
        raise WrongState(_("%(person)s is on a team; take them off before changing sides.")
                         % {"person": person})
    if password:
        set_password(person, password)
        changed["password"] = ["***", "***"]
    validate_row(person)
    person.save()
    audit_log.record(actor=actor, action="person.update", target=person, data=changed)
    return person


def _require_administrators(person: User) -> None:
    others = User.objects.filter(role=Role.ADMINISTRATOR, is_active=True).exclude(pk=person.pk)
    if not (person.is_active and person.role == Role.ADMINISTRATOR) and not others.exists():
        raise WrongState(_("Somebody has to stay administrator."))


def set_password(person: User, password: str) -> None:
    """Set it on the object, without saving. Raises InvalidInput for a weak one."""
    try:
        validate_password(password, person)
    except ValidationError as error:
        raise InvalidInput(" ".join(error.messages)) from error
    person.set_password(password)


def _person_facts(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if name in PERSON_FACTS}
