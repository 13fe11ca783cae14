"""The columns of the portfolio: which there are, who sees them, how a cell reads."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from delivery.portal.portfolio.rows import PortfolioRow
from engagements.access import Can, allowed
from engagements.models import User
from engagements.text.text_joining import listed


@dataclass(frozen=True, kw_only=True)
class Column:
    """`value`: what is exported and shown, a number or words; `sort`: key of `rows.SORTS`, empty
    where the figures of all rows are needed for it; `is_wanted`: shown unless somebody chooses
    others."""

    code: str
    label: Any
    value: Callable[[PortfolioRow], Any]
    sort: str = ""
    is_number: bool = False
    is_wanted: bool = True
    needs: Can | None = None

    @property
    def sort_key(self) -> str:
        """How the address names it."""
        return self.sort or self.code


COLUMNS = (
    Column(code="code", label=_("Code"), sort="code", value=lambda r: r.engagement.code),
    Column(code="name", label=_("Name"), sort="name", value=lambda r: r.engagement.localized_name),
    Column(code="customer", label=_("Customer"), sort="customer", is_wanted=False,
           value=lambda r: r.engagement.customer.localized_name),
    Column(code="owner", label=_("Owner"), value=lambda r: r.owner),
    Column(code="state", label=_("State"), sort="state", is_wanted=False,
           value=lambda r: r.engagement.get_state_display()),
    Column(code="progress", label=_("Stages passed"), is_number=True,
           value=lambda r: r.percent_passed),
    Column(code="next_gate", label=_("Next gate"), value=lambda r: r.next_gate),
    Column(code="due", label=_("Agreed end"), sort="ends_on",
           value=lambda r: r.engagement.ends_on),
    Column(code="late", label=_("Days late"), is_number=True, is_wanted=False,
           value=lambda r: r.days_late or None),
    Column(code="quoted", label=_("Quoted (CNY, excl. tax)"), is_number=True, needs=Can.PRICE,
           value=lambda r: r.effort.quoted_amount),
    Column(code="rates", label=_("Exchange rates"), is_wanted=False, needs=Can.PRICE,
           value=lambda r: exchange_rates(r) or None),
    Column(code="days", label=_("Days used / quoted"), is_number=True,
           value=lambda r: r.effort.days_used),
    Column(code="days_quoted", label=_("Days quoted"), is_number=True, is_wanted=False,
           value=lambda r: r.effort.days_quoted or None),
    Column(code="days_planned", label=_("Days planned"), is_number=True, is_wanted=False,
           value=lambda r: r.effort.days_planned or None),
    Column(code="margin", label=_("Expected or actual margin %"), is_number=True, needs=Can.MANAGE,
           value=lambda r: r.margin.get("percent")),
    Column(code="risks", label=_("Open risks"), is_number=True, value=lambda r: r.open_risks),
    Column(code="failing", label=_("Failing criteria"), is_number=True,
           value=lambda r: r.failing_criteria),
    Column(code="decision", label=_("Customer's decision"), is_wanted=False,
           value=lambda r: r.outcome_label or None),
)
ALWAYS = ("code", "name")  # without them a row cannot be told


def exchange_rates(row: PortfolioRow) -> str:
    """How prices in other currencies became yuan; empty where all were in yuan."""
    return listed(f"{rate['currency']} {rate['rate']} ({rate['on']})" for rate in row.effort.rates)


def columns_for(user: User) -> list[Column]:
    """The columns that the user's role may see."""
    return [column for column in COLUMNS if column.needs is None or allowed(user, column.needs)]


def chosen_columns(user: User, codes: list[str]) -> list[Column]:
    """Those that were asked for, in the table's order; without a choice the usual ones."""
    mine = columns_for(user)
    wanted = {*ALWAYS, *codes} if codes else {c.code for c in mine if c.is_wanted}
    return [column for column in mine if column.code in wanted]


def columns_with_days(user: User, codes: list[str]) -> list[Column]:
    """For the file: the same with what a page shows a part of: quoted, planned and used days, and
    the rates of the amounts."""
    shown = {column.code for column in chosen_columns(user, codes)}
    shown |= {"days_quoted", "days_planned", "days"} | ({"rates"} if "quoted" in shown else set())
    return [column for column in columns_for(user) if column.code in shown]
