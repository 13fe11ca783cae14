"""The configuration check as a condition of leaving train-tune."""

from pathlib import Path

import pytest
from django.urls import reverse
from django.utils.translation import override

from assessments import services
from assessments.accuracy import allowlist
from assessments.accuracy.readings import newest_config_check
from engagements.gates import evaluate
from engagements.models import Role
from engagements.stages import Stage

RESULT = Path(__file__).parents[1] / "samples" / "accuracy" / "config_check" / "result.xlsx"


@pytest.fixture(autouse=True)
def _in_english():
    with override("en"):
        yield


def check(model, stage=Stage.TRAIN_TUNE):
    record = model.stages.get(stage=stage)
    return next((found for found in evaluate(record) if found.code == "config_check"), None)


def test_silent_until_configurations_were_compared(model):
    assert check(model) is None


def test_differences_close_the_gate_until_they_are_reviewed(model, store, people):
    artifact = store("result.xlsx", RESULT.read_bytes(), model)
    found = check(model)
    assert (found.is_met, found.url) == (
        False, reverse("assessments:config_check", args=[artifact.pk]))
    assert "not on the allow-list" in found.sentence
    assert check(model, Stage.TRAIN_ADAPT) is None


def test_the_newest_comparison_counts(model, store, monkeypatch):
    store("result.xlsx", RESULT.read_bytes(), model)
    reading = newest_config_check(model)
    agreeing = {**reading.values, "differences": [], "not_compared": []}
    type(reading).objects.filter(pk=reading.pk).update(values=agreeing)
    assert check(model).is_met
    assert check(model).sentence == "Both configurations agree after the reviewed allow-list."


def test_reviewed_differences_open_it(model, store, people, engagement):
    store("result.xlsx", RESULT.read_bytes(), model)
    reading = newest_config_check(model)
    natural = [row for row in reading.values["differences"] if row["sheet"] in ("env", "pip")]
    type(reading).objects.filter(pk=reading.pk).update(
        values={**reading.values, "differences": natural, "not_compared": []})
    entries = services.propose_differences(
        actor=people[Role.CONSULTANT], engagement=engagement, reason="another software stack",
        differences=allowlist.compared({"differences": natural}, []))
    assert not check(model).is_met
    for entry in entries:
        services.review_difference(actor=people[Role.MANAGER], entry=entry)
    assert check(model).is_met
