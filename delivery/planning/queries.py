"""Queries of effort and time shared by pages and API, and what has to be settled before an
engagement is closed."""

import re
from decimal import Decimal

from django.db.models import Count, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import TruncMonth
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from delivery.planning.models import ChangeRequest, EffortEstimate, Grade, TimeEntry
from delivery.quotes.models import Quote
from engagements.closing import ClosingCondition, counted, register_condition
from engagements.models import Engagement, User
from engagements.models.engagement import localized
from engagements.stage_activity import register_stage_activity
from engagements.stages import Stage

THREE = {"low": Sum("low"), "likely": Sum("likely"), "high": Sum("high")}


def totals(estimate: EffortEstimate, by: str) -> list[dict]:
    """Days (low, likely, high) by `grade` or `stage`, in the order of their choices."""
    choices = {"grade": Grade, "stage": Stage}[by]
    rows = {row[by]: row for row in estimate.lines.order_by().values(by).annotate(**THREE)}
    return [{**rows[choice.value], "label": choice.label}
            for choice in choices if choice.value in rows]


def grand_total(estimate: EffortEstimate) -> dict:
    """Days of the whole estimate (low, likely, high)."""
    sums = estimate.lines.aggregate(**THREE)
    return {name: value or Decimal(0) for name, value in sums.items()}


def time_of(engagement: Engagement, user: User, params) -> QuerySet:
    """Time entries of an engagement, filtered by month (YYYY-MM) and person."""
    entries = TimeEntry.objects.visible_to(user).filter(
        engagement=engagement).select_related(
            "person", "model", "engagement", "timesheet__engagement")
    month = re.fullmatch(r"([0-9]{4})-([0-9]{2})", params.get("month", ""))
    if month:
        entries = entries.filter(work_date__year=month[1], work_date__month=month[2])
    if params.get("person", "").isdecimal():
        entries = entries.filter(person_id=params["person"])
    return entries


def open_months(engagement: Engagement) -> list[dict]:
    """Months with time that stands on no timesheet: month (YYYY-MM) and number of entries."""
    rows = TimeEntry.objects.filter(engagement=engagement, timesheet=None).order_by().annotate(
        month=TruncMonth("work_date")).values("month").annotate(entries=Count("pk"))
    return [{"month": f"{row['month']:%Y-%m}", "entries": row["entries"]}
            for row in sorted(rows, key=lambda row: row["month"])]


def days_by_person(entries: QuerySet) -> list[dict]:
    """Person-days of the entries, most first."""
    counted = entries.filter(is_counted=True).order_by()
    rows = counted.values("person__full_name", "person__full_name_en", "person__username").annotate(
        halves=Count("pk"))
    return sorted(({"person": localized(row["person__full_name"] or row["person__username"],
                                        row["person__full_name_en"]),
                    "days": row["halves"] * Decimal("0.5")} for row in rows),
                  key=lambda row: (-row["days"], row["person"]))


@register_stage_activity("time")
def time_of_stage() -> QuerySet:
    """Half-days recorded with a stage of a model."""
    return TimeEntry.objects.counted().filter(model=OuterRef("model"), stage=OuterRef("stage"))


register_condition(ClosingCondition(
    code="time", label=_("Timesheets"),
    met=_("All time recorded is on timesheets that were answered."),
    open_of=counted(
        TimeEntry.objects.filter(Q(timesheet=None) | Q(timesheet__state="submitted")),
        lambda n: ngettext("%(n)d half-day is not confirmed by the customer.",
                           "%(n)d half-days are not confirmed by the customer.", n) % {"n": n}),
    url=lambda engagement: reverse("planning:timesheets", args=[engagement.code])))
register_condition(ClosingCondition(
    code="quotes", label=_("Quotes"), met=_("No quote waits for an answer."),
    open_of=counted(Quote.objects.filter(state=Quote.State.ISSUED), lambda n: ngettext(
        "%(n)d quote waits for the customer's answer.",
        "%(n)d quotes wait for the customer's answer.", n) % {"n": n}),
    url=lambda engagement: reverse("quotes:engagement", args=[engagement.code])))
register_condition(ClosingCondition(
    code="changes", label=_("Change requests"), met=_("No change request is being decided on."),
    open_of=counted(ChangeRequest.objects.filter(state="submitted"), lambda n: ngettext(
        "%(n)d change request is being decided on.",
        "%(n)d change requests are being decided on.", n) % {"n": n}),
    url=lambda engagement: reverse("planning:changes", args=[engagement.code])))
