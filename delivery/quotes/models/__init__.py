from delivery.quotes.models.answer import QuoteAnswer
from delivery.quotes.models.framework import FrameworkContract
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
    "FrameworkContract",
    "PriceImport",
    "PriceLine",
    "Quote",
    "QuoteAnswer",
    "QuoteFile",
    "QuoteLine",
    "RateCard",
    "TaxRate",
]
