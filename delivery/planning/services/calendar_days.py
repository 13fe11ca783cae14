"""The firm's own calendar: make-up working days and holidays that the package does not know."""

from datetime import date, timedelta

from django.db import transaction
from django.utils.translation import gettext as _

from delivery.planning.models import CalendarDay
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput
from engagements.models import User

MOST_DAYS = 31  # that are set at once


@transaction.atomic
def set_calendar_days(*, actor: User, first: date, is_worked: bool, last: date | None = None,
                      name: str = "") -> list[CalendarDay]:
    """Count the days from `first` to `last` as worked or free, whatever the package says of them.

    A day that is in the table gets the new entry. Plans are counted anew from now on; baselines
    and issued documents stay as they are. Writes an audit entry. Raises InvalidInput for an end
    before the beginning or more than a month of days.
    """
    require(actor, Can.MANAGE)
    last = last or first
    if not 0 <= (last - first).days < MOST_DAYS:
        raise InvalidInput(_("The last day must not be before the first; at most %(n)d days are "
                             "set at once.") % {"n": MOST_DAYS})
    days = [CalendarDay.objects.update_or_create(
        day=first + timedelta(days=n), defaults={"is_worked": is_worked, "name": name.strip()})[0]
        for n in range((last - first).days + 1)]
    audit_log.record(actor=actor, action="calendar_day.set", target=days[0], data={
        "first": str(first), "last": str(last), "is_worked": is_worked})
    return days


@transaction.atomic
def remove_calendar_day(*, actor: User, day: CalendarDay) -> None:
    """Count a day as the package does again. Writes an audit entry."""
    require(actor, Can.MANAGE)
    CalendarDay.objects.filter(pk=day.pk).delete()
    audit_log.record(actor=actor, action="calendar_day.remove", target=day,
                     data={"day": str(day.day)})
