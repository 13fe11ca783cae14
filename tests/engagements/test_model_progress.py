"""The summary of where models stand is what their stage records say, after every kind of write."""

import pytest
from django.core.management import CommandError, call_command

from engagements import model_progress, search_index, services
from engagements.models import Engagement, ModelProgress, Role
from engagements.stages import Stage


@pytest.fixture
def model(people, engagement):
    return services.add_model(actor=people[Role.MANAGER], engagement=engagement, code="LLM",
                              name="模型")


def stands(model) -> tuple:
    row = ModelProgress.objects.get(model=model)
    return row.stage, row.state, row.passed, row.in_scope, row.is_under_way


def test_every_write_keeps_it(people, engagement, model):
    manager, consultant = people[Role.MANAGER], people[Role.CONSULTANT]
    assert stands(model) == (Stage.SURVEY, "not_started", 0, 8, True)
    survey = model.stages.get(stage=Stage.SURVEY)
    move = services.move_stage(actor=consultant, record=survey, move="start")
    assert stands(model) == (Stage.SURVEY, "in_progress", 0, 8, True)
    row = ModelProgress.objects.get(model=model)
    assert (row.open_since, row.moved_by) == (move.at, consultant)
    services.set_model_scope(actor=manager, model=model, scope="inference", reason="r")
    assert stands(model)[3] == 6
    model.stages.filter(stage=Stage.SURVEY).update(state="skipped")  # not by a service
    assert stands(model) == (Stage.DESIGN, "not_started", 0, 5, True)
    Engagement.objects.filter(pk=engagement.pk).update(state="accepted")
    assert stands(model)[-1] is False
    services.drop_model(actor=manager, model=model, reason="r")
    assert ModelProgress.objects.get(model=model).is_dropped
    assert list(model_progress.differences()) == []


def test_the_command_tells_what_differs_and_mends_it(model, capsys):
    ModelProgress.objects.update(passed=7)
    with pytest.raises(CommandError, match="1 differ"):
        call_command("summaries")
    assert "EP2501 LLM: passed" in capsys.readouterr().out
    call_command("summaries", "--rebuild")
    assert list(model_progress.differences()) == list(search_index.differences()) == []
    call_command("summaries")
