"""Which tables of this app the audit log tracks: all of them."""

from delivery.invoicing import models as own
from engagements.audit_rows.tracking import track_rows

track_rows(own.Invoice, own.Payment, is_confidential=True)
