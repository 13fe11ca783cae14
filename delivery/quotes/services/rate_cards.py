"""Price lists: the starting one, their end, and what their printed totals are worth."""

from datetime import date
from decimal import Decimal

from django.db import transaction
from django.utils.translation import gettext as _

from delivery.quotes import standard_price_lists
from delivery.quotes.models import PriceLine, RateCard
from delivery.quotes.money import to_cents
from delivery.quotes.tax_and_discounts import load_standards
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput
from engagements.models import User


@transaction.atomic
def load_rate_cards(*, actor: User) -> RateCard:
    """The starting price list, tax rates, currencies and limits; existing ones stay."""
    is_new = load_standards()
    card, created = RateCard.objects.get_or_create(
        name="2025 标准价目表", defaults={
            "valid_from": date(2025, 1, 1), "stated_total": standard_price_lists.STATED_TOTAL,
            "source": "解决方案指南 V01（2025-06-25）；服务单价：2023 年基准人月费率样例"})
    if created:
        PriceLine.objects.bulk_create([*_resources(card), *_services(card), _travel(card)])
    if created or is_new:
        audit_log.record(actor=actor, action="rate_card.load", target=card,
                         data={"printed_total": str(card.stated_total),
                               "computed_total": str(computed_total(card))})
    return card


def _resources(card: RateCard) -> list[PriceLine]:
    return [PriceLine(
        card=card, position=n, category="resource", code=code, name=name, name_en=name_en,
        specification=spec, specification_en=spec_en, unit="month", quantity=quantity,
        line_fee=Decimal(fee), unit_price=Decimal(fee) / quantity)
        for n, (code, name, name_en, spec, spec_en, quantity, fee)
        in enumerate(standard_price_lists.RESOURCES, 1)]


def _services(card: RateCard) -> list[PriceLine]:
    """Services; their prices are a public sample times a factor, and say so."""
    month, days = standard_price_lists.MONTH_RATE, standard_price_lists.DAYS_PER_MONTH
    return [PriceLine(
        card=card, position=100 + n, category=category, code=code, name=name, name_en=name_en,
        specification=spec, specification_en=spec_en, grade=grade, unit="person_day", quantity=1,
        stage=standard_price_lists.STAGES.get(code, ""),
        unit_price=to_cents(
            standard_price_lists.DAY_RATE * standard_price_lists.GRADE_FACTORS[grade]),
        basis=f"样例值：2023 年基准（西安）{month:,} 元/人月 ÷ {days} × {factor}，请换成本公司费率",
        basis_en=f"Sample: 2023 benchmark (Xi'an), {month:,} yuan per person-month ÷ {days} × "
                 f"{factor}; replace by the firm's own rate")
        for n, (code, category, name, name_en, grade, spec, spec_en)
        in enumerate(standard_price_lists.SERVICES)
        for factor in [standard_price_lists.GRADE_FACTORS[grade]]]


def _travel(card: RateCard) -> PriceLine:
    code, category, name, name_en, unit, spec, spec_en = standard_price_lists.TRAVEL
    return PriceLine(card=card, position=200, category=category, code=code, name=name,
                     name_en=name_en, specification=spec, specification_en=spec_en, unit=unit)


@transaction.atomic
def close_rate_card(*, actor: User, card: RateCard, valid_to: date) -> RateCard:
    """End the validity of a price list; quotes keep the prices they copied."""
    require(actor, Can.PRICE)
    card = RateCard.objects.select_for_update(of=("self",), no_key=True).get(pk=card.pk)
    if valid_to < card.valid_from:
        raise InvalidInput(_("The price list begins on %(day)s; it cannot end before.")
                           % {"day": card.valid_from})
    card.valid_to = valid_to
    card.save()
    audit_log.record(actor=actor, action="rate_card.close", target=card,
                     data={"valid_to": str(valid_to)})
    return card


def computed_total(card: RateCard) -> Decimal:
    """The sum of the printed line fees."""
    fees = card.lines.exclude(line_fee=None).values_list("line_fee", flat=True)
    return sum(fees, Decimal(0))


def source_difference(card: RateCard) -> Decimal:
    """Printed total minus the sum of its own lines; 0 where they agree or none is printed."""
    return card.stated_total - computed_total(card) if card.stated_total is not None else Decimal(0)
