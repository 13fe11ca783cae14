"""People who left the directory, or its groups: their sign-ins and API tokens end."""

import logging

import ldap3
from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.db import transaction
from ldap3.core.exceptions import LDAPException, LDAPSizeLimitExceededResult
from ldap3.utils.conv import escape_filter_chars

from delivery.sign_on.directory import bind_service, connected
from delivery.sign_on.directory_people import role_of
from delivery.sign_on.settings import (
    HAS_PROVIDER,
    LDAP_BASE,
    LDAP_BIND_NAME,
    LDAP_GROUPS_ATTRIBUTE,
    LDAP_URL,
    LDAP_USER_ATTRIBUTE,
)
from engagements.audit import audit_log
from engagements.models import User
from engagements.services.api_tokens import revoke_tokens_of
from engagements.services.sign_ins import end_sign_ins_of

logger = logging.getLogger(__name__)
ACCOUNT_CONTROL, DISABLED = "userAccountControl", 2  # of Active Directory


def end_access_of_leavers() -> list[User]:
    """End the access of each person whom the directory does not know any more, has locked, or whose
    groups give another role; they get the new one when they sign in again.

    Nobody's ends where the directory does not answer, or shows no people at all.

    Returns:
        whose access ended.
    """
    people = list(_people_of_directory()) if LDAP_URL and LDAP_BIND_NAME else []
    try:
        left = _left(people) if people else []
    except LDAPException as error:
        logger.warning("%s does not say who has left: %s", LDAP_URL, error)
        return []
    return [person for person in left if _end_access(person)]


def _people_of_directory():
    """Those who have signed in and have no password here; a provider's are the provider's."""
    found = User.objects.filter(is_service=False, last_login__isnull=False,
                                password__startswith=UNUSABLE_PASSWORD_PREFIX)
    return found.filter(socialaccount=None) if HAS_PROVIDER else found


def _left(people: list[User]) -> list[User]:
    with connected() as link:
        bind_service(link)
        if not _shows_people(link):
            logger.error("%s shows no people below %s.", LDAP_URL, LDAP_BASE)
            return []
        return [person for person in people if _role(link, person.username) != person.role]


def _shows_people(link: ldap3.Connection) -> bool:
    try:
        return bool(_entries(link, f"({LDAP_USER_ATTRIBUTE}=*)", size_limit=1))
    except LDAPSizeLimitExceededResult:
        return True


def _role(link: ldap3.Connection, username: str) -> str:
    """The role that somebody's groups give; "" for whom the directory does not let in."""
    found = _entries(link, f"({LDAP_USER_ATTRIBUTE}={escape_filter_chars(username)})")
    if len(found) != 1 or int(str(found[0].get(ACCOUNT_CONTROL) or 0)) & DISABLED:
        return ""
    return role_of(found[0].get(LDAP_GROUPS_ATTRIBUTE) or [])


def _entries(link: ldap3.Connection, wanted: str, **limits: int) -> list[dict]:
    link.search(LDAP_BASE, wanted, attributes=[ldap3.ALL_ATTRIBUTES, LDAP_GROUPS_ATTRIBUTE],
                **limits)
    return [dict(row["attributes"]) for row in link.response or () if "attributes" in row]


@transaction.atomic
def _end_access(person: User) -> bool:
    """Whether there was any."""
    tokens, sign_ins = revoke_tokens_of(person), end_sign_ins_of(person)
    if tokens or sign_ins:
        audit_log.record(actor=None, action="person.directory_left", target=person, data={
            "from": LDAP_URL, "tokens_revoked": tokens, "sign_ins_ended": sign_ins})
    return bool(tokens or sign_ins)
