"""What became of the engagements that were quoted: won or lost, by quarter, with the reasons."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from django.db.models import Min
from django.utils import timezone

from delivery.quotes.models import Quote
from engagements.models import Engagement

QUARTERS = (1, 2, 3, 4)
PRICED = ("currency", "exchange_rate", "quote_date")


@dataclass
class Outcome:
    """Engagements decided in one period; `amount` of those won, in yuan without tax.

    Attributes:
        unpriced: won with a quote in another currency whose exchange rate nobody entered: they are
            not in the amount.
    """

    won: int = 0
    lost: int = 0
    amount: Decimal = Decimal(0)
    unpriced: int = 0
    causes: Counter = field(default_factory=Counter)

    @property
    def rate(self) -> Decimal | None:
        """Won of all that were decided, a fraction; None where none was."""
        decided = self.won + self.lost
        return Decimal(self.won) / decided if decided else None

    @property
    def causes_shown(self) -> list[tuple[str, int]]:
        """Label and number of each cause, the commonest first."""
        return [(str(Engagement.LossCause(code).label), n) for code, n in self.causes.most_common()]

    def add(self, other: "Outcome") -> None:
        self.won += other.won
        self.lost += other.lost
        self.amount += other.amount
        self.unpriced += other.unpriced
        self.causes += other.causes


def outcomes_of(user, year: int) -> dict[int, Outcome]:
    """Of the engagements that the user may see, by quarter; 0 is the whole year.

    An engagement is won on the day on which its first quote was accepted, and lost on the day on
    which it was recorded as not won. Three queries.
    """
    found = {quarter: Outcome() for quarter in QUARTERS}
    scope = Engagement.objects.keys_visible_to(user)
    accepted = Quote.objects.filter(state=Quote.State.ACCEPTED, engagement__in=scope)
    won = {key: _quarter(at) for key, at in accepted.order_by().values("engagement").annotate(
        first=Min("answered_at")).values_list("engagement", "first")
        if timezone.localtime(at).year == year}
    for quarter in won.values():
        found[quarter].won += 1
    for key, totals, *priced in accepted.filter(engagement__in=won).values_list(
            "engagement", "snapshot__totals", *PRICED):
        part = found[won[key]]
        yuan = Quote(**dict(zip(PRICED, priced, strict=True))).money(Decimal(totals["net"])).yuan
        if yuan is None:
            part.unpriced += 1
        else:
            part.amount += yuan
    for cause, at in Engagement.objects.filter(
            pk__in=scope, state=Engagement.State.NOT_WON, ended_at__year=year).values_list(
            "loss_cause", "ended_at"):
        found[_quarter(at)].lost += 1
        found[_quarter(at)].causes[cause] += 1
    total = Outcome()
    for part in found.values():
        total.add(part)
    return {**found, 0: total}


def chosen_year(params: Mapping[str, str]) -> int:
    """The year that a query string asks for; this one for nonsense."""
    year = params.get("year", "")
    return (int(year) if year.isdecimal() and len(year) == 4 and year >= "2000"
            else timezone.localdate().year)


def _quarter(at) -> int:
    return (timezone.localtime(at).month + 2) // 3
