"""Quoted, planned and used person-days of an engagement, and the margin."""

from collections import defaultdict
from decimal import Decimal

from django.db.models import Count, Sum

from delivery.planning.models import EffortEstimate, Grade, GradeCost, Timesheet
from delivery.quotes.models import Quote
from delivery.quotes.snapshot import facts_of
from engagements.models import Engagement

HALF_DAY = Decimal("0.5")


def agreed_quote(engagement: Engagement) -> Quote | None:
    """The newest quote that the customer accepted; where there is none, that was issued."""
    found = engagement.quotes.order_by("-issued_at", "-pk")
    return (found.filter(state=Quote.State.ACCEPTED).first()
            or found.filter(state=Quote.State.ISSUED).first())


def quoted_lines(engagement: Engagement) -> list[dict]:
    """Person-day lines of the agreed quote."""
    quote = agreed_quote(engagement)
    lines = facts_of(quote)["lines"] if quote else []
    return [line for line in lines if line["unit"] == "person_day"]


def current_estimate(engagement: Engagement) -> EffortEstimate | None:
    """The approved estimate; where none is approved, the newest."""
    approved = engagement.estimates.filter(state=EffortEstimate.State.APPROVED).first()
    return approved or engagement.estimates.first()


def days_by_grade(engagement: Engagement) -> list[dict]:
    """Per grade: quoted, planned (likely), used and confirmed days, and what is left."""
    estimate = current_estimate(engagement)
    planned = dict(estimate.lines.order_by().values_list("grade").annotate(Sum("likely"))
                   ) if estimate else {}
    used = dict(engagement.time_entries.counted().order_by().values_list("grade").annotate(
        Count("pk")))
    quoted, confirmed = quoted_days(engagement), confirmed_days(engagement)
    rows = []
    for grade in Grade:
        row = {"grade": grade.value, "label": grade.label,
               "quoted": quoted.get(grade.value, Decimal(0)),
               "planned": planned.get(grade, Decimal(0)), "used": used.get(grade, 0) * HALF_DAY,
               "confirmed": confirmed.get(grade.value, Decimal(0))}
        if row["quoted"] or row["planned"] or row["used"]:
            rows.append({**row, "rest": row["planned"] - row["used"]})
    return rows


def quoted_days(engagement: Engagement) -> dict[str, Decimal]:
    """Person-days of the quote in force, by grade."""
    days: dict[str, Decimal] = {}
    for line in quoted_lines(engagement):
        days[line["grade"]] = days.get(line["grade"], Decimal(0)) + Decimal(line["quantity"])
    return days


def confirmed_days(engagement: Engagement) -> dict[str, Decimal]:
    """Days that the customer confirmed so far, by grade."""
    found: dict[str, Decimal] = defaultdict(Decimal)
    for facts in engagement.timesheets.filter(
            state=Timesheet.State.CONFIRMED).values_list("facts", flat=True):
        for row in facts["grades"]:
            found[row["grade"]] += Decimal(row["days"])
    return dict(found)


def margin(engagement: Engagement) -> dict:
    """Quoted net fee of person-days, cost so far and at the end, margins in yuan and per cent.

    For managers only: the caller checks. `missing` names grades without a cost; then, and where
    no person-days were quoted, figures are None rather than misleading.
    """
    rows = days_by_grade(engagement)
    costs = {cost.grade: cost.day_cost for cost in GradeCost.objects.all()}
    missing = [row["label"] for row in rows
               if row["grade"] not in costs and (row["used"] or row["planned"])]
    lines = quoted_lines(engagement)
    fee = sum((Decimal(line["net"]) for line in lines), Decimal(0)) if lines else None
    if missing:
        return {"fee": fee, "missing": missing, "spent": None, "expected": None, "left": None,
                "percent": None}
    spent = sum((row["used"] * costs.get(row["grade"], 0) for row in rows), Decimal(0))
    expected = sum((max(row["planned"], row["used"]) * costs.get(row["grade"], 0)
                    for row in rows), Decimal(0))
    left = None if fee is None else fee - expected
    return {"fee": fee, "missing": [], "spent": spent, "expected": expected, "left": left,
            "percent": (left / fee * 100).quantize(Decimal("0.01")) if fee else None}
