"""China's working days: weekends and public holidays are free, make-up days are worked.

Holidays and make-up days come from the `holidays` library. The State Council announces the
make-up days of a year in the autumn before; until then only the holidays fixed by law count.
"""

from bisect import bisect_left
from datetime import date, timedelta
from functools import cache

import holidays
from django.utils.formats import date_format
from django.utils.translation import get_language
from django.utils.translation import gettext as _

ONE_DAY = timedelta(days=1)
SATURDAY = 5
LONGEST = 10 * 250  # working days, ten years: no plan is that long


@cache
def _china() -> holidays.HolidayBase:
    return holidays.country_holidays("CN", language="zh_CN")


def is_working_day(day: date) -> bool:
    """Whether people work on that day in mainland China."""
    return _china().is_working_day(day)


def free_day_name(day: date) -> str:
    """What a free day is called: the holiday's name, or the day of the week; "" for a working
    day."""
    if is_working_day(day):
        return ""
    return _china().get(day) if _is_chinese() and day in _china() else (
        _("public holiday") if day in _china() else date_format(day, "l"))


def _is_chinese() -> bool:
    return get_language() == "zh-hans"


@cache
def is_provisional(year: int) -> bool:
    """Whether the make-up days of the year are not announced yet: in every announced year some
    Saturday or Sunday is worked, so a year without one has only the holidays fixed by law."""
    days = (date(year, 1, 1) + n * ONE_DAY for n in range(366))
    return not any(is_working_day(day) for day in days
                   if day.year == year and day.weekday() >= SATURDAY)


def provisional_years(first: date, last: date) -> list[int]:
    """The years from the first day to the last whose holidays may still move."""
    return [year for year in range(first.year, last.year + 1) if is_provisional(year)]


class WorkingCalendar:
    """Numbers of working days from a start: 0 is the first working day on or after it."""

    def __init__(self, start: date):
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
        while not is_working_day(self._next):
            self._next += ONE_DAY
        self._days.append(self._next)
        self._next += ONE_DAY
