"""Tax rates, currencies and discount limits an installation starts with; data from then on.

Tax: DOMAIN 9.4 (6 % for IT services, 3 % levy, exempt technology contracts). Limits: DOMAIN 15
leaves them to the firm; these are cautious ones.
"""

from datetime import date
from decimal import Decimal

from delivery.documents.models import Currency
from delivery.quotes.models import DiscountLimit, TaxRate
from engagements.models import Role

SINCE = date(2020, 1, 1)
TAX_RATES = [
    ("0.06", "现代服务（一般纳税人）", "modern services, general taxpayer", True),
    ("0.13", "货物销售", "sale of goods", False),
    ("0.03", "小规模纳税人征收率", "levy of small-scale taxpayers", False),
    ("0", "免税（经登记的技术合同等）", "exempt, e.g. registered technology contracts", False),
]
CURRENCIES = [
    ("CNY", "¥", "人民币", "yuan"), ("USD", "US$", "美元", "US dollars"),
    ("EUR", "€", "欧元", "euros"), ("HKD", "HK$", "港元", "Hong Kong dollars"),
]
LIMITS = {Role.MANAGER: Decimal("0.10"), Role.ADMINISTRATOR: Decimal("0.50")}
APPROVERS = tuple(LIMITS)
DEFAULT_TAX = Decimal("0.06")


def load_standards() -> bool:
    """Add what is missing; rows that were changed stay as they are. The caller records it.

    True if anything was missing.
    """
    made = []
    if not TaxRate.objects.exists():
        made += TaxRate.objects.bulk_create(
            TaxRate(rate=Decimal(rate), name=name, name_en=name_en, is_default=is_default,
                    valid_from=SINCE) for rate, name, name_en, is_default in TAX_RATES)
    for position, (code, symbol, name, name_en) in enumerate(CURRENCIES):
        made.append(Currency.objects.get_or_create(code=code, defaults={
            "symbol": symbol, "name": name, "name_en": name_en, "position": position})[1])
    for role, rate in LIMITS.items():
        made.append(DiscountLimit.objects.get_or_create(role=role, defaults={"rate": rate})[1])
    return any(made)


def discount_limit(role: str) -> Decimal:
    """The largest discount (a fraction) that a role approves; 0 for a role without one."""
    stored = DiscountLimit.objects.filter(role=role).first()
    return stored.rate if stored else LIMITS.get(role, Decimal(0))


def roles_that_approve(rate: Decimal) -> list[str]:
    """Roles whose limit reaches a discount."""
    return [role for role in APPROVERS if discount_limit(role) >= rate]


def default_tax_rate(day: date) -> Decimal:
    """The rate new lines get on a day."""
    found = TaxRate.objects.valid_on(day).first()
    return found.rate if found else DEFAULT_TAX


def currency(code: str) -> Currency:
    """The currency of a code; CNY is known even where no row is stored."""
    found = Currency.objects.filter(code=code).first()
    return found or Currency(code=code, symbol="¥" if code == "CNY" else f"{code} ",
                             name="人民币" if code == "CNY" else code,
                             name_en="yuan" if code == "CNY" else code)
