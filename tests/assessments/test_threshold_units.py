"""A threshold of a percentage that may be meant in either unit needs its unit."""

from decimal import Decimal

import pytest
from django.utils.translation import override

from assessments.definitions.standard_library import STANDARD
from assessments.definitions.threshold_units import USUAL, ThresholdUnit, threshold_of
from assessments.forms import CriterionForm
from assessments.models import Criterion, MetricDefinition
from engagements.errors import InvalidInput
from engagements.models import Role


def test_a_number_is_usual_in_one_unit_at_most():
    assert set(USUAL) == set(MetricDefinition.Calculator.values)
    assert {entry.calculator for entry in STANDARD} <= set(USUAL)
    assert all(most < 100 * least for least, most in USUAL.values())


@pytest.mark.parametrize(("code", "threshold", "unit", "stored"), [
    ("loss_mean_relative_error", "0.02", "", "0.02"),
    ("loss_mean_relative_error", "0.003", "", "0.003"),
    ("loss_mean_relative_error", "0.25", "", "0.25"), ("score_points", "0", "", "0"),
    ("score_points", "1.5", "percent", "0.015"), ("score_points", "1.5", "fraction", "1.5"),
    ("loss_mean_relative_error", "0.02", "percent", "0.0002"),
    ("throughput_ratio", "0.9", "", "0.9"), ("throughput_ratio", "1.5", "", "1.5"),
    ("latency_reduction", "20", "percent", "0.2"), ("latency_reduction", "1", "", "1"),
    ("latency", "200", "", "200"), ("latency", "0.001", "fraction", "0.001"),
    ("loss_mean_absolute_error", "1.5", "", "1.5")])
def test_thresholds_as_they_are_kept(definitions, code, threshold, unit, stored):
    assert threshold_of(definitions[code], Decimal(threshold), unit) == Decimal(stored)


@pytest.mark.parametrize(("code", "threshold", "unit", "shown"), [
    ("loss_mean_relative_error", "1.5", "", "150 %"), ("score_points", "1.5", "", "150 pp"),
    ("loss_mean_relative_error", "2", "", "200 %"), ("throughput_ratio", "90", "", "9000 %"),
    ("loss_mean_relative_error", "0.0002", "", "0.02 %"), ("score_points", "-2", "", "-200 pp"),
    ("throughput_ratio", "0.009", "", "0.9 %"), ("latency_reduction", "1.5", "", "150 %"),
    ("latency", "1.5", "percent", "no percentage")])
def test_what_may_be_meant_in_either_unit_is_refused(definitions, code, threshold, unit, shown):
    with override("en"), pytest.raises(InvalidInput, match=shown):
        threshold_of(definitions[code], Decimal(threshold), unit)


def test_the_api_refuses_1_5_without_its_unit(client, people, draft, model, definitions, baseline):
    client.force_login(people[Role.MANAGER])
    data = {"criteria_set": draft.pk, "model": model.pk, "stage": "train_tune",
            "definition": definitions["loss_mean_relative_error"].pk, "baseline": baseline.pk,
            "threshold": "1.5"}
    answer = client.post("/api/v1/criteria/", data, headers={"accept-language": "en"})
    assert answer.status_code == 400
    assert "150 % is an unusual threshold" in answer.content.decode()
    assert client.post("/api/v1/criteria/", {**data, "threshold_unit": "x"}).status_code == 400
    made = client.post("/api/v1/criteria/", {**data, "threshold_unit": "percent"})
    assert (made.status_code, Decimal(made.json()["threshold"])) == (201, Decimal("0.015"))
    stated = client.post("/api/v1/criteria/", {**data, "threshold_unit": "fraction"})
    assert Decimal(stated.json()["threshold"]) == Decimal("1.5")


@pytest.mark.parametrize(("entered", "unit", "stored"), [
    ("2", "", "0.02"), ("0.02", "", None), ("0.02", ThresholdUnit.FRACTION, "0.02"),
    ("0.02", ThresholdUnit.PERCENT, "0.0002"), ("150", "", None)])
def test_the_page_takes_per_cent_and_asks_where_it_is_unusual(client, people, draft, model, entered,
                                                              definitions, baseline, unit, stored):
    client.force_login(people[Role.MANAGER])
    answer = client.post(f"/engagements/{draft.engagement.code}/criteria/new/", {
        "model": model.pk, "stage": "train_tune", "threshold": entered, "threshold_unit": unit,
        "definition": definitions["loss_mean_relative_error"].pk, "baseline": baseline.pk})
    assert answer.status_code == (302 if stored else 200)
    assert [row.threshold for row in Criterion.objects.all()] == (
        [Decimal(stored)] if stored else [])


def test_the_form_knows_the_units(draft):
    choices = dict(CriterionForm(engagement=draft.engagement).fields["threshold_unit"].choices)
    assert list(choices) == ["", "fraction", "percent"]
