from delivery.quotes.models.prices import PriceImport, PriceLine, RateCard
from delivery.quotes.models.pricing_rules import DiscountLimit, TaxRate
from delivery.quotes.models.quote import Quote, QuoteLine
from delivery.quotes.models.quote_file import QuoteFile

__all__ = [
    "DiscountLimit",
    "PriceImport",
    "PriceLine",
    "Quote",
    "QuoteFile",
    "QuoteLine",
    "RateCard",
    "TaxRate",
]
