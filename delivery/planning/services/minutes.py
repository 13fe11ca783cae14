"""Minutes between both sides: shared with the customer, confirmed by the customer's person."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.planning.models import Meeting
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import WrongState
from engagements.models import User
from engagements.optimistic_locking import lock_checked


@transaction.atomic
def share_minutes(*, actor: User, meeting: Meeting) -> Meeting:
    """Show the minutes and their to-dos to the customer. Raises WrongState if they are shared."""
    require(actor, Can.WORK, meeting.engagement)
    meeting = lock_checked(meeting, None)
    if meeting.shared_at:
        raise WrongState(_("The minutes are shared already."))
    meeting.shared_at = timezone.now()
    meeting.save(update_fields=["shared_at"])
    audit_log.record(actor=actor, action="meeting.share", target=meeting,
                     engagement=meeting.engagement)
    return meeting


@transaction.atomic
def confirm_minutes(*, actor: User, meeting: Meeting) -> Meeting:
    """The customer confirms what the minutes say; a later correction ends it.

    Raises WrongState for minutes that are not shared or are confirmed already.
    """
    require(actor, Can.REVIEW, meeting.engagement)
    meeting = lock_checked(meeting, None)
    if not meeting.shared_at:
        raise WrongState(_("The minutes are not shared with the customer."))
    if meeting.confirmed_at:
        raise WrongState(_("The minutes are confirmed already."))
    meeting.confirmed_by, meeting.confirmed_at = actor, timezone.now()
    meeting.save(update_fields=["confirmed_by", "confirmed_at"])
    audit_log.record(actor=actor, action="meeting.confirm", target=meeting,
                     engagement=meeting.engagement)
    return meeting
