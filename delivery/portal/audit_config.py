"""Which tables of this app the audit log tracks."""

from delivery.portal.models import SavedView
from engagements.audit_rows.tracking import track_rows

track_rows(SavedView)
