"""Passwords that an LDAP directory or Active Directory knows."""

import logging

from django.core.exceptions import PermissionDenied
from django.utils.translation import gettext as _
from ldap3 import ALL_ATTRIBUTES
from ldap3.core.exceptions import LDAPException, LDAPOperationResult
from ldap3.utils.conv import escape_filter_chars

from delivery.sign_on.directory import bind_service, connected, person_name
from delivery.sign_on.directory_people import follow_directory, role_of
from delivery.sign_on.settings import (
    LDAP_BASE,
    LDAP_GROUPS_ATTRIBUTE,
    LDAP_URL,
    LDAP_USER_ATTRIBUTE,
)
from engagements.errors import DeskError, Unavailable
from engagements.models import User

logger = logging.getLogger(__name__)


class LdapBackend:
    """Binds as the person; their groups give the role at each sign-in."""

    def authenticate(self, request, username: str = "", password: str = "", **_rest) -> User | None:
        entry = _entry_of(username, password) if username and password else None
        if entry is None:
            return None
        name = _first(entry, LDAP_USER_ATTRIBUTE) or username
        known = User.objects.filter(username=name).first()
        if known and (known.has_usable_password() or known.is_service):
            return None  # an account of the desk's own: its password decides
        try:
            return follow_directory(
                person=known or User(username=name[:150]), source=LDAP_URL,
                role=role_of(entry.get(LDAP_GROUPS_ATTRIBUTE) or []),
                full_name=_first(entry, "cn"), email=_first(entry, "mail"))
        except DeskError as error:
            raise PermissionDenied(error.message) from error

    def get_user(self, user_id: int) -> User | None:
        return User.objects.filter(pk=user_id, is_active=True).first()


def _entry_of(username: str, password: str) -> dict | None:
    """The directory's attributes of a person with this password; None where it says no, which the
    log says.

    Raises Unavailable where it cannot be asked.
    """
    wanted = f"({LDAP_USER_ATTRIBUTE}={escape_filter_chars(username)})"
    try:
        with connected() as link:
            try:
                link.rebind(person_name(username), password)
            except LDAPOperationResult as error:
                logger.warning("%s refuses somebody: %s", LDAP_URL, error)
                return None
            bind_service(link)
            link.search(LDAP_BASE, wanted, attributes=[ALL_ATTRIBUTES, LDAP_GROUPS_ATTRIBUTE],
                        size_limit=2)
            found = [row["attributes"] for row in link.response or () if "attributes" in row]
    except LDAPException as error:
        logger.warning("%s lets nobody in: %s", LDAP_URL, error)
        raise Unavailable(_(
            "The company's directory does not answer, so your password could not be checked. Try "
            "again in a few minutes, or tell your administrator.")) from error
    return dict(found[0]) if len(found) == 1 else None


def _first(entry: dict, name: str) -> str:
    value = entry.get(name) or ""
    return str(value[0]) if isinstance(value, list) else str(value)
