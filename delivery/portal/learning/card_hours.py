"""Card hours of engagements beside what was quoted for their resources."""

from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal

from django.utils import timezone

from delivery.agreement.models import Agreement
from delivery.agreement.queries import contracted
from delivery.quotes.models import PriceLine, Quote, QuoteLine
from engagements.models import Engagement, User
from workers.card_usage import Question, leases_of

MOST = 100  # engagements whose agreements are read
HOURS = Decimal("0.01")


@dataclass
class CardHours:
    """An engagement's card hours in the period, by model, and its quoted resource lines.

    `amount`: quoted for resources, tax included; None where none was. `per_hour`: of that amount
    for each card hour held in the period; None where nobody can say.
    """

    engagement: Engagement
    hours: Decimal
    models: dict[str, Decimal]
    resources: str
    amount: Decimal | None
    currency: str

    @property
    def per_hour(self) -> Decimal | None:
        if self.amount is None or not self.hours:
            return None
        return (self.amount / self.hours).quantize(HOURS)


def card_hours(user: User, asked: Question) -> list[CardHours]:
    """Of the engagements that the user sees and whose jobs held cards in the period, most hours
    first, at most MOST."""
    hours: dict[int, Decimal] = defaultdict(Decimal)
    models: dict[int, dict[str, Decimal]] = defaultdict(lambda: defaultdict(Decimal))
    for held in leases_of(user, asked, timezone.now()):
        if held.job is None or held.job.engagement_id is None:
            continue
        key, spent = held.job.engagement_id, Decimal(held.hours)
        hours[key] += spent
        models[key][held.job.model.code if held.job.model else "--"] += spent
    most = sorted(hours, key=lambda key: -hours[key])[:MOST]
    engagements = Engagement.objects.select_related("customer").in_bulk(most)
    agreements, lines = contracted(most), _resource_lines(most)
    return [_row(engagements[key], hours[key], models[key], agreements.get(key), lines[key])
            for key in most]


def _resource_lines(keys: list[int]) -> dict[int, list[str]]:
    """Of the agreed or offered quotes, by engagement: how many of what for how many months."""
    quotes = Quote.objects.without_facts().agreed(keys)
    found: dict[int, list[str]] = defaultdict(list)
    for line in QuoteLine.objects.filter(
            category=PriceLine.Category.RESOURCE,
            quote__in=[quote.pk for rows in quotes.values() for quote in rows]).select_related(
            "quote"):
        found[line.quote.engagement_id].append(
            f"{line.localized_name} {line.quantity.normalize():f} × {line.months.normalize():f}")
    return found


def _row(engagement: Engagement, hours: Decimal, models: dict[str, Decimal],
         agreement: Agreement | None, lines: list[str]) -> CardHours:
    price = agreement and agreement.value("price")
    return CardHours(
        engagement, hours.quantize(HOURS),
        {code: spent.quantize(HOURS) for code, spent in sorted(models.items())},
        " · ".join(lines), Decimal(price["resources"]) if price and lines else None,
        price["currency"] if price else "")
