"""Whether a user may do something; what a role may do stands in `engagements.permissions`.

Where they may do it is decided by `visible_to` querysets.
"""

from collections.abc import Iterable
from typing import NoReturn

from django.utils.translation import gettext as _

from engagements.errors import NotAllowed
from engagements.models import Engagement, User
from engagements.permissions import OF_AGENTS, PERMISSIONS, Can, Role
from engagements.text.text_joining import listed


def allowed(user: User, action: Can) -> bool:
    """Whether the user's role includes the action, and the account has not ended; of an agent,
    whether it is work besides."""
    return user.is_authenticated and not user.has_ended and (
        action in PERMISSIONS.get(user.role, frozenset())) and (
        user.agent is None or action in OF_AGENTS)


# What is read, and what concerns nodes rather than the engagement, goes on after its end.
NO_WRITES = frozenset({Can.VIEW_INTERNAL, Can.AUDIT, Can.WITNESS, Can.OPERATE})


class EngagementEnded(NotAllowed):
    """The engagement is closed or cancelled: nothing of it changes until it is reopened."""

    code = "engagement_ended"
    status = 409


def require(user: User, action: Can, engagement: Engagement | None = None, *,
            may_have_ended: bool = False) -> None:
    """Raise NotAllowed unless the role includes the action and the engagement is visible;
    EngagementEnded for a write where it has ended, save where it `may_have_ended`."""
    if not allowed(user, action):
        refuse_role(user, [role for role in Role if action in PERMISSIONS[role]])
    if engagement is None and action != Can.VIEW_INTERNAL:
        refuse_limited_token(user)
    require_visible(user, engagement,
                    may_have_ended=may_have_ended or action in NO_WRITES)


def refuse_limited_token(user: User) -> None:
    """Raise NotAllowed where the user signed in with a token of one engagement only."""
    if user.only_engagement_id:
        raise NotAllowed(_("This token is limited to one engagement."))


def refuse_role(user: User, roles: Iterable[str]) -> NoReturn:
    """Raise NotAllowed for a role that is not enough, naming those that are."""
    raise NotAllowed(_("Your role (%(role)s) does not allow this; these roles may: %(roles)s.")
                     % {"role": user.get_role_display(),
                        "roles": listed(Role(role).label for role in roles)})


def require_visible(user: User, engagement: Engagement | None, *, may_have_ended: bool = True
                    ) -> None:
    """Raise NotAllowed for an engagement that the user does not see, EngagementEnded for one that
    has ended and may not have; none is nobody's secret."""
    if engagement is None:
        return
    found = Engagement.objects.visible_to(user).filter(pk=engagement.pk).only(
        "code", "state").first()
    if found is None:
        raise NotAllowed(_("You are not a member of this engagement."))
    if found.has_ended and not may_have_ended:
        raise EngagementEnded(_(
            "%(code)s is “%(state)s”: nothing of it is changed any more. A manager of the "
            "engagement can reopen it on its page, with a reason.") % {
                "code": found.code, "state": found.get_state_display()})


def require_administrator(user: User) -> None:
    """Raise NotAllowed for everybody but administrators."""
    if not user.is_authenticated or user.role != Role.ADMINISTRATOR:
        raise NotAllowed(_("Only administrators may do this."))
    refuse_limited_token(user)
