"""Sums over all engagements that a person sees, of the figures that their writes keep."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import DurationField, ExpressionWrapper, F, Q, Sum
from django.db.models.functions import Coalesce, TruncDay
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from assessments.models import Outcome
from delivery.portal.models import ChartFigure
from engagements.access import Can, allowed
from engagements.models import User
from engagements.stages import Stage
from workers.models import CardLease, Node

QUARTERS, MONTHS, DAYS = 6, 6, 14
Of = ChartFigure.Chart


@dataclass(frozen=True)
class Bar:
    """One bar: label, figure in words, share of the longest one in per cent, and where it leads."""

    label: str
    text: str
    percent: int
    url: str = ""
    code: str = ""  # colour, as of a state


@dataclass(frozen=True)
class Chart:
    title: str
    note: str
    bars: list[Bar]


def charts_for(user: User, now: datetime | None = None) -> list[Chart]:
    """The charts that the user's role may see; one query, and two for the cards."""
    now = now or timezone.now()
    numbers = _numbers(user, now)
    found = [_pipeline(numbers, allowed(user, Can.PRICE)), _on_time(numbers),
             _person_days(numbers), _verdicts(numbers)]
    return [*found, _cards(now)] if allowed(user, Can.WORK) else found


def quarter(day: date) -> str:
    """The bar of a quarter; bars sort as their quarters do."""
    return f"{day:%Y} Q{(day.month + 2) // 3}"


def first_of_quarter(day: date) -> date:
    """The first day of a day's quarter."""
    return day.replace(month=day.month - (day.month - 1) % 3, day=1)


Numbers = dict[str, dict[str, Decimal]]  # by chart, then by bar


def _numbers(user: User, now: datetime) -> Numbers:
    """The sums over all engagements that the user sees; of quarters and months the last ones."""
    today = timezone.localdate(now)
    first_day = first_of_quarter(today - timedelta(92 * QUARTERS))
    first_month = f"{today - timedelta(31 * MONTHS):%Y-%m}"
    is_shown = (Q(chart__in=(Of.PIPELINE, Of.VALUE, Of.PLANNED, Of.USED))
                | Q(chart__in=(Of.DUE, Of.IN_TIME), bar__gte=f"{first_day}", bar__lt=f"{today}")
                | Q(chart=Of.VERDICTS, bar__gte=first_month))
    rows = ChartFigure.objects.visible_to(user).filter(is_shown).order_by("chart", "bar")
    found: Numbers = defaultdict(lambda: defaultdict(Decimal))
    for chart, bar, number in rows.values_list("chart", "bar").annotate(Sum("number")):
        found[chart][bar] = Decimal(number)
    return found


def _pipeline(numbers: Numbers, with_value: bool) -> Chart:
    """Engagements under way by the earliest stage that is not done, with what was quoted."""
    counts, values = numbers[Of.PIPELINE], numbers[Of.VALUE]
    bars, longest = [], max(counts.values(), default=Decimal(1))
    for stage in Stage:
        number = counts[stage]
        text = f"{number:.0f} · ¥{values[stage]:,.0f}" if with_value else f"{number:.0f}"
        bars.append(Bar(stage.label, text, int(100 * number / longest),
                        f"{reverse('portal:portfolio')}?stage={stage.value}"))
    note = _("Engagements under way by the earliest stage that is not done; value as quoted, "
             "excluding tax.") if with_value else _(
        "Engagements under way by the earliest stage that is not done.")
    return Chart(_("Pipeline by stage"), note, bars)


def _on_time(numbers: Numbers) -> Chart:
    """Engagements by the quarter of their agreed end, and how many were accepted by then."""
    due: dict[str, Decimal] = defaultdict(Decimal)
    in_time: dict[str, Decimal] = defaultdict(Decimal)
    for of, quarters in ((Of.DUE, due), (Of.IN_TIME, in_time)):
        for day, number in numbers[of].items():
            quarters[quarter(date.fromisoformat(day))] += number
    bars = []
    for name, number in due.items():
        percent = int(100 * in_time[name] / number)
        bars.append(Bar(name, f"{percent}% ({in_time[name]:.0f}/{number:.0f})", percent,
                        code="passed" if percent >= 80 else "warning"))
    return Chart(_("On-time rate"), _(
        "Engagements by the quarter of their agreed end, once it has passed: in time is one whose "
        "last model was accepted by then; what is still open counts as late."), bars)


def _person_days(numbers: Numbers) -> Chart:
    """Planned by the estimate in force against used, per stage, of engagements under way."""
    planned, used = numbers[Of.PLANNED], numbers[Of.USED]
    longest = max([*planned.values(), *used.values(), Decimal(1)])
    bars = []
    for stage in Stage:
        for name, days, code in ((_("planned"), planned[stage], "draft"),
                                 (_("used"), used[stage], "running")):
            if days:
                bars.append(Bar(f"{stage.label} · {name}", f"{days.normalize():f}",
                                int(100 * days / longest), code=code))
    return Chart(_("Person-days, planned and used"), _("Engagements under way, by stage."), bars)


def _verdicts(numbers: Numbers) -> Chart:
    """Verdicts that were computed, by month and outcome."""
    rows = numbers[Of.VERDICTS]
    longest, bars = max(rows.values(), default=Decimal(1)), []
    for name, number in rows.items():
        month, outcome = name.split()
        bars.append(Bar(f"{month} · {Outcome(outcome).label}", f"{number:.0f}",
                        int(100 * number / longest), code=outcome))
    return Chart(_("Verdicts"), _("Computed verdicts by month and outcome."), bars)


def _cards(now: datetime) -> Chart:
    """Card-hours that jobs held, by the day on which they took the card, of all card-hours."""
    capacity = Decimal(24 * (Node.objects.aggregate(Sum("cards_total"))["cards_total__sum"] or 0))
    held: Any = ExpressionWrapper(Coalesce("released_at", now) - F("taken_at"),
                                  output_field=DurationField())
    rows = CardLease.objects.filter(taken_at__gte=now - timedelta(days=DAYS)).order_by().annotate(
        day=TruncDay("taken_at")).values("day").annotate(held=Sum(held)).order_by("day")
    bars = []
    for row in rows:
        hours = Decimal(row["held"].total_seconds()) / 3600
        percent = int(100 * hours / capacity) if capacity else 0
        bars.append(Bar(f"{row['day']:%m-%d}", _("%(hours)s h, %(percent)s %%") % {
            "hours": f"{hours:.1f}", "percent": percent}, min(100, percent)))
    return Chart(_("Card utilisation"), _("Card-hours used by jobs as a share of those available "
                                          "on all nodes, by the day the job began."), bars)
