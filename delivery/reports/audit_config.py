"""Which tables of this app the audit log tracks."""

from delivery.reports import models as own
from engagements.audit_rows.tracking import do_not_track, track_rows

track_rows(own.Document, without={"duplicate"})
track_rows(own.DocumentStep, own.DocumentFile, own.ApprovalTurn, own.ApprovalStep,
           own.StandardText, own.Deliverable)
do_not_track({
    own.RenderJob: "a file to be made, and who is making it; the file made is tracked",
})
