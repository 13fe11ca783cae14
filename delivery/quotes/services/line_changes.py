"""Lines added, changed and removed by agreement: what an issued quote becomes, in memory."""

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from decimal import Decimal

from django.db import models
from django.utils.translation import gettext_lazy as _

from delivery.quotes.models import PriceLine, Quote, QuoteLine
from delivery.quotes.services.lines import priced_line


class Action(models.TextChoices):
    ADD = "add", _("Add this item")
    CHANGE = "change", _("Change the line")
    REMOVE = "remove", _("Remove the line")


@dataclass(frozen=True)
class LineChange:
    """One line's change: `price` for an added line, `line` for the others."""

    action: str
    line: QuoteLine | None = None
    price: PriceLine | None = None
    quantity: Decimal | None = None
    months: Decimal = Decimal(1)
    unit_price: Decimal | None = None  # without it the price stays as it is listed


def changed_lines(quote: Quote, changes: Iterable[LineChange]) -> list[QuoteLine]:
    """The lines that the quote would have, as copies; its stored lines are not touched.

    Raises InvalidInput for an item without a price.
    """
    changes = list(changes)
    of_line = {change.line.pk: change for change in changes if change.line}
    kept = [_changed(line, of_line.get(line.pk)) for line in quote.lines.all()
            if line.pk not in of_line or of_line[line.pk].action != Action.REMOVE]
    last = max((line.position for line in kept), default=0)
    added = [change for change in changes if change.action == Action.ADD]
    return [*kept, *(_added(quote, change, last + n) for n, change in enumerate(added, 1))]


def _changed(line: QuoteLine, change: LineChange | None) -> QuoteLine:
    found = copy(line)
    if change:
        found.quantity, found.months = change.quantity, change.months
        found.unit_price = line.unit_price if change.unit_price is None else change.unit_price
    return found


def _added(quote: Quote, change: LineChange, position: int) -> QuoteLine:
    line = priced_line(quote, change.price, change.quantity, change.months, position)
    if change.unit_price is not None:
        line.unit_price = change.unit_price
    return line


def changed_staffing(quote: Quote, lines: list[QuoteLine]) -> list[dict]:
    """The staffing plan with the days that the new lines add or take; [] where none is kept."""
    if not quote.staffing:
        return []
    before, after = person_days(quote.lines.all()), person_days(lines)
    plan = {entry["grade"]: dict(entry) for entry in quote.staffing}
    for grade in sorted(before.keys() | after.keys()):
        more = after.get(grade, Decimal(0)) - before.get(grade, Decimal(0))
        entry = plan.setdefault(grade, {"grade": grade, "people": None, "days": "0"})
        entry["days"] = f"{(Decimal(entry['days']) + more).normalize():f}"
    return [entry for entry in plan.values() if Decimal(entry["days"]) > 0]


def person_days(lines: Iterable[QuoteLine]) -> dict[str, Decimal]:
    """Person-days of lines by grade."""
    days: dict[str, Decimal] = {}
    for line in lines:
        if line.unit == "person_day":
            days[line.grade] = days.get(line.grade, Decimal(0)) + line.quantity
    return days
