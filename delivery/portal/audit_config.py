"""Which tables of this app the audit log tracks."""

from delivery.portal.models import ChartFigure, SavedView
from engagements.audit_rows.tracking import do_not_track, track_rows

track_rows(SavedView, is_confidential=True)
do_not_track({ChartFigure: "a summary of rows that are tracked; it is made anew from them"})
