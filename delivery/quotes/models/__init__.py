from delivery.quotes.models.company import CompanyProfile, Currency, DiscountLimit, TaxRate
from delivery.quotes.models.prices import PriceImport, PriceLine, RateCard
from delivery.quotes.models.quote import Quote, QuoteLine

__all__ = [
    "CompanyProfile",
    "Currency",
    "DiscountLimit",
    "PriceImport",
    "PriceLine",
    "Quote",
    "QuoteLine",
    "RateCard",
    "TaxRate",
]
