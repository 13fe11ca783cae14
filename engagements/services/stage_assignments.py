"""Who of the team works on which stages."""

from collections.abc import Iterable

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.conflict_retry import retried
from engagements.errors import InvalidInput
from engagements.models import StageAssignment, StageRecord, User


@retried
@transaction.atomic
def assign_stages(*, actor: User, records: Iterable[StageRecord], person: User | None,
                  note: str = "") -> int:
    """Give the stages to a person of the team, or to nobody; how many. An audit entry for each.

    Raises InvalidInput for somebody who is not on the engagement's team, or a customer's reviewer;
    NotAllowed. Nothing is written then.
    """
    count = 0
    for record in records:
        require(actor, Can.WORK, record.engagement)
        if person and not _is_of_team(person, record):
            raise InvalidInput(_("%(person)s is not of the team of %(engagement)s.") % {
                "person": person, "engagement": record.engagement.code})
        if person:
            StageAssignment.objects.update_or_create(record=record, defaults={
                "person": person, "note": note.strip()[:240], "assigned_by": actor,
                "assigned_at": timezone.now()})
        else:
            StageAssignment.objects.filter(record=record).delete()
        audit_log.record(actor=actor, action="stage.assign", target=record,
                         engagement=record.engagement,
                         data={"to": person.username if person else "", "note": note.strip()[:240]})
        count += 1
    return count


def _is_of_team(person: User, record: StageRecord) -> bool:
    return not person.is_reviewer and record.engagement.memberships.filter(user=person).exists()
