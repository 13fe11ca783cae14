"""Writes about the team of an engagement."""

from collections.abc import Iterable

from django.db import transaction
from django.utils.translation import gettext as _

from engagements.access import require
from engagements.audit import audit_log
from engagements.conflict_retry import retried
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import Agent, Engagement, Membership, User
from engagements.permissions import OUTSIDE, PERMISSIONS, Can, side_of
from engagements.services.agents import end_agent


@retried
@transaction.atomic
def add_member(*, actor: User, engagement: Engagement, user: User, role: str = "") -> Membership:
    """Put a person on the team, or change what they are there.

    Raises NotAllowed for a role that is neither the account's own nor within the actor's.
    """
    require(actor, Can.MANAGE, engagement, may_have_ended=True)  # auditors look at what has ended
    role = role or user.role
    _require_within(actor, user, role)
    if side_of(user.role) != side_of(role):
        raise InvalidInput(_("A customer reviewer can only be a reviewer, an auditor only an "
                             "auditor, and nobody else can be either."))
    membership, _created = Membership.objects.update_or_create(
        engagement=engagement, user=user, defaults={"role": role}
    )
    audit_log.record(actor=actor, action="member.add", target=membership, engagement=engagement,
                     data={"user": user.username, "role": role})
    return membership


def _require_within(actor: User, user: User, role: str) -> None:
    """Nobody gives more than they have; what the account may do anyway is not given."""
    is_within = PERMISSIONS.get(role, frozenset()) <= PERMISSIONS[actor.role]
    if role not in (user.role, *OUTSIDE) and not is_within:
        raise NotAllowed(_("This role may do more than yours; an administrator can give it."))


@retried
@transaction.atomic
def add_members(*, actor: User, engagement: Engagement, users: Iterable[User], role: str = ""
                ) -> list[Membership]:
    """Put people on the team, all of them or none."""
    return [add_member(actor=actor, engagement=engagement, user=user, role=role)
            for user in users]


@retried
@transaction.atomic
def remove_member(*, actor: User, membership: Membership) -> None:
    """Take a person off the team."""
    require(actor, Can.MANAGE, membership.engagement, may_have_ended=True)
    Membership.objects.filter(pk=membership.pk).delete()
    audit_log.record(actor=actor, action="member.remove", target=membership,
                     engagement=membership.engagement,
                     data={"user": membership.user.username, "role": membership.role})
    for agent in Agent.objects.filter(owner=membership.user, engagement=membership.engagement,
                                      ended_at=None):
        end_agent(actor=actor, agent=agent)


@retried
@transaction.atomic
def undo_member_removal(*, actor: User, engagement: Engagement, user: User, role: str
                        ) -> Membership:
    """Put a person back on the team in the role they had. Writes an audit entry.

    Raises WrongState where they are on the team again already, and what `add_member` raises.
    """
    require(actor, Can.MANAGE, engagement)
    if Membership.objects.filter(engagement=engagement, user=user).exists():
        raise WrongState(_("%(person)s is on the team again already.") % {"person": user})
    return add_member(actor=actor, engagement=engagement, user=user, role=role)
