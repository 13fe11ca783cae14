"""Quoted, planned and used person-days of an engagement, and the margin."""

from collections import defaultdict
from decimal import Decimal

from delivery.planning.effort.margins import Effort, efforts_of, grade_costs
from delivery.planning.models import EffortEstimate, Grade, Timesheet
from delivery.quotes.models import Quote
from engagements.models import Engagement


def agreed_quote(engagement: Engagement) -> Quote | None:
    """The newest of the agreed quotes: what a change revises unless another one is chosen."""
    return next(reversed(Quote.objects.agreed([engagement.pk]).get(engagement.pk, [])), None)


def current_estimate(engagement: Engagement) -> EffortEstimate | None:
    """The approved estimate; where none is approved, the newest."""
    approved = engagement.estimates.filter(state=EffortEstimate.State.APPROVED).first()
    return approved or engagement.estimates.first()


def days_by_grade(engagement: Engagement) -> list[dict]:
    """Per grade: quoted, planned (likely), used and confirmed days, and what is left."""
    effort, confirmed = effort_of(engagement), confirmed_days(engagement)
    quoted, zero = effort.quoted, Decimal(0)
    rows = []
    for grade in Grade:
        row = {"grade": grade.value, "label": grade.label,
               "quoted": quoted.get(grade.value, zero),
               "planned": effort.planned.get(grade, zero), "used": effort.used.get(grade, zero),
               "confirmed": confirmed.get(grade.value, zero)}
        if row["quoted"] or row["planned"] or row["used"]:
            rows.append({**row, "rest": row["planned"] - row["used"]})
    return rows


def effort_of(engagement: Engagement) -> Effort:
    """What was agreed and the days of one engagement."""
    return efforts_of([engagement.pk])[engagement.pk]


def quoted_days(engagement: Engagement) -> dict[str, Decimal]:
    """Agreed person-days, by grade."""
    return effort_of(engagement).quoted


def confirmed_days(engagement: Engagement) -> dict[str, Decimal]:
    """Days that the customer confirmed so far, by grade."""
    found: dict[str, Decimal] = defaultdict(Decimal)
    for facts in engagement.timesheets.filter(
            state=Timesheet.State.CONFIRMED).values_list("facts", flat=True):
        for row in facts["grades"]:
            found[row["grade"]] += Decimal(row["days"])
    return dict(found)


def margin(engagement: Engagement) -> dict:
    """Fee, cost and margin of the person-days; see `Effort.margin`.

    For managers only: the caller checks.
    """
    return effort_of(engagement).margin(
        grade_costs(), is_over=engagement.has_ended)
