"""Person-days over the weeks: used so far, then as the plan goes on, below what was agreed."""

from collections import Counter
from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal
from itertools import accumulate

from django.db.models import Count
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from delivery.planning.effort.margins import HALF_DAY, Effort
from delivery.planning.models import PlannedTask, TimeEntry
from delivery.planning.plan.working_days import firm_days, is_working_day, monday_of
from engagements.models import Engagement
from workers.labels.line_charts import LineChart, lines_chart

WEEK = timedelta(weeks=1)


def burn_up(engagement: Engagement, effort: Effort, today: date) -> LineChart | None:
    """The days used by the end of each week, and from today on those of the planned tasks, each
    working day of an owner counted as one; agreed and estimated days as level lines. None where
    neither time nor a plan spans two weeks.

    Args:
        effort: of the engagement, with the agreed and the estimated days.
    """
    used = _used(engagement)
    ahead = _ahead(engagement, today)
    weeks = sorted({*used, *ahead, monday_of(today)} if used or ahead else ())
    if len(weeks) < 2:
        return None
    first, now = weeks[0], monday_of(today)
    behind = [each for each in _mondays(first, weeks[-1]) if each <= now]
    so_far = list(accumulate(float(used.get(each, 0)) for each in behind))
    to_come = [now, *(each for each in _mondays(first, weeks[-1]) if each > now)]
    planned = list(accumulate(
        [so_far[-1] + ahead.get(now, 0), *(ahead.get(each, 0) for each in to_come[1:])]))
    level = {pgettext("person-days", "Agreed"): effort.days_quoted,
             _("Estimated (likely)"): effort.days_planned}
    ends = (1, (weeks[-1] - first) // WEEK + 1)

    def numbered(mondays, values):
        return [((each - first) // WEEK + 1, value) for each, value in zip(
            mondays, values, strict=True)]

    return lines_chart(
        _("Person-days"), _("Person-days"),
        _("Week, from %(day)s on") % {"day": f"{first:%Y-%m-%d}"},
        {_("Used so far"): numbered(behind, so_far),
         _("As planned from now on"): numbered(to_come, planned) if ahead else [],
         **{name: [(end, float(days)) for end in ends] for name, days in level.items() if days}})


def _mondays(first: date, last: date) -> list[date]:
    return [first + number * WEEK for number in range((last - first) // WEEK + 1)]


def _used(engagement: Engagement) -> Mapping[date, Decimal]:
    """Days by the Monday of their week."""
    found: Counter[date] = Counter()
    for day, halves in TimeEntry.objects.counted().filter(engagement=engagement).order_by(
            ).values_list("work_date").annotate(Count("pk")):
        found[monday_of(day)] += halves * HALF_DAY
    return found


def _ahead(engagement: Engagement, today: date) -> Mapping[date, int]:
    """Working days of planned tasks from today on, by the Monday of their week."""
    firm, found = firm_days(), Counter()
    for first, last in PlannedTask.objects.filter(
            task__plan__engagement=engagement, last__gte=today).values_list("first", "last"):
        day = max(first, today)
        while day <= last:
            if is_working_day(day, firm):
                found[monday_of(day)] += 1
            day += timedelta(days=1)
    return found
