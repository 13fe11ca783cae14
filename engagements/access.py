"""Whether a user may do something; what a role may do stands in `engagements.permissions`.

Where they may do it is decided by `visible_to` querysets.
"""

from collections.abc import Iterable
from typing import NoReturn

from django.utils.translation import gettext as _

from engagements.errors import NotAllowed
from engagements.models import Engagement, User
from engagements.permissions import PERMISSIONS, Can, Role
from engagements.text.text_joining import listed


def allowed(user: User, action: Can) -> bool:
    """Whether the user's role includes the action."""
    return user.is_authenticated and action in PERMISSIONS.get(user.role, frozenset())


def require(user: User, action: Can, engagement: Engagement | None = None) -> None:
    """Raise NotAllowed unless the role includes the action and the engagement is visible."""
    if not allowed(user, action):
        refuse_role(user, [role for role in Role if action in PERMISSIONS[role]])
    if engagement is None and action != Can.VIEW_INTERNAL:
        refuse_limited_token(user)
    require_visible(user, engagement)


def refuse_limited_token(user: User) -> None:
    """Raise NotAllowed where the user signed in with a token of one engagement only."""
    if user.only_engagement_id:
        raise NotAllowed(_("This token is limited to one engagement."))


def require_own_session(user: User) -> None:
    """Raise NotAllowed for a script: what a person decides needs that person's own session."""
    if user.token:
        raise NotAllowed(_("A person decides this: sign in instead of using a token."))


def refuse_role(user: User, roles: Iterable[str]) -> NoReturn:
    """Raise NotAllowed for a role that is not enough, naming those that are."""
    raise NotAllowed(_("Your role (%(role)s) does not allow this; these roles may: %(roles)s.")
                     % {"role": user.get_role_display(),
                        "roles": listed(Role(role).label for role in roles)})


def require_visible(user: User, engagement: Engagement | None) -> None:
    """Raise NotAllowed for an engagement that the user does not see; none is nobody's secret."""
    if engagement and not Engagement.objects.visible_to(user).filter(pk=engagement.pk).exists():
        raise NotAllowed(_("You are not a member of this engagement."))


def require_administrator(user: User) -> None:
    """Raise NotAllowed for everybody but administrators."""
    if not user.is_authenticated or user.role != Role.ADMINISTRATOR:
        raise NotAllowed(_("Only administrators may do this."))
    refuse_limited_token(user)
