"""People × weeks: working days, planned, booked, absent, free; who is free; who is overbooked."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal

from django.db.models import Count, Prefetch, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.planning.effort.margins import HALF_DAY
from delivery.planning.models import Absence, PlannedTask, Skill, TimeEntry
from delivery.planning.plan.working_days import firm_days, is_working_day, monday_of
from engagements.models import Role, User

WEEKS = 8
WEEK = timedelta(days=7)
WORKERS = (Role.MANAGER, Role.CONSULTANT)  # whose days are planned


@dataclass
class Week:
    """A person's week in person-days. A day of a task under way counts as one planned day; two
    tasks on one day are two."""

    start: date
    working: int = 0
    planned: int = 0
    booked: Decimal = Decimal(0)
    absent: int = 0

    @property
    def there(self) -> int:
        """Working days on which the person is there."""
        return self.working - self.absent

    @property
    def free(self) -> Decimal:
        """Neither planned nor booked nor absent."""
        return max(Decimal(0), self.there - max(Decimal(self.planned), self.booked))

    @property
    def over(self) -> int:
        """Planned days beyond those on which the person is there."""
        return max(0, self.planned - self.there)


@dataclass
class PersonWeeks:
    person: User
    weeks: list[Week]
    skills: list[Skill] = field(default_factory=list)

    @property
    def free(self) -> Decimal:
        return sum((week.free for week in self.weeks), Decimal(0))


def people_of_the_firm(params) -> QuerySet[User]:
    """Who works on engagements, by name.

    Args:
        params: q (part of the name), skill (its name; one that has run out does not count).
    """
    found = User.objects.filter(role__in=WORKERS, is_active=True, is_service=False)
    if text := params.get("q", "").strip():
        found = found.filter(Q(username__icontains=text) | Q(full_name__icontains=text)
                             | Q(full_name_en__icontains=text))
    if skill := params.get("skill", ""):
        is_valid = Q(valid_until=None) | Q(valid_until__gte=timezone.localdate())
        found = found.filter(pk__in=Skill.objects.filter(is_valid, name=skill).values("person"))
    return found.order_by("full_name", "username").prefetch_related(
        Prefetch("skills", Skill.objects.order_by("name")))


def weeks_of(people: Iterable[User], first: date, count: int = WEEKS, *, with_booked: bool = True
             ) -> list[PersonWeeks]:
    """The weeks of these people from the Monday of `first`; four queries for any number, one less
    without what is booked."""
    people, first, firm = list(people), monday_of(first), firm_days()
    last = first + count * WEEK - timedelta(days=1)
    days = [first + timedelta(days=n) for n in range((last - first).days + 1)]
    worked = {day for day in days if is_working_day(day, firm)}
    planned, absent = (_spread(rows.filter(person__in=people), first, last, worked)
                       for rows in (PlannedTask.objects.under_way(), Absence.objects.all()))
    booked = _booked(people if with_booked else [], first, last)
    rows = []
    for person in people:
        weeks = [Week(first + n * WEEK) for n in range(count)]
        for day in days:
            week = weeks[(day - first).days // 7]
            week.working += day in worked
            if not absent[person.pk][day]:  # a task goes on after its owner's absence
                week.planned += planned[person.pk][day]
            week.absent += absent[person.pk][day]
            week.booked += booked[person.pk][day] * HALF_DAY
        skills = list(person.skills.all()) if "skills" in getattr(
            person, "_prefetched_objects_cache", {}) else []
        rows.append(PersonWeeks(person, weeks, skills))
    return rows


ByDay = dict[int, dict[date, int]]  # by person


def _spread(rows: QuerySet, first: date, last: date, worked: set[date]) -> ByDay:
    """How many of the rows, each of a person from a first day to a last, hold each working day."""
    found: ByDay = defaultdict(lambda: defaultdict(int))
    for person, start, end in rows.filter(last__gte=first, first__lte=last).order_by(
            ).values_list("person", "first", "last"):
        day = max(start, first)
        while day <= min(end, last):
            found[person][day] += day in worked
            day += timedelta(days=1)
    return found


def _booked(people: list[User], first: date, last: date) -> ByDay:
    """Half-days."""
    found: ByDay = defaultdict(lambda: defaultdict(int))
    rows = TimeEntry.objects.counted().filter(
        person__in=people, work_date__range=(first, last)).order_by()
    for person, day, halves in rows.values_list("person", "work_date").annotate(Count("pk")):
        found[person][day] = halves
    return found


def free_first(rows: Iterable[PersonWeeks]) -> list[PersonWeeks]:
    """Those with the most free days in front."""
    return sorted(rows, key=lambda row: -row.free)


def overbooking_of(person: User) -> str:
    """A sentence on the first week from this one on in which more is planned than the person is
    there; "" where there is none."""
    [row] = weeks_of([person], timezone.localdate(), with_booked=False)
    week = next((week for week in row.weeks if week.over), None)
    return "" if week is None else _(
        "%(person)s is overbooked in the week of %(week)s: %(planned)d days planned, %(there)d "
        "days there.") % {"person": person, "week": week.start, "planned": week.planned,
                          "there": week.there}
