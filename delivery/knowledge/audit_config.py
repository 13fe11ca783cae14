"""Which tables of this app the audit log tracks: what people write."""

from delivery.knowledge import models as own
from engagements.audit_rows.tracking import do_not_track, track_rows

track_rows(own.SolvedCase, own.CaseEvidence, is_confidential=True)
DERIVED = "computed from measurements, verdicts, baselines and time, which are tracked"
do_not_track({
    own.ModelFigure: DERIVED, own.FigureRange: DERIVED,
    own.FiguresRead: "how far these have been read",
})
