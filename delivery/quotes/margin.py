"""Internal cost and margin of a quote: for the firm only, never part of the snapshot."""

from dataclasses import dataclass
from decimal import Decimal

from delivery.quotes.models import Quote
from delivery.quotes.money import to_cents
from delivery.quotes.snapshot import LineRow, amounts_of, line_rows


@dataclass(frozen=True)
class Margin:
    """Cost and margin without tax; `unknown` lines have no cost and are left out of both."""

    net: Decimal
    cost: Decimal
    unknown: int

    @property
    def margin(self) -> Decimal:
        return self.net - self.cost

    @property
    def rate(self) -> Decimal | None:
        """Margin as a fraction of the net amount; None without one."""
        return self.margin / self.net if self.net else None


def margin_of(quote: Quote, lines: list[LineRow] | None = None) -> Margin:
    """Cost and margin of the lines whose cost is known, after the discount.

    Args:
        lines: the figures of all lines, where they are known already.
    """
    net = cost = Decimal(0)
    unknown = 0
    for line in line_rows(quote) if lines is None else lines:
        if line.unit_cost is None:
            unknown += 1
            continue
        net += amounts_of(line, quote.discount_rate).net
        cost += to_cents(line.unit_cost * line.quantity * line.months)
    return Margin(net, cost, unknown)
