"""Who of the team works on which stages."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.conflict_retry import retried
from engagements.errors import InvalidInput, WrongState
from engagements.models import StageAssignment, StageRecord, User

NOTE_LENGTH = 240


@dataclass(frozen=True)
class Reassignment:
    """A stage that was given to somebody else: the person and the note before and after."""

    record: StageRecord
    before: tuple[User | None, str]
    after: tuple[User | None, str]

    @property
    def facts(self) -> list:
        """Keys and notes, for `undo_assignments`."""
        return [self.record.pk, *(part for person, note in (self.before, self.after)
                                  for part in (person and person.pk, note))]


@retried
@transaction.atomic
def assign_stages(*, actor: User, records: Iterable[StageRecord], person: User | None,
                  note: str = "") -> list[Reassignment]:
    """Give the stages to a person of the team, or to nobody. An audit entry for each, which names
    who had it before.

    Raises InvalidInput for somebody who is not on the engagement's team, or a customer's reviewer;
    NotAllowed. Nothing is written then.
    """
    given = (person, note.strip()[:NOTE_LENGTH] if person else "")
    return [_assign(actor, record, given) for record in _locked(record.pk for record in records)]


@retried
@transaction.atomic
def undo_assignments(*, actor: User, changes: Iterable[list]) -> list[Reassignment]:
    """Give stages back to who had them before `assign_stages`; an audit entry for each.

    Args:
        changes: `Reassignment.facts` of each stage.
    Raises WrongState where one was assigned anew since, InvalidInput where the person has left the
    team; NotAllowed. Nothing is written then.
    """
    by_record = {key: rest for key, *rest in changes}
    people = User.objects.in_bulk({key for before, _note, after, _n in by_record.values()
                                   for key in (before, after) if key})
    done = []
    for record in _locked(by_record):
        before, before_note, after, after_note = by_record[record.pk]
        if _state_of(record) != (people.get(after), after_note):
            raise WrongState(_("%(stage)s was reassigned meanwhile; nothing was undone.")
                             % {"stage": record})
        done.append(_assign(actor, record, (people.get(before), before_note)))
    return done


def _locked(keys: Iterable[int]) -> list[StageRecord]:
    return list(StageRecord.objects.select_for_update(of=("self",), no_key=True).select_related(
        "model__engagement").filter(pk__in=list(keys)).order_by("pk"))


def _state_of(record: StageRecord) -> tuple[User | None, str]:
    row = StageAssignment.objects.filter(record=record).select_related("person").first()
    return (row.person, row.note) if row else (None, "")


def _assign(actor: User, record: StageRecord, given: tuple[User | None, str]) -> Reassignment:
    require(actor, Can.WORK, record.engagement)
    (person, note), before = given, _state_of(record)
    if person and (person.is_reviewer or not record.engagement.memberships.filter(
            user=person).exists()):
        raise InvalidInput(_("%(person)s is not on the team of %(engagement)s.") % {
            "person": person, "engagement": record.engagement.code})
    if person:
        StageAssignment.objects.update_or_create(record=record, defaults={
            "person": person, "note": note, "assigned_by": actor, "assigned_at": timezone.now()})
    else:
        StageAssignment.objects.filter(record=record).delete()
    audit_log.record(
        actor=actor, action="stage.assign", target=record, engagement=record.engagement,
        data={"from": before[0].username if before[0] else "", "note_before": before[1],
              "to": person.username if person else "", "note": note})
    return Reassignment(record, before, (person, note))
