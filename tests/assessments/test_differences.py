"""A score's loss is shown in points and relative to the baseline, whichever is judged."""

import math

import pytest
from django.utils.translation import override

from assessments.models import Criterion, MetricDefinition, Verdict
from assessments.presentation.verdict_rows import facts


@pytest.mark.parametrize(("quantity", "measured", "baseline", "text"), [
    ("score", 0.701, 0.712, "-1.1 pp; relative to the baseline -1.5449 %"),
    ("score:gsm8k/exact_match", 0.75, 0.7, "+5 pp; relative to the baseline 7.1429 %"),
    ("score", 1873.0, 1900.0, "-27; relative to the baseline -1.4211 %"),
    ("latency_ms", 8.5, 10.0, "-1.5; relative to the baseline -15 %"),
    ("score", 0.7, 0.0, "+70 pp"),
    ("score", 0.7, None, "--"),
    ("score", math.nan, 0.7, "--"),
])
def test_both_ways(quantity, measured, baseline, text):
    verdict = Verdict(criterion=Criterion(definition=MetricDefinition(quantity=quantity)),
                      facts={"candidate": measured, "baseline": baseline})
    with override("en"):
        assert dict(facts(verdict))["Difference to the baseline"] == text
