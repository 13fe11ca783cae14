"""What a first start writes into the sample engagement."""

from datetime import UTC, date, datetime

import pytest

from delivery.demo import sample_planning, sample_survey
from delivery.demo.sample_firm import SAMPLE
from delivery.planning.control.weekly_facts import week_facts
from engagements import services
from engagements.errors import InvalidInput
from engagements.models import MigratedModel, Role

pytestmark = pytest.mark.django_db


@pytest.mark.slow
def test_every_milestone_of_the_sample_has_its_date(people, engagement):
    for code in ("LLM", "VIS"):
        model = services.add_model(actor=people[Role.MANAGER], engagement=engagement, code=code,
                                   name=code)
        services.move_stage(actor=people[Role.CONSULTANT], record=model.stages.get(stage="survey"),
                            move="start")
    engagement.starts_on = SAMPLE.began
    sample_planning.load_plan(SAMPLE, engagement, {
        "manager": people[Role.MANAGER], "consultant": people[Role.CONSULTANT]})
    engagement.plan.baselines.update(taken_at=datetime(2025, 6, 30, tzinfo=UTC))
    rows = week_facts(engagement, date(2025, 6, 30))["plan"]["milestones"]
    days = [date.fromisoformat(row["now"]) for row in rows]
    assert (days[0], days) == (sample_planning.STARTS, sorted(days))
    assert [row["is_reached"] for row in rows] == [True, False, False]
    assert all(row["agreed"] for row in rows)


@pytest.mark.parametrize(("size", "message"), [(None, ""), ("0.05", "accuracy_value")])
def test_the_sample_s_answers_are_taken_or_their_refusal_is_told(
        size, message, people, engagement, monkeypatch):
    MigratedModel.objects.create(engagement=engagement, code="VIS", name="缺陷检测",
                                 parameters_billion=size)
    if message:
        monkeypatch.setitem(sample_survey.MODEL, message, "many")
    with pytest.raises(InvalidInput, match=message or None):
        sample_survey.load_survey(engagement, people[Role.REVIEWER], people[Role.CONSULTANT])
