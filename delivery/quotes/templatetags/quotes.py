"""Filters of the quotation's pages and document."""

from decimal import Decimal

from django import template

from assessments.performance.rounds import History
from delivery.quotes.benefit import benefits_of
from delivery.quotes.quote_labels import CHECKS, STEPS
from delivery.quotes.snapshot import grade_label, percent, quantity_label, unit_label
from engagements.models import MigratedModel

register = template.Library()


@register.inclusion_tag("delivery/quotes/benefit.html")
def benefit(model: MigratedModel, known: History) -> dict:
    """What the model's tuning is worth."""
    return {"benefits": benefits_of(model, known)}


@register.filter
def amount(value, symbol: str = "") -> str:
    """Thousands separators and two decimals behind a currency's symbol; -- for no data."""
    return "--" if value in (None, "") else f"{symbol}{Decimal(value):,.2f}"


@register.filter
def unit_amount(value, symbol: str = "") -> str:
    """A unit price with all digits that multiply, two at least; -- for no data."""
    if value in (None, ""):
        return "--"
    price = Decimal(value)
    digits = max(2, -price.normalize().as_tuple().exponent)
    return f"{symbol}{price:,.{digits}f}"


@register.filter
def signed(value) -> str:
    """An amount with its sign."""
    return "--" if value in (None, "") else f"{Decimal(value):+,.2f}"


@register.filter
def as_percent(value) -> str:
    """A fraction as 12.32 %; -- for no data."""
    return "--" if value is None else f"{Decimal(value) * 100:.2f} %"


@register.simple_tag
def quote_labels(fact: dict) -> dict:
    """Grade, quantity and tax rate of a line's facts in the active language."""
    return {"grade": grade_label(fact["grade"]), "quantity": quantity_label(fact),
            "rate": percent(fact["tax_rate"])}


@register.simple_tag
def unit_of(line) -> str:
    """The unit of a price in the active language."""
    return unit_label(line.unit)


@register.filter
def step_label(action: str) -> str:
    """A step of a quote's history in words; an unknown one as it stands."""
    return str(STEPS.get(action, action))


@register.filter
def check_label(code: str) -> str:
    """What a check is about; the code of a rule stands behind it."""
    label = CHECKS.get(code, code)
    return f"{label} · {code}" if code.startswith("R-") else str(label)
