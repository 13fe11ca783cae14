"""People whom a directory or provider knows: the role that their groups give, and their account."""

from collections.abc import Iterable

from django.db import transaction
from django.utils.translation import gettext as _

from delivery.sign_on.settings import GROUP_ROLES
from engagements.audit import audit_log
from engagements.errors import NotAllowed, WrongState
from engagements.models import User
from engagements.permissions import side_of

FACTS = ("full_name", "email")
EVERYBODY = "*"


def role_of(groups: Iterable[str]) -> str:
    """The role of the first line of DESK_GROUP_ROLES that fits, "" if none does. A group is named
    as it is given, or by the first part of a distinguished name (`cn=desk-managers,…`)."""
    names = {str(group).casefold() for group in groups}
    names |= {name.split(",")[0].partition("=")[2] for name in names if name.startswith("cn=")}
    for group, role in GROUP_ROLES:
        if group == EVERYBODY or group.casefold() in names:
            return role
    return ""


@transaction.atomic
def follow_directory(*, person: User, role: str, source: str, **facts: str) -> User:
    """Give a person, new or known, the role and facts that a directory names; no entry where
    nothing changed.

    Raises:
        NotAllowed: their groups give no role, or the account is locked.
        WrongState: the role would change sides (firm, customer) while they are on a team.
    """
    if not role:
        raise NotAllowed(_("Your groups give you no role here; please ask an administrator."))
    is_new = person.pk is None
    if not is_new:
        person = User.objects.select_for_update(no_key=True).get(pk=person.pk)
        _require_same_side(person, role)
    new = {"role": role, **{name: facts[name][:80] for name in FACTS if facts.get(name)}}
    changed = {name: [str(getattr(person, name)), value] for name, value in new.items()
               if getattr(person, name) != value}
    for name in changed:
        setattr(person, name, new[name])
    if is_new:
        person.set_unusable_password()
    if is_new or changed:
        person.save()
        audit_log.record(actor=person, action="person.directory", target=person,
                         data={"from": source, "changed": changed})
    return person


def _require_same_side(person: User, role: str) -> None:
    if not person.is_active:
        raise NotAllowed(_("This account is locked; please ask an administrator."))
    if side_of(person.role) != side_of(role) and person.memberships.exists():
        raise WrongState(_("%(person)s is on a team; take them off before changing sides.")
                         % {"person": person})
