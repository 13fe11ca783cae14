"""A start is undone while nothing was done in the stage, a submission withdrawn while nobody
decided on it."""

from datetime import timedelta

import pytest

from delivery.notices.models import Notice
from delivery.planning.models import TimeEntry
from delivery.reports.facts import stage_history
from delivery.surveys.models import Survey
from delivery.surveys.services.publishing import load_standard_questionnaire
from engagements import services
from engagements.errors import WrongState
from engagements.involvement import involvement_in
from engagements.models import Role, StageTransition
from engagements.moves import allowed_moves
from engagements.services import move_stage
from engagements.stage_activity import has_activity, with_activity
from engagements.stages import TRANSITIONS, Stage, StageMove, StageState
from tests.engagements.conftest import move
from workers.models import Job


@pytest.fixture
def begun(people, model):
    record = model.stages.get(stage=Stage.SURVEY)
    move(people, record, StageMove.START, Role.CONSULTANT)
    record.refresh_from_db()
    return record


def _job(record, person):
    Job.objects.create(kind="survey.pt_analyse", model=record.model, stage=record.stage,
                       engagement=record.engagement, created_by=person)


def _time(record, person):
    TimeEntry.objects.create(engagement=record.engagement, person=person, model=record.model,
                             stage=record.stage, work_date="2026-01-05", half="am",
                             item="survey", grade="senior")


def _tick(record, person):
    services.tick_item(actor=person, item=record.checklist.first(), evidence="/share/x")


def _survey(record, person):
    survey = Survey.objects.create(engagement=record.engagement, state=Survey.State.SUBMITTED,
                                   submitted_at=record.started_at - timedelta(days=1),
                                   questionnaire=load_standard_questionnaire())
    assert not has_activity(record)
    survey.submitted_at = record.started_at
    survey.save()


@pytest.mark.parametrize("work", [_job, _time, _tick, _survey])
def test_a_start_stands_once_something_was_done(people, begun, work):
    design = begun.model.stages.get(stage=Stage.DESIGN)
    assert not has_activity(begun)
    work(begun, people[Role.CONSULTANT])
    found = dict(with_activity(begun.model.stages.all()).values_list("pk", "has_activity"))
    assert (found[begun.pk], found[design.pk]) == (True, False)
    assert StageMove.UNDO_START not in allowed_moves(people[Role.CONSULTANT], TRANSITIONS, begun)
    with pytest.raises(WrongState):
        move(people, begun, StageMove.UNDO_START, Role.CONSULTANT)


def test_a_start_after_a_submission_stands(people, begun):
    for step in (StageMove.SUBMIT, StageMove.WITHDRAW):
        move(people, begun, step, Role.CONSULTANT)
    with pytest.raises(WrongState):
        move(people, begun, StageMove.UNDO_START, Role.CONSULTANT)


def test_who_withdrew_a_submission_may_decide_on_the_next(people, submitted):
    boss, second = people[Role.MANAGER], people[Role.ADMINISTRATOR]
    move(people, submitted, StageMove.WITHDRAW)
    move(people, submitted, StageMove.SUBMIT)
    assert len(involvement_in(submitted, boss)) == 1
    move(people, submitted, StageMove.WITHDRAW)
    move(people, submitted, StageMove.SUBMIT, Role.CONSULTANT)
    assert involvement_in(submitted, boss) == []
    standing = StageTransition.objects.standing().filter(record=submitted)
    assert [(row.move, row.actor.role) for row in standing.order_by("pk")] == [
        ("start", "consultant"), ("submit", "consultant")]
    assert Notice.objects.filter(recipient=second, event__kind="stage_withdrawn").exists()
    assert move_stage(actor=boss, record=submitted, move=StageMove.SEND_BACK, comment="x")


def test_acceptance_is_not_withdrawn(people, model):
    record = model.stages.get(stage=Stage.ACCEPT)
    record.state = StageState.SUBMITTED
    record.save()
    with pytest.raises(WrongState):
        move(people, record, StageMove.WITHDRAW)


def test_the_report_enters_a_stage_when_it_really_began(people, begun):
    move(people, begun, StageMove.UNDO_START, Role.CONSULTANT)
    move(people, begun, StageMove.START, Role.CONSULTANT)
    begun.refresh_from_db()
    source = type("Source", (), {"engagement": begun.engagement})
    [line] = [line for line in map(stage_history._line, stage_history._records(source))
              if line[1]["en"] == "Survey"]
    assert line[3] == stage_history._minute(begun.started_at)
