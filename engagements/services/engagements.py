"""Writes about engagements themselves."""

import re
from collections.abc import Iterable

from django.db import transaction
from django.urls import resolve, reverse
from django.utils.translation import gettext as _

from engagements.access import Can, require
from engagements.agreed_scope import require_open_period
from engagements.audit import audit_log
from engagements.closing import TRANSITIONS, EngagementMove
from engagements.conflict_retry import retried
from engagements.errors import InvalidInput
from engagements.models import Customer, Engagement, Membership, User
from engagements.moves import complete_move, lock_for_move, make_move
from engagements.services.members import add_members
from engagements.signals import engagement_reopened

CODE = re.compile(r"(?!\d+\Z)\w[\w-]*")  # a number alone is read as the row's own


def require_engagement_code(code: str) -> None:
    """Raises InvalidInput for a code that no address holds, or that leads to another page."""
    if not CODE.fullmatch(code):
        raise InvalidInput(_("A project code begins with a letter or digit and consists of "
                             "letters, digits, “-” and “_”; it is not a number alone."))
    page = "engagements:engagement"
    if resolve(reverse(page, args=[code])).view_name != page:
        raise InvalidInput(_("“%(code)s” is the name of a page; choose another project code.") % {
            "code": code})


@retried
@transaction.atomic
def create_engagement(
    *, actor: User, code: str, name: str, customer: Customer, team: Iterable[User] = (), **fields
) -> Engagement:
    """A new engagement; its creator and the people of `team` become members, each in the role of
    the account; a manager chooses the team. Writes audit entries.

    Raises InvalidInput for a code that is taken or that addresses do not hold.
    """
    require(actor, Can.BEGIN)
    require_engagement_code(code)
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
def update_engagement(*, actor: User, engagement: Engagement, is_approved: bool = False, **fields
                      ) -> Engagement:
    """Change facts of an engagement; the audit entry holds what changed.

    Args:
        is_approved: a change request that both sides approved does it.
    Raises WrongState for another end than the one that was agreed.
    """
    require(actor, Can.MANAGE, engagement)
    engagement = Engagement.objects.select_for_update(
        of=("self",), no_key=True).get(pk=engagement.pk)
    changed = {k: [getattr(engagement, k), v] for k, v in fields.items()
               if getattr(engagement, k) != v}
    if "ends_on" in changed:
        require_open_period(engagement, is_approved=is_approved)
    for key, (_before, after) in changed.items():
        setattr(engagement, key, after)
    if engagement.starts_on and engagement.ends_on and engagement.ends_on < engagement.starts_on:
        raise InvalidInput(_("The end is before the start."))
    engagement.save()
    audit_log.record(actor=actor, action="engagement.update", target=engagement,
                     engagement=engagement,
                     data={k: [str(a), str(b)] for k, (a, b) in changed.items()})
    return engagement


@retried
@transaction.atomic
def close_engagement(*, actor: User, engagement: Engagement, note: str = "") -> Engagement:
    """End an engagement of which nothing is open. Writes an audit entry.

    Raises ConditionsOpen with what is open and where it is mended; WrongState, NotAllowed.
    """
    return make_move(actor=actor, table=TRANSITIONS, subject=engagement,
                     move=EngagementMove.CLOSE, reason=note)


@retried
@transaction.atomic
def cancel_engagement(*, actor: User, engagement: Engagement, reason: str, settlement: str
                      ) -> Engagement:
    """End an engagement before its time: its jobs end, what lies with reviewers or the customer is
    taken back (`engagement_cancelled`). Writes an audit entry.

    Args:
        settlement: what was done, what is paid and what still is to be paid.
    Raises InvalidInput without a reason or settlement; WrongState, NotAllowed.
    """
    engagement = lock_for_move(actor, TRANSITIONS, engagement, EngagementMove.CANCEL, reason)
    if not settlement.strip():
        raise InvalidInput(_("Say what was done, what is paid and what still is to be paid."))
    engagement.settlement = settlement.strip()
    data = TRANSITIONS[EngagementMove.CANCEL].effect(engagement, actor, reason)
    return complete_move(actor, TRANSITIONS, engagement, EngagementMove.CANCEL, data)


@retried
@transaction.atomic
def lose_engagement(*, actor: User, engagement: Engagement, cause: str, reason: str) -> Engagement:
    """End an engagement that the customer did not order; what lies with the customer is taken back
    (`engagement_cancelled`). Writes an audit entry.

    Args:
        cause: of `Engagement.LossCause`.
    Raises InvalidInput without cause or reason; WrongState where something is agreed; NotAllowed.
    """
    engagement = lock_for_move(actor, TRANSITIONS, engagement, EngagementMove.LOSE, reason)
    if cause not in Engagement.LossCause.values:
        raise InvalidInput(_("Choose why it was lost."))
    engagement.loss_cause = cause
    data = TRANSITIONS[EngagementMove.LOSE].effect(engagement, actor, reason)
    return complete_move(actor, TRANSITIONS, engagement, EngagementMove.LOSE, data)


@retried
@transaction.atomic
def reopen_engagement(*, actor: User, engagement: Engagement, reason: str) -> Engagement:
    """Go on with an engagement that was has ended; the certificate in force then says
    again whether it is accepted (`engagement_reopened`). Writes audit entries.

    Raises InvalidInput without a reason; WrongState, NotAllowed.
    """
    engagement = make_move(actor=actor, table=TRANSITIONS, subject=engagement,
                           move=EngagementMove.REOPEN, reason=reason)
    engagement_reopened.send(Engagement, engagement=engagement, actor=actor)
    engagement.refresh_from_db(fields=["state"])
    return engagement


def mark_practice(*, engagement: Engagement) -> None:
    """Note for good that the engagement holds data of a practice node (PRODUCT rule 7)."""
    Engagement.objects.filter(pk=engagement.pk, has_practice_data=False).update(
        has_practice_data=True)
