"""Which role the groups of a company's directory give."""

from collections.abc import Iterable

from delivery.sign_on.settings import GROUP_ROLES

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
