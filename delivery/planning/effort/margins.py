"""Quoted, planned and used person-days and the margin, of one or of many engagements at once."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property

from django.db.models import Count, Sum

from delivery.planning.models import EffortEstimate, EffortLine, Grade, GradeCost, TimeEntry
from delivery.quotes.margin import in_yuan
from delivery.quotes.models import Quote
from delivery.quotes.snapshot import facts_of

HALF_DAY = Decimal("0.5")
CENT = Decimal("0.01")
AGREED = (Quote.State.ACCEPTED, Quote.State.ISSUED)


@dataclass
class Effort:
    """Of one engagement: its agreed quote, and days by grade."""

    quote: Quote | None = None
    planned: dict[str, Decimal] = field(default_factory=dict)
    used: dict[str, Decimal] = field(default_factory=dict)

    @cached_property
    def quoted_lines(self) -> list[dict]:
        """Person-day lines of the agreed quote; it is frozen, so its snapshot holds them."""
        lines = facts_of(self.quote)["lines"] if self.quote else []
        return [line for line in lines if line["unit"] == "person_day"]

    @cached_property
    def quoted(self) -> dict[str, Decimal]:
        """Person-days of the agreed quote, by grade."""
        days: dict[str, Decimal] = defaultdict(Decimal)
        for line in self.quoted_lines:
            days[line["grade"]] += Decimal(line["quantity"])
        return days

    @property
    def quoted_amount(self) -> Decimal | None:
        """Net amount of the agreed quote in yuan; None without one or without its exchange rate."""
        if self.quote is None:
            return None
        return in_yuan(self.quote, Decimal(facts_of(self.quote)["totals"]["net"]))

    @property
    def fee(self) -> Decimal | None:
        """Net fee of the person-days in yuan; None where none were quoted or no rate is known."""
        if self.quote is None or not self.quoted_lines:
            return None
        return in_yuan(self.quote, sum((Decimal(line["net"]) for line in self.quoted_lines),
                                       Decimal(0)))

    @property
    def days_quoted(self) -> Decimal:
        return sum(self.quoted.values(), Decimal(0))

    @property
    def days_planned(self) -> Decimal:
        return sum(self.planned.values(), Decimal(0))

    @property
    def days_used(self) -> Decimal:
        return sum(self.used.values(), Decimal(0))

    def margin(self, costs: dict[str, Decimal]) -> dict:
        """Net fee of the person-days, cost so far and at the end, what is left, in yuan and per
        cent. `missing` names grades without a cost; then, and where the fee is not known, figures
        are None rather than misleading.
        """
        grades = {grade for grade in Grade.values
                  if self.planned.get(grade) or self.used.get(grade)}
        missing = [str(grade.label) for grade in Grade if grade in grades - set(costs)]
        fee = self.fee
        if missing:
            return {"fee": fee, "missing": missing, "spent": None, "expected": None,
                    "left": None, "percent": None}
        zero = Decimal(0)
        spent = sum((self.used.get(g, zero) * costs[g] for g in grades), zero)
        expected = sum((max(self.planned.get(g, zero), self.used.get(g, zero)) * costs[g]
                        for g in grades), zero)
        left = None if fee is None else fee - expected
        return {"fee": fee, "missing": [], "spent": spent, "expected": expected, "left": left,
                "percent": (left / fee * 100).quantize(CENT) if fee else None}


def efforts_of(engagements: Collection[int]) -> dict[int, Effort]:
    """By engagement key; four queries for any number of them."""
    found: dict[int, Effort] = defaultdict(Effort)
    for quote in agreed_quotes(engagements):
        found[quote.engagement_id].quote = quote
    chosen = _estimates(engagements)
    rows = EffortLine.objects.filter(estimate__in=chosen).order_by().values_list(
        "estimate", "grade").annotate(Sum("likely"))
    for estimate, grade, days in rows:
        found[chosen[estimate]].planned[grade] = days
    used = TimeEntry.objects.filter(engagement__in=engagements).counted().order_by().values_list(
        "engagement", "grade").annotate(Count("pk"))
    for engagement, grade, halves in used:
        found[engagement].used[grade] = halves * HALF_DAY
    return found


def agreed_quotes(engagements: Collection[int]) -> list[Quote]:
    """Of each engagement the newest quote that the customer accepted, else that was issued."""
    rows = Quote.objects.filter(engagement__in=engagements, state__in=AGREED).order_by(
        "issued_at", "pk")
    chosen: dict[int, Quote] = {}
    for quote in sorted(rows, key=lambda row: row.state == Quote.State.ACCEPTED):
        chosen[quote.engagement_id] = quote
    return list(chosen.values())


def _estimates(engagements: Collection[int]) -> dict[int, int]:
    """Of each engagement the approved estimate, else the newest; the engagement by estimate."""
    rows = EffortEstimate.objects.filter(engagement__in=engagements).order_by("version").values(
        "pk", "engagement", "state")
    chosen: dict[int, int] = {}
    for row in sorted(rows, key=lambda row: row["state"] == EffortEstimate.State.APPROVED):
        chosen[row["engagement"]] = row["pk"]
    return {estimate: engagement for engagement, estimate in chosen.items()}


def grade_costs() -> dict[str, Decimal]:
    """What a person-day costs the firm, by grade."""
    return {cost.grade: cost.day_cost for cost in GradeCost.objects.all()}
