"""Forward results before the curve, the curve before the score: the order of train-tune's gate."""

import re
from decimal import Decimal
from pathlib import Path

import pytest
from django.utils.translation import override

from assessments import services
from assessments.models import MetricDefinition, OperatorRow
from engagements.gates import evaluate
from engagements.models import Role
from engagements.stages import Stage

COMPARED = Path(__file__).parents[1] / "samples/accuracy/compare/26-conv3x105-tensor.xlsx"


@pytest.fixture(autouse=True)
def _in_english():
    with override("en"):
        yield


def order(model, stage=Stage.TRAIN_TUNE):
    found = evaluate(model.stages.get(stage=stage))
    return [entry for entry in found if entry.code.startswith("accuracy_order")]


@pytest.fixture
def compared(store, model):
    artifact = store(COMPARED.name, COMPARED.read_bytes(), model)
    return services.index_comparison(artifact=artifact)


def test_silent_without_a_criterion_on_curve_or_score_and_in_other_stages(model, criterion):
    assert order(model, Stage.TRAIN_ADAPT) == []
    MetricDefinition.objects.filter(pk=criterion.definition_id).update(quantity="latency_ms")
    assert order(model) == []


def test_a_curve_asks_for_forward_results(model, criterion):
    [found] = order(model)
    assert (found.is_met, found.sentence) == (
        False, "No comparison of operators of this model was read.")
    assert "level L1" in found.remedy


def test_deviating_forward_results_are_named_and_left_to_the_curve(model, criterion, compared):
    [found] = order(model)
    assert found.is_met
    assert "Functional.conv2d.3.forward" in found.sentence
    assert re.match(r"\d+ forward results compared, all finite; \d+ beyond the limits, first ",
                    found.sentence)


def test_backward_rows_alone_are_no_forward_result(model, criterion, compared):
    OperatorRow.objects.exclude(name__contains=".backward").delete()
    [found] = order(model)
    assert (found.is_met, found.sentence) == (
        False, "The newest comparison holds no forward result.")


def test_a_forward_result_that_is_not_finite_closes_it(model, criterion, compared):
    row = OperatorRow.objects.filter(name__contains=".forward").first()
    OperatorRow.objects.filter(pk=row.pk).update(reason="nonfinite")
    [found] = order(model)
    assert not found.is_met
    assert row.name in found.sentence


def test_a_score_does_not_count_before_the_curve(people, draft, model, definitions, baseline,
                                                 compared):
    for code, base in (("loss_mean_relative_error", baseline), ("score_relative_error", None)):
        services.add_criterion(
            actor=people[Role.MANAGER], criteria_set=draft, model=model, baseline=base,
            definition=definitions[code], stage=Stage.TRAIN_TUNE, threshold=Decimal("0.02"))
    forward, curve = order(model)
    assert (forward.is_met, curve.is_met) == (True, False)
    assert curve.sentence.startswith("The score counts only where the curve holds: ")
