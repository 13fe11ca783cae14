"""What a role may do. Where it may do it is decided by `visible_to` querysets."""

from django.utils.translation import gettext as _

from engagements.errors import NotAllowed
from engagements.models import Engagement, Role, User
from engagements.permissions import Can
from engagements.text.text_joining import listed

PERMISSIONS: dict[str, frozenset[Can]] = {
    Role.ADMINISTRATOR: frozenset(set(Can) - {Can.REVIEW}),
    Role.MANAGER: frozenset(
        {Can.VIEW_INTERNAL, Can.MANAGE, Can.WORK, Can.PRICE, Can.ISSUE, Can.AUDIT}
    ),
    Role.CONSULTANT: frozenset({Can.VIEW_INTERNAL, Can.WORK}),
    Role.SALES: frozenset({Can.VIEW_INTERNAL, Can.PRICE}),
    Role.OPERATOR: frozenset({Can.VIEW_INTERNAL, Can.OPERATE}),
    Role.REVIEWER: frozenset({Can.REVIEW}),
}


def allowed(user: User, action: Can) -> bool:
    """Whether the user's role includes the action."""
    return user.is_authenticated and action in PERMISSIONS.get(user.role, frozenset())


def require(user: User, action: Can, engagement: Engagement | None = None) -> None:
    """Raise NotAllowed unless the role includes the action and the engagement is visible."""
    if not allowed(user, action):
        raise NotAllowed(_("Your role (%(role)s) does not allow this; these roles may: %(roles)s.")
                         % {"role": user.get_role_display(), "roles": listed(
                             Role(role).label for role in Role if action in PERMISSIONS[role])})
    if engagement and not Engagement.objects.visible_to(user).filter(pk=engagement.pk).exists():
        raise NotAllowed(_("You are not a member of this engagement."))


def require_administrator(user: User) -> None:
    """Raise NotAllowed for everybody but administrators."""
    if not user.is_authenticated or user.role != Role.ADMINISTRATOR:
        raise NotAllowed(_("Only administrators may do this."))
