"""Quoted, planned and used person-days and the margin, of one or of many engagements at once."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property

from django.db.models import Count, OuterRef, Subquery, Sum
from django.utils import timezone

from delivery.agreement.models import Agreement
from delivery.agreement.queries import contracted
from delivery.planning.models import EffortEstimate, Grade, GradeCost, TimeEntry

HALF_DAY = Decimal("0.5")
CENT = Decimal("0.01")
ZERO = Decimal(0)


@dataclass
class Effort:
    """Of one engagement: what was agreed, or offered, and days by grade."""

    agreement: Agreement | None = None
    planned: dict[str, Decimal] = field(default_factory=dict)
    used: dict[str, Decimal] = field(default_factory=dict)
    # What the used days cost on the day of the work; None where a grade had no cost then.
    spent: dict[str, Decimal | None] = field(default_factory=dict)

    @cached_property
    def quoted(self) -> dict[str, Decimal]:
        """Agreed person-days, by grade."""
        found = self.agreement and self.agreement.value("effort")
        return {grade: Decimal(days) for grade, days in found["grades"].items()} if found else {}

    @property
    def quoted_amount(self) -> Decimal | None:
        """Net price in yuan; None without one or its exchange rate."""
        return self._in_yuan("net")

    @property
    def fee(self) -> Decimal | None:
        """Net fee of the person-days in yuan; None where none were agreed or no rate is known."""
        return self._in_yuan("services") if self.quoted else None

    @property
    def rates(self) -> list[dict[str, str]]:
        """How prices in other currencies became yuan: `currency`, `rate`, `on`."""
        price = self.agreement and self.agreement.value("price")
        return price["yuan"].get("rates", []) if price else []

    def _in_yuan(self, part: str) -> Decimal | None:
        price = self.agreement and self.agreement.value("price")
        amount = price and price["yuan"][part]
        return Decimal(amount) if amount else None

    @property
    def days_quoted(self) -> Decimal:
        return sum(self.quoted.values(), Decimal(0))

    @property
    def days_planned(self) -> Decimal:
        return sum(self.planned.values(), Decimal(0))

    @property
    def days_used(self) -> Decimal:
        return sum(self.used.values(), Decimal(0))

    def margin(self, costs: dict[str, Decimal], *, is_over: bool = False) -> dict:
        """Net fee of the person-days, cost so far and at the end, what is left, in yuan and per
        cent: the expected margin; of an engagement that is over the actual one (`is_actual`).

        Used days cost what they cost on their day, planned ones that are not used yet what `costs`
        says, and nothing once the engagement is over. `missing` names grades without a cost; then,
        and where the fee is not known, figures are None rather than misleading.
        """
        planned = {} if is_over else self.planned
        grades = {grade for grade in Grade.values if planned.get(grade) or self.used.get(grade)}
        missing = [str(grade.label) for grade in Grade if grade in grades and (
            (grade in planned and grade not in costs) or self.spent.get(grade, ZERO) is None)]
        fee = self.fee
        if missing:
            return {"fee": fee, "missing": missing, "is_actual": is_over, "spent": None,
                    "expected": None, "left": None, "percent": None}
        spent = sum((self.spent.get(g, ZERO) for g in grades), ZERO)
        expected = spent + sum((max(planned.get(g, ZERO) - self.used.get(g, ZERO), ZERO)
                                * costs[g] for g in grades if planned.get(g)), ZERO)
        left = None if fee is None else fee - expected
        return {"fee": fee, "missing": [], "is_actual": is_over, "spent": spent,
                "expected": expected, "left": left,
                "percent": (left / fee * 100).quantize(CENT) if fee else None}


def efforts_of(engagements: Collection[int]) -> dict[int, Effort]:
    """By engagement key; five queries for any number of them."""
    found: dict[int, Effort] = defaultdict(Effort)
    for key, agreement in contracted(engagements).items():
        found[key].agreement = agreement
    for key, days in _planned(engagements).items():
        found[key].planned = days
    cost = GradeCost.objects.filter(
        grade=OuterRef("grade"), valid_from__lte=OuterRef("work_date")).order_by("-valid_from")
    used = TimeEntry.objects.filter(engagement__in=engagements).counted().order_by().annotate(
        day_cost=Subquery(cost.values("day_cost")[:1])).values_list("engagement", "grade").annotate(
        Count("pk"), Count("day_cost"), Sum("day_cost"))
    for engagement, grade, halves, costed, costs in used:
        found[engagement].used[grade] = halves * HALF_DAY
        found[engagement].spent[grade] = costs * HALF_DAY if costed == halves else None
    return found


def _planned(engagements: Collection[int]) -> dict[int, dict[str, Decimal]]:
    """Days by grade of each engagement's approved estimate, else of the newest."""
    rows = EffortEstimate.objects.filter(engagement__in=engagements).order_by().values_list(
        "engagement", "state", "version", "lines__grade").annotate(Sum("lines__likely"))
    found: dict[int, dict[tuple, dict[str, Decimal]]] = defaultdict(lambda: defaultdict(dict))
    for key, state, version, grade, days in rows:
        estimate = found[key][state == EffortEstimate.State.APPROVED, version]
        if grade:
            estimate[grade] = days
    return {key: estimates[max(estimates)] for key, estimates in found.items()}


def grade_costs() -> dict[str, Decimal]:
    """What a person-day costs the firm today, by grade."""
    return GradeCost.objects.on(timezone.localdate())
