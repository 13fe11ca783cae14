from delivery.quotes.models.prices import (
    DiscountLimit,
    PriceImport,
    PriceLine,
    RateCard,
    TaxRate,
)
from delivery.quotes.models.quote import Quote, QuoteFile, QuoteLine

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
