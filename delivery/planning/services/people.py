"""Writes about the firm's people: absences, skills; and the firm's lowest margin."""

from datetime import date
from decimal import Decimal

from django.db import transaction
from django.utils.translation import gettext as _

from delivery.planning.models import Absence, MarginFloor, Skill
from engagements.access import Can, allowed, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput, NotAllowed
from engagements.models import User
from engagements.services.field_validation import validate_row

LONGEST_ABSENCE = 366  # days


@transaction.atomic
def add_absence(*, actor: User, first: date, last: date | None = None, person: User | None = None,
                kind: str = Absence.Kind.LEAVE, note: str = "") -> Absence:
    """Days on which somebody of the firm is away. People enter their own; managers anybody's.
    Writes an audit entry.

    Raises InvalidInput for an end before the beginning, more than a year, and days that meet
    another absence of the person.
    """
    person, last = _of(actor, person), last or first
    if not 0 <= (last - first).days < LONGEST_ABSENCE:
        raise InvalidInput(_("The last day must not be before the first; at most a year is "
                             "entered at once."))
    User.objects.select_for_update(no_key=True).get(pk=person.pk)
    if met := Absence.objects.filter(person=person, first__lte=last, last__gte=first).first():
        raise InvalidInput(_("%(person)s is already away from %(first)s to %(last)s.") % {
            "person": person, "first": met.first, "last": met.last})
    absence = Absence(person=person, first=first, last=last, kind=kind, note=note.strip())
    validate_row(absence)
    absence.save()
    audit_log.record(actor=actor, action="absence.add", target=absence,
                     data={"first": str(first), "last": str(last)})
    return absence


@transaction.atomic
def remove_absence(*, actor: User, absence: Absence) -> None:
    """Take an absence back. Writes an audit entry."""
    _of(actor, absence.person)
    Absence.objects.filter(pk=absence.pk).delete()
    audit_log.record(actor=actor, action="absence.remove", target=absence,
                     data={"first": str(absence.first), "last": str(absence.last)})


@transaction.atomic
def set_skill(*, actor: User, name: str, person: User | None = None, certificate: str = "",
              valid_until: date | None = None) -> Skill:
    """A skill or certificate of somebody of the firm; the same name is replaced. People enter
    their own; managers anybody's. Writes an audit entry. Raises InvalidInput without a name."""
    person = _of(actor, person)
    User.objects.select_for_update(no_key=True).get(pk=person.pk)
    name = name.strip()
    skill = Skill.objects.filter(person=person, name=name).first() or Skill(
        person=person, name=name)
    skill.certificate, skill.valid_until = certificate.strip(), valid_until
    validate_row(skill)
    skill.save()
    audit_log.record(actor=actor, action="skill.set", target=skill, data={"name": name})
    return skill


@transaction.atomic
def remove_skill(*, actor: User, skill: Skill) -> None:
    """Take a skill back. Writes an audit entry."""
    _of(actor, skill.person)
    Skill.objects.filter(pk=skill.pk).delete()
    audit_log.record(actor=actor, action="skill.remove", target=skill, data={"name": skill.name})


@transaction.atomic
def set_margin_floor(*, actor: User, percent: Decimal) -> MarginFloor:
    """The margin below which the firm wants to hear of an engagement. Writes an audit entry."""
    require(actor, Can.MANAGE)
    floor = MarginFloor(pk=1, percent=percent)
    floor.full_clean(validate_unique=False)
    floor, _created = MarginFloor.objects.update_or_create(pk=1, defaults={"percent": percent})
    audit_log.record(actor=actor, action="margin_floor.set", target=floor,
                     data={"percent": str(percent)})
    return floor


def _of(actor: User, person: User | None) -> User:
    """Whose row it is; raises NotAllowed for somebody else's, InvalidInput for who is not of the
    firm."""
    require(actor, Can.VIEW_INTERNAL)
    person = person or actor
    if person != actor and not allowed(actor, Can.MANAGE):
        raise NotAllowed(_("Only a manager can enter this for others."))
    if not allowed(person, Can.VIEW_INTERNAL) or person.is_service or person.is_auditor:
        raise InvalidInput(_("%(person)s does not work for the firm.") % {"person": person})
    return person
