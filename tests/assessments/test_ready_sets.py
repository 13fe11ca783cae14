"""The four thresholds that the public rounds of tuning require, added to a draft at once (S3)."""

from decimal import Decimal

import pytest
from django.core.files.base import ContentFile
from rest_framework.test import APIClient

from assessments.models import Baseline
from assessments.services import add_ready_set, draft_criteria
from engagements import services as engagements
from engagements.errors import InvalidInput
from engagements.models import Role
from workers.artifacts.artifact_store import store_file


@pytest.fixture
def draft(people, engagement, definitions):
    return draft_criteria(actor=people[Role.MANAGER], engagement=engagement)


def model_of(people, engagement, scope="full"):
    return engagements.add_model(actor=people[Role.MANAGER], engagement=engagement, code="M9",
                                 name="M9", scope=scope)


def added(draft):
    return {row.definition.code: (row.threshold, row.stage, row.baseline)
            for row in draft.criteria.all()}


def test_the_set_brings_four_thresholds_with_the_models_baseline_once(people, engagement, draft):
    model = model_of(people, engagement)
    held = store_file(stream=ContentFile(b"1"), name="before.json", engagement=engagement)
    latency = Baseline.objects.create(model=model, quantity="latency_ms", value=16, artifact=held)
    call = {"actor": people[Role.MANAGER], "criteria_set": draft, "model": model,
            "ready_set": "optimisation"}
    add_ready_set(**call)
    assert added(draft) == {
        "score_degradation": (Decimal("0.015"), "train_tune", None),
        "peak_memory_reduction": (Decimal("0.3"), "train_tune", None),
        "scaling_efficiency": (Decimal("0.8"), "train_tune", None),
        "latency_reduction": (Decimal("0.2"), "infer_tune", latency)}
    with pytest.raises(InvalidInput):
        add_ready_set(**call)


def test_stages_out_of_scope_get_no_threshold(people, engagement, draft):
    rest = APIClient()
    rest.force_authenticate(people[Role.MANAGER])
    answer = rest.post(f"/api/v1/criteria-sets/{draft.pk}/add-ready-set/", {
        "model": model_of(people, engagement, "inference").pk, "ready_set": "optimisation"},
        format="json")
    assert (answer.status_code, list(added(draft))) == (200, ["token_latency_reduction"])
