"""A model, its submitted survey stage, and a signed waiver of what is missing there."""

import pytest

from engagements import services
from engagements.models import Role
from engagements.stages import Stage, StageMove
from tests.cached_fixtures import cached_fixture


@pytest.fixture
@cached_fixture
def model(people, engagement):
    return services.add_model(actor=people[Role.MANAGER], engagement=engagement, code="M",
                              name="模型", name_en="Model")


def move(people, record, step, role=Role.MANAGER, comment=""):
    return services.move_stage(actor=people[role], record=record, move=step, comment=comment)


@pytest.fixture
@cached_fixture
def submitted(people, model):
    """The survey stage, submitted by the consultant with nothing that its gate asks for."""
    record = model.stages.get(stage=Stage.SURVEY)
    for step in (StageMove.START, StageMove.SUBMIT):
        move(people, record, step, Role.CONSULTANT)
    record.refresh_from_db()
    return record


@pytest.fixture
@cached_fixture
def signed(people, submitted):
    waiver = services.draft_stage_waiver(actor=people[Role.MANAGER], record=submitted,
                                         reason="客户已同意先行设计")
    return services.sign_stage_waiver(actor=people[Role.REVIEWER], waiver=waiver)
