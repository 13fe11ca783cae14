"""Powers of attorney: who may sign for the customer (DOMAIN 9.13)."""

from datetime import date

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.acceptance.models import PowerOfAttorney
from delivery.documents.scan_validation import checked_scan
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from engagements.models import Engagement, User


@transaction.atomic
def record_power_of_attorney(*, actor: User, engagement: Engagement, user: User, capacity: str,
                 granted_by: str, valid_from: date, file, valid_until: date | None = None
                 ) -> PowerOfAttorney:
    """Record a power of attorney with its scan (PDF, PNG or JPEG). Writes an audit entry.

    Raises InvalidInput for somebody who is no reviewer of the engagement, an empty field, an end
    before the beginning, or a file that is no scan.
    """
    require(actor, Can.MANAGE, engagement)
    if not user.is_reviewer or not engagement.memberships.filter(user=user).exists():
        raise InvalidInput(_("%(person)s is not a customer reviewer of this engagement.")
                           % {"person": user})
    if not (capacity.strip() and granted_by.strip()):
        raise InvalidInput(_("Enter the signing capacity and who granted it."))
    if valid_until and valid_until < valid_from:
        raise InvalidInput(_("The power of attorney ends before it begins."))
    scan = checked_scan(file)
    made = PowerOfAttorney.objects.create(
        engagement=engagement, user=user, capacity=capacity.strip()[:80],
        granted_by=granted_by.strip()[:120], valid_from=valid_from, valid_until=valid_until,
        recorded_by=actor, **scan.columns)
    audit_log.record(actor=actor, action="power.record", target=made, engagement=engagement,
                     data={"user": user.username, "capacity": made.capacity,
                           "granted_by": made.granted_by, "valid_from": valid_from,
                           "valid_until": valid_until, "sha256": made.sha256})
    return made


@transaction.atomic
def end_power_of_attorney(*, actor: User, power: PowerOfAttorney, reason: str) -> PowerOfAttorney:
    """End a power of attorney now. The row is kept; signatures made under it remain valid."""
    require(actor, Can.MANAGE, power.engagement)
    power = PowerOfAttorney.objects.select_for_update(of=("self",), no_key=True).get(pk=power.pk)
    if power.ended_at:
        raise WrongState(_("This power of attorney has already ended."))
    if not reason.strip():
        raise InvalidInput(_("Give the reason."))
    power.ended_at, power.ended_by, power.end_reason = timezone.now(), actor, reason.strip()[:400]
    power.save()
    audit_log.record(actor=actor, action="power.end", target=power, engagement=power.engagement,
                     data={"user": power.user.username, "reason": power.end_reason})
    return power
