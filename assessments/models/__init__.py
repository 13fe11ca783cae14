from assessments.models.criteria import Baseline, CriteriaSet, Criterion, MetricDefinition
from assessments.models.measurement import Measurement, Outcome, Verdict

__all__ = ["Baseline", "CriteriaSet", "Criterion", "Measurement", "MetricDefinition",
           "Outcome", "Verdict"]
