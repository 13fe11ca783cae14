"""Which tables of this app the audit log tracks: all of them.

Totals are no columns: they are computed from the lines of a quote.
"""

from delivery.quotes import models as own
from engagements.audit_rows.tracking import track_rows

track_rows(own.Quote, own.QuoteAnswer, own.QuoteLine, own.QuoteFile, own.RateCard, own.PriceLine,
           own.PriceImport, own.DiscountLimit, own.TaxRate, own.FrameworkContract,
           is_confidential=True)
