"""Stages, gates and the audit chain."""

import pytest
from django.urls import reverse

from engagements import services
from engagements.audit import audit_log
from engagements.errors import GateNotMet, InvalidInput, NotAllowed, WrongState
from engagements.models import AuditEntry, Role, StageTransition
from engagements.stages import Scope, Stage, StageMove, StageState
from tests.engagements.conftest import move


@pytest.fixture
def design(people, model):
    """The design stage of a model whose survey has passed."""
    survey = model.stages.get(stage=Stage.SURVEY)
    survey.state, survey.passed_at = StageState.PASSED, model.engagement.created_at
    survey.save()
    return model.stages.get(stage=Stage.DESIGN)


def test_scope_decides_which_stages_are_skipped(people, engagement):
    model = services.add_model(actor=people[Role.MANAGER], engagement=engagement, code="I",
                               name="i", scope=Scope.INFERENCE)
    skipped = set(model.stages.filter(state=StageState.SKIPPED).values_list("stage", flat=True))
    assert skipped == {Stage.TRAIN_ADAPT, Stage.TRAIN_TUNE, Stage.OPERATION}


def test_a_stage_starts_only_after_the_one_before(people, model):
    with pytest.raises(WrongState):
        move(people, model.stages.get(stage=Stage.DESIGN), StageMove.START)


def test_gate_says_what_is_missing_and_nothing_moves(people, model):
    record = model.stages.get(stage=Stage.SURVEY)
    move(people, record, StageMove.START, Role.CONSULTANT)
    move(people, record, StageMove.SUBMIT, Role.CONSULTANT)
    with pytest.raises(GateNotMet) as error:
        move(people, record, StageMove.PASS)
    record.refresh_from_db()
    assert record.state == StageState.SUBMITTED
    assert {c["code"] for c in error.value.details["checks"]} == {
        "checklist", "job:survey.pt_analyse", "survey", "survey_decision"}


def test_sending_back_needs_a_reason_and_is_logged(people, design):
    move(people, design, StageMove.START)
    move(people, design, StageMove.SUBMIT)
    with pytest.raises(InvalidInput):
        move(people, design, StageMove.SEND_BACK)
    move(people, design, StageMove.SEND_BACK, comment="口径不清")
    newest = StageTransition.objects.first()
    assert (newest.from_state, newest.to_state, newest.comment, newest.actor) == (
        StageState.SUBMITTED, StageState.SENT_BACK, "口径不清", people[Role.MANAGER])


def test_a_stage_that_others_build_on_is_not_sent_back(people, design):
    move(people, design, StageMove.START)
    survey = design.model.stages.get(stage=Stage.SURVEY)
    with pytest.raises(WrongState):
        move(people, survey, StageMove.SEND_BACK, comment="x")


def test_audit_chain_shows_a_change(people, model):
    assert list(audit_log.findings()) == []
    entry = AuditEntry.objects.order_by("pk").first()
    AuditEntry.objects.filter(pk=entry.pk).update(data={"forged": True})
    assert next(audit_log.findings()).entry == entry


@pytest.mark.parametrize("role", [Role.CONSULTANT, Role.SALES, Role.OPERATOR, Role.REVIEWER])
def test_only_managers_shape_an_engagement(people, engagement, role):
    with pytest.raises(NotAllowed):
        services.add_model(actor=people[role], engagement=engagement, code="Z", name="z")


def test_stages_bear_the_names_of_the_six_step_method_beside_their_own(people, engagement, client):
    model = services.add_model(actor=people[Role.MANAGER], engagement=engagement, code="SIX",
                               name="六步")
    steps = {record.stage: record.method_step.partition(" ")[0] for record in model.stages.all()}
    assert steps == {"survey": "1", "design": "2", "env": "", "train_adapt": "3",
                     "train_tune": "4", "infer_migrate": "5", "infer_tune": "4", "accept": "",
                     "operation": "6"}
    client.force_login(people[Role.MANAGER])
    page = client.get(reverse("engagements:stage", args=[engagement.code, "SIX", "survey"]),
                      headers={"accept-language": "en"}).content.decode()
    assert "Six-step method: 1 Survey and planning" in page
