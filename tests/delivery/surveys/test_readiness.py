"""Readiness, go or no-go, and the gates that ask for them."""

from importlib import import_module
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.db.models import QuerySet

from delivery.surveys import services
from delivery.surveys.answer_sheet import Sheet
from delivery.surveys.models import Survey
from delivery.surveys.readiness import readiness
from engagements.errors import InvalidInput
from engagements.gates import evaluate
from engagements.models import MigratedModel, Role
from engagements.services import add_model, drop_model, move_stage
from engagements.stages import Stage
from tests.delivery.surveys.conftest import apply, change


def test_readiness_says_what_is_missing(confirmed, people):
    found = readiness(Sheet(confirmed))
    assert {entry.code for entry in found.missing} == {
        "analysis", "recorded", "stated", "rules", "models"}
    assert found.score == sum(entry.points for entry in found.entries) < 100
    assert {entry.code for entry in found.blocking} == {"analysis", "rules"}
    assert all(entry.url for entry in found.missing)


def test_a_survey_asks_of_the_models_that_are_in_the_project(complete, people):
    """Answers of a model that was dropped stay on record; a skipped stage changes no question."""
    manager, engagement = people[Role.MANAGER], complete.engagement
    llm, other = engagement.models.get(code="LLM"), engagement.models.get(code="HLM")
    assert not Sheet(complete).missing
    move_stage(actor=manager, record=other.stages.get(stage=Stage.INFER_TUNE), move="skip",
               comment="x")
    assert not Sheet(complete).missing
    add_model(actor=manager, engagement=engagement, code="OCR", name="文字识别")
    assert {cell.model.code for cell in Sheet(complete).missing} == {"OCR"}
    given = complete.answers.filter(model=llm).count()
    drop_model(actor=manager, model=llm, reason="合并")
    assert {cell.model.code for cell in Sheet(complete).cells.values() if cell.model} == {
        "HLM", "OCR"}
    assert complete.answers.filter(model=llm).count() == given > 0


def test_go_needs_what_blocks_and_a_reason(confirmed, people):
    manager = people[Role.MANAGER]
    with pytest.raises(InvalidInput):
        services.decide(actor=manager, survey=confirmed, verdict="go", reason="x")
    with pytest.raises(InvalidInput):
        services.decide(actor=manager, survey=confirmed, verdict="conditional", reason=" ")
    assert not Survey.objects.get(pk=confirmed.pk).is_decided
    made = services.decide(actor=manager, survey=confirmed, verdict="conditional",
                           reason="先补分析")
    assert {entry["code"] for entry in made.missing} >= {"analysis", "rules"}
    assert Survey.objects.get(pk=confirmed.pk).is_decided
    QuerySet(Survey).update(is_decided=False)
    import_module("delivery.surveys.migrations.0003_fill_decided_surveys").fill(
        SimpleNamespace(get_model=lambda app, name: SimpleNamespace(
            objects=QuerySet(apps.get_model(app, name)))), None)
    assert Survey.objects.get(pk=confirmed.pk).is_decided


def test_the_survey_gate_asks_for_confirmation_and_decision(confirmed, people):
    record = MigratedModel.objects.get(code="HLM").stages.get(stage=Stage.SURVEY)

    def met():
        return {c.code: c.is_met for c in evaluate(record) if c.code.startswith("survey")}

    assert met() == {"survey": True, "survey_decision": False}
    services.decide(actor=people[Role.MANAGER], survey=confirmed, verdict="no_go", reason="x")
    assert met()["survey_decision"] is False
    services.decide(actor=people[Role.MANAGER], survey=confirmed, verdict="conditional",
                    reason="y")
    assert met() == {"survey": True, "survey_decision": True}
    change(confirmed, people, sequence_at_LLM="4096")
    assert met() == {"survey": True, "survey_decision": False}


@pytest.mark.slow
def test_broken_rules_keep_the_design_gate_shut(confirmed, people):
    apply(confirmed, people)
    design = MigratedModel.objects.get(code="LLM").stages.get(stage=Stage.DESIGN)
    [found] = [check for check in evaluate(design) if check.code == "survey_rules"]
    assert not found.is_met
    assert "R-PAR-03" in found.sentence
    change(confirmed, people, parallel_at_LLM="TP2 PP2 DP4", repeats_at_LLM="3")
    [found] = [check for check in evaluate(design) if check.code == "survey_rules"]
    assert found.is_met
