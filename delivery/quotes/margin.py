"""Internal cost and margin of a quote: for the firm only, never part of the snapshot."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from delivery.quotes.models import Quote
from delivery.quotes.money import to_cents
from delivery.quotes.snapshot import LineRow, amounts_of, line_rows

PERSON_DAY = "person_day"
LINE, GRADE = "line", "grade"  # where a cost comes from: the line itself, or its grade


@dataclass(frozen=True)
class LineMargin:
    """Cost and margin of one line without tax, in the quote's currency; None where unknown."""

    code: str
    name: str
    grade: str
    net: Decimal
    cost: Decimal | None
    source: str

    @property
    def margin(self) -> Decimal | None:
        return None if self.cost is None else self.net - self.cost

    @property
    def rate(self) -> Decimal | None:
        """Margin as a fraction of the net amount; None without one."""
        return self.margin / self.net if self.net and self.margin is not None else None


@dataclass(frozen=True)
class Margin:
    """Cost and margin without tax; `unknown` lines have no cost and are left out of both."""

    lines: list[LineMargin]

    @property
    def known(self) -> list[LineMargin]:
        return [line for line in self.lines if line.cost is not None]

    @property
    def unknown(self) -> int:
        return len(self.lines) - len(self.known)

    @property
    def net(self) -> Decimal:
        return sum((line.net for line in self.known), Decimal(0))

    @property
    def cost(self) -> Decimal | None:
        """None where the cost of no line is known."""
        costs = [line.cost for line in self.known if line.cost is not None]
        return sum(costs, Decimal(0)) if costs else None

    @property
    def margin(self) -> Decimal | None:
        return None if self.cost is None else self.net - self.cost

    @property
    def rate(self) -> Decimal | None:
        """Margin as a fraction of the net amount; None without one."""
        return self.margin / self.net if self.net and self.margin is not None else None


_day_costs: list[Callable[[date], dict[str, Decimal]]] = []


def register_day_costs(source: Callable[[date], dict[str, Decimal]]) -> None:
    """Where the cost of a person-day by grade on a day, in yuan, is asked for."""
    _day_costs.append(source)


def margin_of(quote: Quote, lines: list[LineRow] | None = None) -> Margin:
    """Cost and margin of each line, after the discount.

    A line's own cost counts; person-days without one cost what their grade cost on the day of the
    quote.

    Args:
        lines: the figures of all lines, where they are known already.
    """
    days = {grade: cost for source in _day_costs for grade, cost in source(
        quote.quote_date).items()}
    return Margin([_line(line, quote, days)
                   for line in (line_rows(quote) if lines is None else lines)])


def _line(line: LineRow, quote: Quote, days: dict[str, Decimal]) -> LineMargin:
    cost, source = line.unit_cost, LINE
    rate = quote.yuan_rate
    if cost is None and rate and line.unit == PERSON_DAY and line.grade in days:
        cost, source = days[line.grade] / rate, GRADE
    return LineMargin(
        line.code, line.name, line.grade, amounts_of(line, quote.discount_rate).net,
        None if cost is None else to_cents(cost * line.quantity * line.months),
        "" if cost is None else source)
