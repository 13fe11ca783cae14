"""Writes about people: who signs in, and as what."""

from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from engagements.access import require_administrator
from engagements.audit import audit_log
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import Role, User
from engagements.permissions import side_of
from engagements.services.api_tokens import revoke_tokens_of
from engagements.services.field_validation import validate_row
from engagements.services.sign_ins import end_sign_ins_of

PERSON_FACTS = ("full_name", "full_name_en", "job_title", "job_title_en", "organisation",
                "organisation_en", "phone", "email", "role", "audits_firm", "access_ends_on",
                "is_active")


@transaction.atomic
def add_person(*, actor: User, username: str, password: str = "", is_service: bool = False,
               is_invited: bool = False, **facts: Any) -> User:
    """Somebody who may sign in. Only administrators; the audit entry never holds the password.

    A service account gets no password: it works with API tokens. Neither does somebody who is
    invited: they choose one (`accept_invitation`).

    Raises InvalidInput for a name that is taken, a weak password or facts that do not fit.
    """
    require_administrator(actor)
    person = User(username=username.strip(), is_service=is_service, **_person_facts(facts))
    if is_service:
        _require_firm(person)
    if is_service or is_invited:
        person.set_unusable_password()
    else:
        set_password(person, password)
    _require_audit_facts(person)
    validate_row(person)
    person.save()
    audit_log.record(actor=actor, action="person.add", target=person,
                     data={"username": person.username, "role": person.role})
    return person


@transaction.atomic
def change_password(*, actor: User, password: str) -> User:
    """A password of one's own choice; ends one's API tokens. The audit entry never holds it.

    Raises InvalidInput for a weak one, NotAllowed where a token asks.
    """
    if actor.token is not None:
        raise NotAllowed(_("A token cannot change a password; sign in with your password."))
    return _new_password(actor, password, "user.password")


@transaction.atomic
def reset_password(*, actor: User, password: str) -> User:
    """A new password by the link that was mailed to `actor`; ends their sign-ins and API tokens.

    Raises InvalidInput for a weak one.
    """
    person = _new_password(actor, password, "user.password_reset")
    end_sign_ins_of(person)
    return person


@transaction.atomic
def accept_invitation(*, actor: User, password: str) -> User:
    """The first password of somebody who was invited.

    Raises InvalidInput for a weak one, WrongState where one was chosen already.
    """
    if User.objects.select_for_update(no_key=True).get(pk=actor.pk).has_usable_password():
        raise WrongState(_("This link was already used to set a password."))
    return _new_password(actor, password, "person.accept_invitation")


def _new_password(actor: User, password: str, action: str) -> User:
    person = User.objects.select_for_update(no_key=True).get(pk=actor.pk)
    set_password(person, password)
    person.save(update_fields=["password"])
    revoked = revoke_tokens_of(person)
    audit_log.record(actor=actor, action=action, target=person, data={"tokens_revoked": revoked})
    return person


@transaction.atomic
def update_person(*, actor: User, person: User, password: str = "", **facts: Any) -> User:
    """Change facts of a person (PERSON_FACTS), and the password where one is given. A new password
    and a lock-out end the person's sign-ins and API tokens.

    Raises WrongState for the last administrator, and where somebody on a team would change between
    the firm's side, the customer's and the audit.
    """
    require_administrator(actor)
    person = User.objects.select_for_update(no_key=True).get(pk=person.pk)
    changed = {name: [str(getattr(person, name)), str(value)]
               for name, value in _person_facts(facts).items()
               if getattr(person, name) != value}
    side_before = side_of(person.role)
    for name in changed:
        setattr(person, name, facts[name])
    _require_administrators(person)
    if side_before != side_of(person.role) and person.memberships.exists():
        raise WrongState(_("%(person)s is on a team; take them off before changing sides.")
                         % {"person": person})
    if password:
        set_password(person, password)
        changed["password"] = ["***", "***"]
    if person.is_service:
        _require_firm(person)
    _require_audit_facts(person)
    validate_row(person)
    person.save()
    if password or not person.is_active:
        revoke_tokens_of(person)
        end_sign_ins_of(person)
    audit_log.record(actor=actor, action="person.update", target=person, data=changed)
    return person


def _require_administrators(person: User) -> None:
    others = User.objects.filter(role=Role.ADMINISTRATOR, is_active=True).exclude(pk=person.pk)
    if not (person.is_active and person.role == Role.ADMINISTRATOR) and not others.exists():
        raise WrongState(_("Somebody has to stay administrator."))


def _require_firm(person: User) -> None:
    if person.is_reviewer:
        raise InvalidInput(_("A service account belongs to the firm; it cannot decide for a "
                             "customer."))


def _require_audit_facts(person: User) -> None:
    if person.audits_firm and not person.is_auditor:
        raise InvalidInput(_("Only an auditor audits the whole firm."))


def set_password(person: User, password: str) -> None:
    """Set it on the object, without saving. Raises InvalidInput for a weak one."""
    if person.is_service:
        raise InvalidInput(_("A service account has no password; create an API token for it."))
    try:
        validate_password(password, person)
    except ValidationError as error:
        raise InvalidInput(" ".join(error.messages)) from error
    person.set_password(password)


def _person_facts(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if name in PERSON_FACTS}
