"""Which tables of this app the audit log vouches for: all of them.

Totals are no columns: they are computed from the lines of a quote.
"""

from delivery.quotes import models as own
from engagements.vouching import vouch_for

vouch_for(own.Quote, own.QuoteLine, own.RateCard, own.PriceLine, own.PriceImport)
vouch_for(own.CompanyProfile, own.DiscountLimit, own.Currency, own.TaxRate)
