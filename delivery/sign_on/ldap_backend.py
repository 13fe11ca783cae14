"""Passwords that an LDAP directory or Active Directory knows."""

from django.conf import settings
from django.core.exceptions import PermissionDenied

from delivery.sign_on.directory_people import follow_directory
from delivery.sign_on.group_roles import role_of
from delivery.sign_on.settings import LDAP_GROUPS_ATTRIBUTE, LDAP_USER_ATTRIBUTE
from engagements.errors import DeskError
from engagements.models import User


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
                person=known or User(username=name[:150]), source=settings.LDAP_AUTH_URL[0],
                role=role_of(entry.get(LDAP_GROUPS_ATTRIBUTE) or []),
                full_name=_first(entry, "cn"), email=_first(entry, "mail"))
        except DeskError as error:
            raise PermissionDenied(error.message) from error

    def get_user(self, user_id: int) -> User | None:
        return User.objects.filter(pk=user_id, is_active=True).first()


def _entry_of(username: str, password: str) -> dict | None:
    """The directory's attributes of a person with this password; None where it says no or does not
    answer."""
    from django_python3_ldap.ldap import connection
    from ldap3 import ALL_ATTRIBUTES
    from ldap3.utils.conv import escape_filter_chars

    with connection(username=username, password=password) as link:
        if link is None:
            return None
        wanted = f"({LDAP_USER_ATTRIBUTE}={escape_filter_chars(username)})"
        raw = link._connection
        raw.search(settings.LDAP_AUTH_SEARCH_BASE, wanted,
                   attributes=[ALL_ATTRIBUTES, LDAP_GROUPS_ATTRIBUTE], size_limit=2)
        found = [row["attributes"] for row in raw.response or () if "attributes" in row]
        return dict(found[0]) if len(found) == 1 else None


def _first(entry: dict, name: str) -> str:
    value = entry.get(name) or ""
    return str(value[0]) if isinstance(value, list) else str(value)
