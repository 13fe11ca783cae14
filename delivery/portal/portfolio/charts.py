"""Aggregates over all engagements that a person sees, each by one or two statements."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Count, DurationField, ExpressionWrapper, F, Q, Sum
from django.db.models.functions import Coalesce, TruncDay, TruncMonth, TruncQuarter
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from assessments.models import Outcome, Verdict
from delivery.planning.effort.margins import HALF_DAY, agreed_quotes
from delivery.planning.models import EffortEstimate, EffortLine, TimeEntry
from delivery.portal.portfolio.rows import RUNNING, with_position
from engagements.access import Can, allowed
from engagements.models import Engagement, StageRecord, User
from engagements.stages import Stage
from workers.models import CardLease, Node

QUARTERS, MONTHS, DAYS = 6, 6, 14


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
    """The charts that the user's role may see."""
    now = now or timezone.now()
    engagements = Engagement.objects.visible_to(user)
    found = [_pipeline(engagements, allowed(user, Can.PRICE)), _on_time(engagements, now),
             _person_days(engagements), _verdicts(engagements, now)]
    return [*found, _cards(now)] if allowed(user, Can.WORK) else found


def _pipeline(engagements, with_value: bool) -> Chart:
    """Engagements under way by the earliest stage that is not done, with what was quoted."""
    stages = dict(with_position(engagements.filter(state=RUNNING)).order_by().values_list(
        "pk", "open_position"))
    counts: dict[int, int] = defaultdict(int)
    values: dict[int, Decimal] = defaultdict(Decimal)
    for position in stages.values():
        counts[position] += 1
    for key, amount in _amounts(list(stages)) if with_value else ():
        values[stages[key]] += amount
    bars, longest = [], max(counts.values(), default=1)
    for position, stage in enumerate(Stage):
        number = counts.get(position, 0)
        text = f"{number} · ¥{values[position]:,.0f}" if with_value else str(number)
        bars.append(Bar(stage.label, text, 100 * number // longest,
                        f"{reverse('portal:portfolio')}?stage={stage.value}"))
    note = _("Engagements under way by the earliest stage that is not done; value as quoted, "
             "excluding tax.") if with_value else _(
        "Engagements under way by the earliest stage that is not done.")
    return Chart(_("Pipeline by stage"), note, bars)


def _amounts(keys: list[int]):
    for quote in agreed_quotes(keys):
        yield quote.engagement_id, (
            Decimal(quote.snapshot["totals"]["net"]) * quote.exchange_rate)


def _on_time(engagements, now: datetime) -> Chart:
    """Acceptance stages by the quarter in which they passed, and how many by the agreed end."""
    rows = StageRecord.objects.filter(
        stage=Stage.ACCEPT, model__engagement__in=engagements, model__dropped_at=None,
        model__engagement__ends_on__isnull=False,
        passed_at__gte=now - timedelta(days=92 * QUARTERS)).order_by().annotate(
        quarter=TruncQuarter("passed_at")).values("quarter").annotate(
        done=Count("model__engagement", distinct=True),
        on_time=Count("model__engagement", distinct=True,
                      filter=Q(passed_at__date__lte=F("model__engagement__ends_on")))).order_by(
        "quarter")
    bars = []
    for row in rows:
        percent = 100 * row["on_time"] // row["done"]
        label = f"{row['quarter']:%Y} Q{(row['quarter'].month + 2) // 3}"
        bars.append(Bar(label, f"{percent}% ({row['on_time']}/{row['done']})", percent,
                        code="passed" if percent >= 80 else "warning"))
    return Chart(_("On-time rate"), _("Engagements accepted by their due date, by quarter."), bars)


def _person_days(engagements) -> Chart:
    """Planned by the estimate in force against used, per stage, of engagements under way."""
    running = engagements.filter(state=RUNNING)
    planned = dict(EffortLine.objects.filter(
        estimate__state=EffortEstimate.State.APPROVED, estimate__engagement__in=running
    ).order_by().values_list("stage").annotate(Sum("likely")))
    used = {stage: halves * HALF_DAY for stage, halves in TimeEntry.objects.counted().filter(
        engagement__in=running).order_by().values_list("stage").annotate(Count("pk"))}
    longest = max([*planned.values(), *used.values(), Decimal(1)])
    bars = []
    for stage in Stage:
        for name, days, code in ((_("planned"), planned.get(stage), "draft"),
                                 (_("used"), used.get(stage), "running")):
            if days:
                bars.append(Bar(f"{stage.label} · {name}", f"{days.normalize():f}",
                                int(100 * days / longest), code=code))
    return Chart(_("Person-days, planned and used"), _("Engagements under way, by stage."), bars)


def _verdicts(engagements, now: datetime) -> Chart:
    """Verdicts that were computed, by month and outcome."""
    rows = Verdict.objects.filter(
        criterion__criteria_set__engagement__in=engagements,
        computed_at__gte=now - timedelta(days=31 * MONTHS)).order_by().annotate(
        month=TruncMonth("computed_at")).values("month", "outcome").annotate(
        number=Count("pk")).order_by("month", "outcome")
    longest = max((row["number"] for row in rows), default=1)
    bars = [Bar(f"{row['month']:%Y-%m} · {Outcome(row['outcome']).label}", str(row["number"]),
                100 * row["number"] // longest, code=row["outcome"]) for row in rows]
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
    return Chart(_("Card utilisation"), _("Card-hours held by jobs, of those that all nodes offer; "
                                          "by the day on which the job began."), bars)
