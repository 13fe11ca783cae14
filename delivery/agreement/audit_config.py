"""Which tables of this app the audit log tracks."""

from delivery.agreement.models import Agreement
from engagements.audit_rows.tracking import track_rows

track_rows(Agreement, is_confidential=True)  # it holds prices
