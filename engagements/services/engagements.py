"""Writes about engagements themselves."""

from collections.abc import Iterable

from django.db import transaction
from django.utils.translation import gettext as _

from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.conflict_retry import retried
from engagements.errors import InvalidInput
from engagements.models import Customer, Engagement, Membership, User
from engagements.services.members import add_members


@retried
@transaction.atomic
def create_engagement(
    *, actor: User, code: str, name: str, customer: Customer, team: Iterable[User] = (), **fields
) -> Engagement:
    """A new engagement; its creator and the people of `team` become members, each in the role of
    the account. Writes audit entries."""
    require(actor, Can.MANAGE)
    if Engagement.objects.filter(code=code).exists():
        raise InvalidInput(_("The project code %(code)s is taken.") % {"code": code})
    engagement = Engagement.objects.create(code=code, name=name, customer=customer, **fields)
    Membership.objects.create(engagement=engagement, user=actor, role=actor.role)
    audit_log.record(actor=actor, action="engagement.create", target=engagement,
                     engagement=engagement)
    add_members(actor=actor, engagement=engagement, users=team)
    return engagement


@retried
@transaction.atomic
def update_engagement(*, actor: User, engagement: Engagement, **fields) -> Engagement:
    """Change facts of an engagement; the audit entry holds what changed."""
    require(actor, Can.MANAGE, engagement)
    engagement = Engagement.objects.select_for_update(
        of=("self",), no_key=True).get(pk=engagement.pk)
    changed = {k: [getattr(engagement, k), v] for k, v in fields.items()
               if getattr(engagement, k) != v}
    for key, (_before, after) in changed.items():
        setattr(engagement, key, after)
    if engagement.starts_on and engagement.ends_on and engagement.ends_on < engagement.starts_on:
        raise InvalidInput(_("The end is before the start."))
    engagement.save()
    audit_log.record(actor=actor, action="engagement.update", target=engagement,
                     engagement=engagement,
                     data={k: [str(a), str(b)] for k, (a, b) in changed.items()})
    return engagement


def mark_practice(*, engagement: Engagement) -> None:
    """Note for good that the engagement holds data of a practice node (PRODUCT rule 7)."""
    Engagement.objects.filter(pk=engagement.pk, has_practice_data=False).update(
        has_practice_data=True)
