"""The operation after acceptance: out of scope until somebody brings it in, then priced, planned
and done before the engagement is closed."""

import pytest
from django.urls import reverse
from django.utils import timezone

from assessments import services as assessing
from assessments.models import MetricDefinition
from delivery.acceptance import services
from delivery.acceptance.models import RegressionRun
from delivery.next_steps.inbox import inbox_items
from delivery.planning.effort.model_facts import model_facts
from delivery.planning.estimation import model_lines
from delivery.reports.facts.run_records import stages
from delivery.reports.facts.waivers_and_omissions import departures
from engagements import services as engagement_services
from engagements.closing import conditions_of
from engagements.errors import InvalidInput, WrongState
from engagements.gates import evaluate
from engagements.models import ChecklistItem, MigratedModel, Role, StageRecord
from engagements.stages import Stage, StageMove, StageState
from tests.delivery.acceptance.test_closing import accepted  # noqa: F401
from tests.delivery.conftest import api_client
from workers.models import Job, JobState


def of(model) -> StageRecord:
    return model.stages.get(stage=Stage.OPERATION)


def closing(engagement) -> bool:
    return next(c.is_met for c in conditions_of(engagement) if c.code == "operation")


def checks(record) -> dict[str, bool]:
    return {check.code: check.is_met for check in evaluate(record)}


@pytest.fixture
def model(delivered) -> MigratedModel:
    return MigratedModel.objects.get(code="LLM")


@pytest.fixture
def in_scope(people, model):
    """Brought in before anything was agreed on."""
    engagement_services.move_stage(actor=people[Role.MANAGER], record=of(model),
                                   move=StageMove.RESTORE, comment="客户委托运维")
    return of(model)


def test_it_is_out_of_scope_at_first_and_no_departure(delivered, model):
    record = of(model)
    assert (record.state, record.method_step[0]) == (StageState.SKIPPED, "6")
    assert not record.transitions.exists()
    assert Stage.OPERATION not in {line.stage for line in model_lines(model_facts(model), {})}
    assert departures(delivered)["skipped"] == []
    assert closing(delivered)


def test_in_scope_it_has_days_and_a_column_behind_the_acceptance(people, client, in_scope, model):
    [line] = [x for x in model_lines(model_facts(model), {}) if x.stage == Stage.OPERATION]
    assert (line.item, line.days[1]) == ("operation", 4)
    client.force_login(people[Role.MANAGER])
    page = client.get(reverse("engagements:engagement", args=[model.engagement.code]),
                      headers={"accept-language": "en"}).content.decode()
    assert page.index("Inference tuning</") < page.index("Acceptance</") < page.index(
        "Integration and operation</")
    rows = api_client(people[Role.MANAGER]).get(
        f"/api/v1/stages/?engagement={model.engagement.code}&page_size=100").json()["results"]
    assert [row["stage"] for row in rows if row["model"] == model.pk][-2:] == [
        "accept", "operation"]
    assert len(stages(model.engagement)[0]["stages"]) == 7  # documents of the acceptance


def test_no_criterion_is_put_behind_the_acceptance(people, delivered, model):
    manager = people[Role.MANAGER]
    draft = assessing.draft_criteria(actor=manager, engagement=delivered)
    with pytest.raises(InvalidInput, match=r"earlier stage|更早"):
        assessing.add_criterion(
            actor=manager, criteria_set=draft, model=model, threshold=30, stage=Stage.OPERATION,
            definition=MetricDefinition.objects.get(code="latency", version=1))


def test_the_engagement_closes_once_operation_is_settled(
        people, in_scope, delivered, accepted, model):  # noqa: F811
    manager, consultant = people[Role.MANAGER], people[Role.CONSULTANT]
    delivered.refresh_from_db()
    model.stages.filter(stage=Stage.ACCEPT).update(
        state=StageState.PASSED, passed_at=timezone.now())
    model.stages.exclude(stage__in=(Stage.ACCEPT, Stage.OPERATION)).update(
        state=StageState.SKIPPED)
    assert delivered.state == "accepted"
    assert not closing(delivered)
    engagement_services.move_stage(actor=consultant, record=in_scope, move=StageMove.START)
    assert reverse("engagements:stage", args=[delivered.code, "LLM", "operation"]) in {
        item.url for item in inbox_items(consultant)}
    claim = services.raise_claim(actor=consultant, engagement=delivered, description="告警误报",
                                 found_on=timezone.localdate(), model=model)
    job = Job.objects.create(kind="env.npu_info", engagement=delivered, model=model,
                             state=JobState.RUNNING, created_by=consultant)
    run = RegressionRun.objects.create(
        engagement=delivered, number=1, model=model, release="CANN 8.2.RC1",
        node=Job.objects.exclude(node=None).first().node, started_by=consultant)
    run.jobs.create(accepted=Job.objects.filter(model=model).first(), repeated=job)
    assert checks(in_scope) == {"checklist": False, "claims": False, "regression": False}
    Job.objects.filter(pk=job.pk).update(state=JobState.SUCCEEDED, finished_at=timezone.now())
    services.report_repair(actor=consultant, claim=claim, report="调整阈值",
                           regression=Job.objects.get(pk=job.pk))
    services.close_claim(actor=people[Role.REVIEWER], claim=claim)
    engagement_services.tick_item(actor=consultant, item=ChecklistItem.objects.get(
        record=in_scope), evidence="移交记录 1", is_done=True)
    assert all(checks(in_scope).values())
    engagement_services.move_stage(actor=consultant, record=in_scope, move=StageMove.SUBMIT)
    engagement_services.move_stage(actor=manager, record=in_scope, move=StageMove.PASS)
    assert closing(delivered)


def test_it_waits_for_the_acceptance(people, in_scope):
    with pytest.raises(WrongState):
        engagement_services.move_stage(actor=people[Role.CONSULTANT], record=in_scope,
                                       move=StageMove.START)
