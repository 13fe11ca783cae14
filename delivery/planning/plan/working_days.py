"""Working days: China's, as the package `holidays` knows them, and the firm's table before it.

Weekends and public holidays are free, make-up days are worked. The State Council announces the
make-up days of a year in the autumn before; until the package or the firm's table has them, the
year is counted Monday to Friday less the holidays fixed by law.
"""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from typing import Any

import holidays
from django.utils.formats import date_format
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from delivery.planning.models import CalendarDay

ONE_DAY = timedelta(days=1)
SATURDAY = 5
LONGEST = 10 * 250  # working days, ten years: no plan is that long
YEARS_SHOWN = 3  # from this one on, and those of the firm's table
FirmDays = Mapping[date, CalendarDay]
SOURCES = {
    "firm": gettext_lazy("the firm's table, else the package “holidays”"),
    "package": gettext_lazy("the package “holidays”"),
    "law": gettext_lazy("unknown to both: Monday to Friday, less the holidays fixed by law"),
}


def firm_days() -> FirmDays:
    """The days of the firm's table, by date."""
    return {row.day: row for row in CalendarDay.objects.all()}


@cache
def _china() -> holidays.HolidayBase:
    return holidays.country_holidays("CN", language="zh_CN")


def is_working_day(day: date, firm: FirmDays) -> bool:
    """Whether people work on that day in mainland China, or by the firm's table."""
    return firm[day].is_worked if day in firm else _china().is_working_day(day)


def free_day_name(day: date, firm: FirmDays) -> str:
    """What a free day is called: the holiday's name, or the day of the week; "" for a working
    day."""
    if is_working_day(day, firm):
        return ""
    if day in firm and firm[day].name:
        return firm[day].name
    if day not in _china():
        return date_format(day, "l")
    return _china().get(day) if get_language() == "zh-hans" else _("public holiday")


def is_provisional(year: int, firm: FirmDays) -> bool:
    """Whether nobody knows the make-up days of the year yet: in every announced year some
    Saturday or Sunday is worked, so a year without one has only the holidays fixed by law."""
    return not (_is_announced(year) or any(
        row.is_worked and day.year == year and day.weekday() >= SATURDAY
        for day, row in firm.items()))


@cache
def _is_announced(year: int) -> bool:
    """Whether the package has the year's make-up days."""
    days = (date(year, 1, 1) + n * ONE_DAY for n in range(366))
    return any(_china().is_working_day(day) for day in days
               if day.year == year and day.weekday() >= SATURDAY)


def provisional_years(first: date, last: date, firm: FirmDays) -> list[int]:
    """The years from the first day to the last whose holidays may still move."""
    return [year for year in range(first.year, last.year + 1) if is_provisional(year, firm)]


@dataclass(frozen=True)
class CalendarYear:
    """What the working days of a year follow from: `firm`, `package` or `law`."""

    year: int
    counted_by: str
    days: int  # of the firm's table

    @property
    def label(self) -> Any:
        return SOURCES[self.counted_by]


def calendar_years(now: int, firm: FirmDays) -> list[CalendarYear]:
    """This year and the next ones, and those that the firm's table has days of."""
    years = sorted({*range(now, now + YEARS_SHOWN), *(day.year for day in firm)})
    return [_calendar_year(year, firm) for year in years]


def _calendar_year(year: int, firm: FirmDays) -> CalendarYear:
    days = sum(day.year == year for day in firm)
    source = "law" if is_provisional(year, firm) else "firm" if days else "package"
    return CalendarYear(year, source, days)


class WorkingCalendar:
    """Numbers of working days from a start: 0 is the first working day on or after it."""

    def __init__(self, start: date, firm: FirmDays):
        self._firm = firm
        self._days: list[date] = []
        self._next = start
        self._numbers: dict[date, int] = {}

    def day(self, number: int) -> date:
        """The date of a working day; negative numbers give the first one."""
        while len(self._days) <= number and len(self._days) < LONGEST:
            self._extend()
        if not self._days:
            self._extend()
        return self._days[max(0, min(number, len(self._days) - 1))]

    def number(self, day: date) -> int:
        """The number of the first working day on or after `day`; 0 before the start."""
        while self._next <= day or not self._days or self._days[-1] < day:
            self._extend()
        return bisect_left(self._days, day)

    def last_number(self, day: date) -> int:
        """The number of the last working day on or before `day`; 0 before the start."""
        number = self.number(day)
        return number if self._days[number] == day else max(0, number - 1)

    def first_day(self, start: int) -> date:
        return self.day(start)

    def last_day(self, start: int, finish: int) -> date:
        """The last day of what runs from `start` to the exclusive `finish`."""
        return self.day(max(finish - 1, 0) if finish > start else max(start - 1, 0))

    def _extend(self) -> None:
        while not is_working_day(self._next, self._firm):
            self._next += ONE_DAY
        self._days.append(self._next)
        self._next += ONE_DAY


def monday_of(day: date) -> date:
    """The Monday of the week of `day`."""
    return day - timedelta(days=day.weekday())
