"""What the criteria of a model tell the rules."""

import pytest

from assessments.models import AcceptedDifference, Baseline, BaselineRun
from assessments.rule_facts import of_criteria
from engagements.services import add_model
from workers import kinds, rule_checks
from workers.artifacts.artifact_store import store_file


@pytest.fixture
def model(people, engagement):
    return add_model(actor=people["manager"], engagement=engagement, code="LLM", name="巡检报告")


def file(engagement, name):
    from io import BytesIO

    return store_file(stream=BytesIO(name.encode()), name=name, engagement=engagement)


def test_comparison_with_a_baseline_that_was_not_repeated_is_warned_of(people, model):
    baseline = Baseline.objects.create(model=model, quantity="loss_curve")
    parameters = {"baseline": 1, "candidate": 2}
    declaration = kinds.get("acc.loss_compare")
    hits = rule_checks.outcome_for(declaration, parameters, None, model).hits
    assert [(hit.rule, hit.severity, hit.value) for hit in hits] == [("R-ACC-08", "warn", "1")]
    for name in ("a", "b"):
        BaselineRun.objects.create(baseline=baseline, value=0.0, recorded_by=people["consultant"],
                                   artifact=file(model.engagement, name))
    assert of_criteria(model)["baseline_runs"] == 3
    assert rule_checks.outcome_for(declaration, parameters, None, model).hits == []


def test_accepted_differences_are_reviewed_ones(people, model):
    AcceptedDifference.objects.create(engagement=model.engagement, item="hccl_algo", reason="硬件",
                                      accepted_by=people["manager"])
    assert of_criteria(model)["reviewed_differences"] == ["hccl_algo"]
