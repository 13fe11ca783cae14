"""Price lists: the starting one, imported ones, and what their printed totals are worth."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.quotes import catalogue
from delivery.quotes.models import PriceLine, RateCard
from delivery.quotes.money import to_cents
from delivery.quotes.resource_list import ResourceRow, parse_resource_list
from engagements import audit
from engagements.access import Can, require
from engagements.errors import InvalidInput
from engagements.models import User


@transaction.atomic
def load_rate_cards(*, actor: User) -> RateCard:
    """The starting price list; an existing one is never touched."""
    card, created = RateCard.objects.get_or_create(
        name="2025 标准价目表", defaults={
            "valid_from": date(2025, 1, 1), "stated_total": catalogue.STATED_TOTAL,
            "source": "解决方案指南 V01（2025-06-25）；服务单价：2023 年基准人月费率样例"})
    if created:
        PriceLine.objects.bulk_create([*_resources(card), *_services(card), _travel(card)])
        audit.record(actor=actor, action="rate_card.load", target=card,
                     data={"printed_total": str(card.stated_total),
                           "computed_total": str(computed_total(card))})
    return card


def _resources(card: RateCard) -> list[PriceLine]:
    return [PriceLine(
        card=card, position=n, category="resource", code=code, name=name, name_en=name_en,
        specification=spec, specification_en=spec_en, unit="month", quantity=quantity,
        line_fee=Decimal(fee), unit_price=Decimal(fee) / quantity)
        for n, (code, name, name_en, spec, spec_en, quantity, fee)
        in enumerate(catalogue.RESOURCES, 1)]


def _services(card: RateCard) -> list[PriceLine]:
    """Services; their prices are a public sample times a factor, and say so."""
    month, days = catalogue.MONTH_RATE, catalogue.DAYS_PER_MONTH
    return [PriceLine(
        card=card, position=100 + n, category=category, code=code, name=name, name_en=name_en,
        specification=spec, specification_en=spec_en, grade=grade, unit="person_day", quantity=1,
        unit_price=to_cents(catalogue.DAY_RATE * catalogue.GRADE_FACTORS[grade]),
        basis=f"样例值：2023 年基准（西安）{month:,} 元/人月 ÷ {days} × {factor}，请换成本公司费率",
        basis_en=f"Sample: 2023 benchmark (Xi'an), {month:,} yuan per person-month ÷ {days} × "
                 f"{factor}; replace by the firm's own rate")
        for n, (code, category, name, name_en, grade, spec, spec_en)
        in enumerate(catalogue.SERVICES)
        for factor in [catalogue.GRADE_FACTORS[grade]]]


def _travel(card: RateCard) -> PriceLine:
    code, category, name, name_en, unit, spec, spec_en = catalogue.TRAVEL
    return PriceLine(card=card, position=200, category=category, code=code, name=name,
                     name_en=name_en, specification=spec, specification_en=spec_en, unit=unit)


@dataclass(frozen=True)
class ImportedList:
    """A price list read from outside: its printed total against the sum of its own lines."""

    card: RateCard
    stated: Decimal | None
    computed: Decimal

    @property
    def difference(self) -> Decimal:
        """Printed minus computed; 0 where they agree or none is printed."""
        return self.stated - self.computed if self.stated is not None else Decimal(0)

    @property
    def sentence(self) -> str:
        """What the importer has to know, in the active language."""
        facts = {"n": self.card.lines.count(), "computed": f"¥{self.computed:,.2f}"}
        if self.stated is None:
            return _("%(n)d lines were read; they add up to %(computed)s. The list prints no "
                     "total.") % facts
        facts |= {"stated": f"¥{self.stated:,.2f}", "difference": f"¥{abs(self.difference):,.2f}"}
        if not self.difference:
            return _("%(n)d lines were read; they add up to %(computed)s, as the list "
                     "prints.") % facts
        return (_("%(n)d lines were read. The list prints a total of %(stated)s, but its lines "
                  "add up to %(computed)s: the printed total is %(difference)s too high.")
                if self.difference > 0 else
                _("%(n)d lines were read. The list prints a total of %(stated)s, but its lines "
                  "add up to %(computed)s: the printed total is %(difference)s too low.")) % facts


@transaction.atomic
def import_resource_list(*, actor: User, name: str, text: str, source: str = "",
                         valid_from: date | None = None) -> ImportedList:
    """A new price list from a table of cloud resources; its printed total is compared.

    Args:
        text: the table as `parse_resource_list` reads it: name, specification, quantity and
            monthly fee of the whole line, a row each; a row of the total is optional.

    The printed total is kept beside the lines and never used: a quote that draws on a list that
    contradicts itself must explain the difference before review (R-QUO-01). Raises InvalidInput
    naming the row that cannot be read.
    """
    require(actor, Can.PRICE)
    if RateCard.objects.filter(name=name.strip()).exists():
        raise InvalidInput(_("There is a price list of this name already."))
    rows, stated = parse_resource_list(text)
    card = RateCard.objects.create(
        name=name.strip(), source=source.strip(), stated_total=stated,
        valid_from=valid_from or timezone.localdate())
    PriceLine.objects.bulk_create(_imported(card, n, row) for n, row in enumerate(rows, 1))
    found = ImportedList(card, stated, computed_total(card))
    audit.record(actor=actor, action="rate_card.import", target=card, data={
        "lines": len(rows), "printed_total": str(stated), "computed_total": str(found.computed),
        "difference": str(found.difference)})
    return found


def _imported(card: RateCard, number: int, row: ResourceRow) -> PriceLine:
    return PriceLine(
        card=card, position=number, category="resource", code=f"R{number:02}", name=row.name,
        specification=row.specification, unit="month", quantity=row.quantity, line_fee=row.fee,
        unit_price=(row.fee / row.quantity).quantize(Decimal("0.0001")))


def computed_total(card: RateCard) -> Decimal:
    """The sum of the printed line fees."""
    return sum((line.line_fee for line in card.lines.exclude(line_fee=None)), Decimal(0))


def source_difference(card: RateCard) -> Decimal:
    """Printed total minus the sum of its own lines; 0 where they agree or none is printed."""
    return card.stated_total - computed_total(card) if card.stated_total is not None else Decimal(0)
