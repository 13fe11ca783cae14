from assessments.models.allowlist import AllowedDifference
from assessments.models.comparison import Comparison, Deviation, OperatorRow
from assessments.models.criteria import Baseline, CriteriaSet, Criterion, MetricDefinition
from assessments.models.human_evaluation import HumanEvaluation, HumanRating
from assessments.models.measurement import Measurement, Outcome, Verdict
from assessments.models.rounds import OptimisationRound
from assessments.models.signatures import (
           AcceptedDifference,
           BaselineRun,
           Confirmation,
           Side,
           Waiver,
)

__all__ = ["AcceptedDifference", "AllowedDifference", "Baseline", "BaselineRun", "Comparison",
           "Confirmation", "CriteriaSet", "Criterion", "Deviation", "HumanEvaluation",
           "HumanRating", "Measurement", "MetricDefinition", "OperatorRow", "OptimisationRound",
           "Outcome", "Side", "Verdict", "Waiver"]
