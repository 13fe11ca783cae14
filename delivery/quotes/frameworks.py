"""What is called off from framework contracts and what is left."""

from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal

from django.db.models.fields.json import KT

from delivery.quotes.models import FrameworkContract, Quote

ZERO = Decimal(0)
GROSS = KT("snapshot__totals__gross")  # as text: SQLite's own reading of JSON makes it a float


@dataclass
class Usage:
    """Sums of the call-offs of one contract, incl. tax, in its currency.

    Attributes:
        accepted: of quotes that the customer accepted.
        offered: of those that were issued and wait for an answer.
    """

    ceiling: Decimal | None
    accepted: Decimal = ZERO
    offered: Decimal = ZERO

    @property
    def left(self) -> Decimal | None:
        """What can still be accepted; None without a ceiling."""
        return None if self.ceiling is None else self.ceiling - self.accepted


def usage_of(contracts: Collection[FrameworkContract], without: str = "") -> dict[int, Usage]:
    """By the contract's key; one query for any number of them.

    Args:
        without: number of a quote whose versions are left out.
    """
    found = {contract.pk: Usage(contract.ceiling) for contract in contracts}
    quotes = Quote.objects.in_force().filter(framework__in=found).exclude(number=without)
    for key, state, gross in quotes.values_list("framework", "state", GROSS):
        if state == Quote.State.ACCEPTED:
            found[key].accepted += Decimal(gross)
        else:
            found[key].offered += Decimal(gross)
    return found


def left_for(quote: Quote) -> Decimal | None:
    """What is left of the contract for this quote, whose own accepted versions it would replace;
    None without a ceiling."""
    return usage_of([quote.framework], without=quote.number)[quote.framework_id].left
