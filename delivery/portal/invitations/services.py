"""Writes of invitations: accounts without a password, each with a link that chooses one."""

from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from engagements import services
from engagements.access import require_administrator
from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from engagements.models import User
from engagements.queue import enqueue_on_commit

SEND_INVITATION = "portal.send_invitation"


@transaction.atomic
def invite_people(*, actor: User, people: list[dict[str, Any]]) -> list[User]:
    """Accounts of all `people` (facts as of `engagements.services.add_person`), or of none; each
    is mailed a link once the accounts are stored.

    Raises InvalidInput for the first row whose facts do not fit, naming it.
    """
    require_administrator(actor)
    invited = []
    for number, facts in enumerate(people, 1):
        if not facts.get("email"):
            raise InvalidInput(_("Person %(number)d: an invitation needs an e-mail address.")
                               % {"number": number})
        try:
            invited.append(services.add_person(actor=actor, is_invited=True, **facts))
        except InvalidInput as error:
            raise InvalidInput(_("Person %(number)d (%(name)s): %(why)s") % {
                "number": number, "name": facts.get("username", ""), "why": error.message},
            ) from error
    for person in invited:
        _invite(actor, person)
    return invited


@transaction.atomic
def invite_again(*, actor: User, person: User) -> User:
    """Mail the link once more. Raises WrongState for somebody who has signed in or has a password,
    or who has no e-mail address."""
    require_administrator(actor)
    if not person.is_awaited or not person.email:
        raise WrongState(_("%(person)s has a password already, or no e-mail address.")
                         % {"person": person})
    _invite(actor, person)
    return person


def _invite(actor: User, person: User) -> None:
    audit_log.record(actor=actor, action="person.invite", target=person)
    enqueue_on_commit(SEND_INVITATION, person.pk, expires=86400)
