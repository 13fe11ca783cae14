"""The portfolio as a whole: order by any column, groups, totals and averages.

Figures of engagements are computed, not stored; so these are for as many engagements as can be
computed at once. Beyond WHOLE the page says that the filter has to leave fewer.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from delivery.portal.portfolio.columns import COLUMNS, Column
from delivery.portal.portfolio.rows import SORTS, PortfolioRow

WHOLE = 200  # engagements whose figures are computed for one page, where that is asked for
FEW = 60  # of which totals are shown unasked


@dataclass(frozen=True)
class Grouping:
    """What rows are put together by."""

    label: Any
    of: Callable[[PortfolioRow], str]


def _quarter(row: PortfolioRow) -> str:
    day = row.engagement.ends_on
    return f"{day:%Y} Q{(day.month + 2) // 3}" if day else ""


GROUPS = {
    "customer": Grouping(gettext_lazy("Customer"),
                         lambda row: row.engagement.customer.localized_name),
    "owner": Grouping(gettext_lazy("Owner"), lambda row: row.owner),
    "state": Grouping(gettext_lazy("State"), lambda row: row.engagement.get_state_display()),
    "stage": Grouping(gettext_lazy("Next gate"), lambda row: row.next_gate),
    "quarter": Grouping(gettext_lazy("Quarter of the agreed end"), _quarter),
}
# Columns whose figures of several engagements add up; of the others the average alone says much.
ADDED = frozenset({"late", "quoted", "days", "days_quoted", "days_planned", "risks", "failing"})


@dataclass
class Group:
    """Rows under a heading, with their sums and averages by column; "" is all of them."""

    label: str
    rows: list[PortfolioRow]
    totals: dict[str, Decimal]
    averages: dict[str, Decimal]


def needs_whole(params) -> bool:
    """Whether what is asked for needs the figures of all rows."""
    asked = params.get("sort", "").removeprefix("-")
    return params.get("group") in GROUPS or (
        asked not in SORTS and any(column.code == asked for column in COLUMNS))


def sorted_rows(rows: Iterable[PortfolioRow], asked: str) -> list[PortfolioRow]:
    """By a column's value; rows without one stand last. As they are where no column is named."""
    column = next((each for each in COLUMNS if each.code == asked.removeprefix("-")), None)
    rows = list(rows)
    if column is None or asked.removeprefix("-") in SORTS:
        return rows
    known = [row for row in rows if column.value(row) not in (None, "")]
    known.sort(key=lambda row: _comparable(column.value(row)), reverse=asked.startswith("-"))
    return known + [row for row in rows if column.value(row) in (None, "")]


def _comparable(value: Any) -> Any:
    return value if isinstance(value, (int, Decimal)) else str(value)


def grouped(rows: list[PortfolioRow], columns: list[Column], by: str) -> list[Group]:
    """The groups by their names, those without a name last; one of all rows where `by` is none."""
    if by not in GROUPS:
        return [_group("", rows, columns)]
    found: dict[str, list[PortfolioRow]] = {}
    for row in rows:
        found.setdefault(GROUPS[by].of(row), []).append(row)
    return [_group(name or _("not known"), found[name], columns)
            for name in sorted(found, key=lambda name: (not name, name))]


def _group(label: str, rows: list[PortfolioRow], columns: list[Column]) -> Group:
    totals, averages = {}, {}
    for column in columns:
        values = [Decimal(value) for row in rows
                  if column.is_number and (value := column.value(row)) is not None]
        if not values:
            continue
        if column.code in ADDED:
            totals[column.code] = sum(values, Decimal(0))
        averages[column.code] = (sum(values, Decimal(0)) / len(values)).quantize(Decimal("0.01"))
    return Group(label, rows, totals, averages)
