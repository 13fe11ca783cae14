"""Which tables of this app the audit log tracks: all of them."""

from delivery.knowledge import models as own
from engagements.audit_rows.tracking import track_rows

track_rows(own.SolvedCase, own.CaseEvidence)
