"""Writes of timesheets. Each function owns its transaction and audit entry."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from decimal import Decimal

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.planning.models import GradeCost, TimeEntry, Timesheet
from delivery.planning.plan.working_days import firm_days, free_day_name
from engagements.access import Can, allowed, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import Engagement, MigratedModel, User


@transaction.atomic
def record_time(*, actor: User, engagement: Engagement, work_date: date, half: str, item: str,
                grade: str, person: User | None = None, model: MigratedModel | None = None,
                stage: str = "", note: str = "", today: date | None = None,
                is_free_day: bool = False) -> TimeEntry:
    """Book one half-day. People book their own; managers also for the team.

    Args:
        is_free_day: says that the person did work on a weekend or public holiday.

    Raises InvalidInput for a day to come, a free day without `is_free_day`, a person outside the
    team, or a half-day that the person has worked already, here or on another engagement.
    """
    person = person or actor
    require(actor, Can.WORK, engagement)
    if person != actor and not allowed(actor, Can.MANAGE):
        raise NotAllowed(_("Only a manager can record time for others."))
    engagement = _locked(engagement)
    _check_entry(engagement, person, model, work_date, today or timezone.localdate())
    free = free_day_name(work_date, firm_days())
    if free and not is_free_day:
        raise InvalidInput(_("%(day)s is not a working day (%(name)s). "
                             "Confirm that work was done.")
                           % {"day": work_date, "name": free})
    with _half_day(person, work_date, half):
        entry = TimeEntry.objects.create(
            engagement=engagement, person=person, work_date=work_date, half=half, item=item,
            grade=grade, model=model, stage=stage, note=note.strip())
    audit_log.record(actor=actor, action="time.record", target=entry, engagement=engagement,
                     data={"item": item, "grade": grade, "date": str(work_date), "half": half,
                           **({"free_day": True} if free else {})})
    return entry


@contextmanager
def _half_day(person: User, work_date: date, half: str) -> Iterator[None]:
    """A write that takes a half-day; says in words that it is taken."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError:
        raise InvalidInput(_(
            "%(person)s has already recorded this half-day (%(day)s, %(half)s): a day has "
            "two half-days across all engagements.") % {
                "person": person, "day": work_date, "half": TimeEntry.Half(half).label})


def _check_entry(engagement: Engagement, person: User, model: MigratedModel | None,
                 work_date: date, today: date) -> None:
    if work_date > today:
        raise InvalidInput(_("%(day)s is in the future.") % {"day": work_date})
    if person.is_reviewer or not engagement.memberships.filter(user=person).exists():
        raise InvalidInput(_("%(person)s is not on the team of this engagement.")
                           % {"person": person})
    if model and model.engagement_id != engagement.pk:
        raise InvalidInput(_("The model belongs to another engagement."))


@transaction.atomic
def record_day(*, halves: list[str], **fields) -> list[TimeEntry]:
    """Book one or both half-days of a day, all or none."""
    return [record_time(half=half, **fields) for half in halves]


@transaction.atomic
def remove_time(*, actor: User, entry: TimeEntry) -> None:
    """Remove a half-day; people their own, managers any. What a removed correction said stands
    again.

    Raises WrongState for what stands on a timesheet: it is corrected by a new entry.
    """
    entry = _own(actor, entry)
    if entry.timesheet:
        raise WrongState(_("This half-day is on %(timesheet)s and can no "
                           "longer be changed. Record a correction.") % {
                               "timesheet": entry.timesheet})
    TimeEntry.objects.filter(pk=entry.pk).delete()
    if corrected := entry.corrects:
        corrected.is_counted = True
        with _half_day(corrected.person, corrected.work_date, corrected.half):
            corrected.save(update_fields=["is_counted"])
    audit_log.record(actor=actor, action="time.remove", target=entry, engagement=entry.engagement,
                     data={"date": str(entry.work_date), "half": entry.half, "item": entry.item})


@transaction.atomic
def correct_time(*, actor: User, entry: TimeEntry, reason: str, is_taken_back: bool = False,
                 item: str = "", grade: str = "", model: MigratedModel | None = None,
                 stage: str = "") -> TimeEntry:
    """A new entry in place of a confirmed one, which stays as it was confirmed.

    Args:
        reason: stands on the next timesheet of the month.
        is_taken_back: the half-day was not worked here; it is free for another engagement.

    Raises WrongState unless the customer confirmed the entry, and for one corrected already.
    """
    entry = _own(actor, entry)
    _require_correctable(entry)
    if not reason.strip():
        raise InvalidInput(_("Give the reason for the correction."))
    if model and model.engagement_id != entry.engagement_id:
        raise InvalidInput(_("The model belongs to another engagement."))
    entry.is_counted = False
    entry.save(update_fields=["is_counted"])
    made = TimeEntry.objects.create(
        engagement=entry.engagement, person=entry.person, work_date=entry.work_date,
        half=entry.half, item=item or entry.item, grade=grade or entry.grade, model=model,
        stage=stage, note=reason.strip(), corrects=entry, is_taken_back=is_taken_back,
        is_counted=not is_taken_back)
    audit_log.record(actor=actor, action="time.correct", target=made, engagement=made.engagement,
                     data={"corrects": entry.pk, "reason": made.note, "taken_back": is_taken_back})
    return made


def _require_correctable(entry: TimeEntry) -> None:
    sheet = entry.timesheet
    if sheet is None:
        raise WrongState(_("This half-day is not confirmed; remove it and record it again."))
    if sheet.state != Timesheet.State.CONFIRMED:
        raise WrongState(_("%(timesheet)s is still awaiting the customer's response.")
                         % {"timesheet": sheet})
    if not entry.is_counted:
        raise WrongState(_("This half-day has already been corrected."))


def _locked(engagement: Engagement) -> Engagement:
    """The engagement's locked row: the sums of its days are written by one after the other."""
    return Engagement.objects.select_for_update(of=("self",), no_key=True).get(pk=engagement.pk)


def _own(actor: User, entry: TimeEntry) -> TimeEntry:
    """The locked row of an entry that the actor may change."""
    require(actor, Can.WORK, entry.engagement)
    if entry.person_id != actor.pk and not allowed(actor, Can.MANAGE):
        raise NotAllowed(_("Only a manager can record time for others."))
    _locked(entry.engagement)
    return TimeEntry.objects.select_for_update(of=("self",), no_key=True).get(pk=entry.pk)


@transaction.atomic
def set_grade_cost(*, actor: User, grade: str, day_cost: Decimal, valid_from: date | None = None
                   ) -> GradeCost:
    """What a person-day of a grade costs the firm, without tax, from a day on: what was worked
    before costs what it cost then.

    Args:
        valid_from: without it today; the first cost of a grade is valid for all time before, too.
    """
    require(actor, Can.MANAGE)
    if day_cost < 0:
        raise InvalidInput(_("The cost must not be below zero."))
    if valid_from is None:
        is_first = not GradeCost.objects.filter(grade=grade).exists()
        valid_from = (GradeCost._meta.get_field("valid_from").default if is_first
                      else timezone.localdate())
    cost, _created = GradeCost.objects.update_or_create(
        grade=grade, valid_from=valid_from, defaults={"day_cost": day_cost})
    audit_log.record(actor=actor, action="grade_cost.set", target=cost, data={
        "grade": grade, "day_cost": str(day_cost), "valid_from": str(valid_from)})
    return cost
