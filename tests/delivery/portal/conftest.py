"""One engagement in which everything waits for somebody."""

from datetime import timedelta

import pytest
from django.utils import timezone

from assessments.services import load_standard_definitions
from delivery.planning.services import changes, control
from delivery.quotes import services as quoting
from delivery.quotes.models import Quote
from engagements import services
from engagements.models import (
    Engagement,
    Membership,
    MigratedModel,
    Role,
    StageRecord,
    StageTransition,
)
from engagements.stages import Stage, StageState
from tests.cached_fixtures import cached_fixture
from workers.models import Job, JobState


def submit_survey(people, model):
    record = model.stages.get(stage="survey")
    for move in ("start", "submit"):
        services.move_stage(actor=people[Role.CONSULTANT], record=record, move=move)
    return record


@pytest.fixture
@cached_fixture
def busy(people, engagement, llm, detector):
    """One of everything that can wait for somebody."""
    load_standard_definitions()
    today = timezone.localdate()
    submit_survey(people, llm)
    services.move_stage(actor=people[Role.CONSULTANT], move="start",
                        record=detector.stages.get(stage="survey"))
    for who, state in ((Role.CONSULTANT, JobState.FAILED), (Role.OPERATOR, JobState.FAILED),
                       (Role.CONSULTANT, JobState.SUCCEEDED)):
        Job.objects.create(kind="env.npu_info", engagement=engagement, state=state,
                           created_by=people[who], finished_at=timezone.now())
    quote = quoting.create_quote(actor=people[Role.SALES], engagement=engagement)
    Quote.objects.filter(pk=quote.pk).update(state=Quote.State.IN_REVIEW)
    for text, due in (("later", today + timedelta(days=1)), ("late", today - timedelta(days=1))):
        control.add_todo(actor=people[Role.MANAGER], engagement=engagement, text=text,
                         owner=people[Role.CONSULTANT], due_on=due)
    control.add_risk(actor=people[Role.MANAGER], engagement=engagement, title="r",
                     probability=3, impact=3, owner=people[Role.CONSULTANT], review_on=today)
    change = changes.create_change(
        actor=people[Role.CONSULTANT], engagement=engagement, title="c", category="scope",
        requested_by="x", reason="x", before="x", after="x", effect_on_scope="x",
        effect_on_schedule="x", effect_on_price="x", effect_on_quality="x",
        effect_on_criteria="x")
    changes.submit_change(actor=people[Role.CONSULTANT], change=change)
    return engagement


def many(people, customer, count, code):
    """An engagement of `count` models, each with a stage submitted, a task and an issue."""
    made = Engagement.objects.create(code=code, name=code, customer=customer)
    for role, user in people.items():
        Membership.objects.create(engagement=made, user=user, role=role)
    models = MigratedModel.objects.bulk_create(
        MigratedModel(engagement=made, code=f"M{n}", name=f"m{n}", position=n)
        for n in range(count))
    records = StageRecord.objects.bulk_create(
        StageRecord(model=model, stage=stage, position=n,
                    state=StageState.SUBMITTED if n == 0 else StageState.NOT_STARTED)
        for model in models for n, stage in enumerate(Stage.values))
    StageTransition.objects.bulk_create(
        StageTransition(record=record, move="submit", from_state="in_progress",
                        to_state="submitted", actor=people[Role.CONSULTANT], at=timezone.now())
        for record in records if record.position == 0)
    return made
