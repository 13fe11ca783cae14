"""Which tables of this app the audit log tracks."""

from delivery.demo.models import PracticeStep
from engagements.audit_rows.tracking import do_not_track

do_not_track({PracticeStep: "how far the practice scenario is; what it writes is tracked"})
