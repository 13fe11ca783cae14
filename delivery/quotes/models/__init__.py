from delivery.quotes.models.prices import PriceImport, PriceLine, RateCard
from delivery.quotes.models.pricing_rules import DiscountLimit, TaxRate
from delivery.quotes.models.quote import Quote, QuoteLine

__all__ = [
    "DiscountLimit",
    "PriceImport",
    "PriceLine",
    "Quote",
    "QuoteLine",
    "RateCard",
    "TaxRate",
]
