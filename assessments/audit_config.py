"""Which tables of this app the audit log tracks."""

from assessments import models as own
from engagements.audit_rows.tracking import do_not_track, track_rows

track_rows(own.MetricDefinition, own.CriteriaSet, own.Criterion, own.Baseline, own.BaselineRun,
           own.Confirmation, own.Measurement, own.Verdict, own.Waiver, own.AcceptedDifference,
           own.AllowedDifference, own.OptimisationRound, own.HumanEvaluation,
           own.HumanRating)
_INDEX = "an index for searching, made from an artifact and at any time made anew from it"
do_not_track({own.Comparison: _INDEX, own.OperatorRow: _INDEX})
