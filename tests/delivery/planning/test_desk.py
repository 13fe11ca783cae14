"""My desk and the board: who sees what waits, in which order, at a constant cost."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from assessments.services import load_standard_definitions
from delivery.planning.board import board
from delivery.planning.desk import waiting
from delivery.planning.models import Task
from delivery.planning.services import changes, control, plan
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
from workers.models import Job, JobState

DAY = timedelta(days=1)


def submit_survey(people, model):
    record = model.stages.get(stage="survey")
    for move in ("start", "submit"):
        services.move_stage(actor=people[Role.CONSULTANT], record=record, move=move)
    return record


@pytest.fixture
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
    for text, due in (("later", today + DAY), ("late", today - DAY)):
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


def test_desk_of_each_role_in_order_of_urgency(people, busy):
    kinds = {role: [(item.urgency, item.kind) for item in waiting(user)]
             for role, user in people.items()}
    assert kinds[Role.CONSULTANT] == [
        (0, "todo"), (1, "quote"), (2, "job"), (3, "stage_in_progress"), (3, "risk"),
        (3, "todo")]
    assert sorted(kinds[Role.MANAGER]) == [(1, "change"), (1, "quote"), (1, "stage_submitted")]
    assert kinds[Role.OPERATOR] == [(2, "job")]
    assert kinds[Role.SALES] == []
    assert kinds[Role.REVIEWER] == [(1, "change")]


def test_a_quote_waits_for_each_step_of_its_chain(people, busy):
    def wait_for_quotes():
        return {role for role, user in people.items()
                if any(item.kind == "quote" for item in waiting(user))}

    assert wait_for_quotes() == {Role.ADMINISTRATOR, Role.MANAGER, Role.CONSULTANT}
    Quote.objects.update(state=Quote.State.REVIEWED, reviewed_by=people[Role.MANAGER])
    assert wait_for_quotes() == {Role.ADMINISTRATOR}


def test_nobody_approves_his_own(people, busy):
    Quote.objects.update(created_by=people[Role.MANAGER])
    assert "quote" not in {item.kind for item in waiting(people[Role.MANAGER])}
    assert "quote" in {item.kind for item in waiting(people[Role.ADMINISTRATOR])}


def test_every_entry_leads_to_a_page_that_opens(client, people, busy):
    for user in people.values():
        client.force_login(user)
        page = client.get(reverse("portal:home")).content.decode()
        for item in waiting(user):
            assert f'href="{item.url}"' in page
            assert client.get(item.url).status_code == 200


def test_stranger_s_desk_is_empty(people, busy, stranger):
    assert waiting(stranger) == []
    assert board(stranger, {}) == []


def test_board_says_since_when_for_whom_and_what_it_holds_up(people, busy, llm, detector):
    now = timezone.now() + 9 * DAY
    plan.draft_plan(actor=people[Role.MANAGER], engagement=busy, starts_on=timezone.localdate())
    Task.objects.filter(model=llm, stage="design").update(owner=people[Role.OPERATOR])
    first, second = sorted(board(people[Role.MANAGER], {}, now), key=lambda r: r.model.position)
    assert (first.current.state, first.age, first.waits_for, first.is_blocked) == (
        StageState.SUBMITTED, 9, ["Manager"], True)
    assert first.blocks == f"{Stage.DESIGN.label} · Operator"
    assert (second.waits_for, second.is_blocked, second.is_old) == (["Consultant"], False, True)
    control.add_issue(
        actor=people[Role.MANAGER], engagement=busy, description="缺数据", level="blocking",
        model=detector, raised_on=timezone.localdate(), owner=people[Role.SALES],
        due_on=timezone.localdate())
    [blocked] = board(people[Role.MANAGER], {"q": "DET"}, now)
    assert (blocked.waits_for, blocked.is_blocked) == (["Sales"], True)


@pytest.mark.parametrize(("params", "codes"), [
    ({}, {"LLM", "DET"}), ({"q": "llm"}, {"LLM"}), ({"state": "submitted"}, {"LLM"}),
    ({"stage": "design"}, set()), ({"days": "3"}, {"LLM", "DET"}), ({"days": "4"}, set()),
    ({"blocked": "yes"}, {"LLM"}), ({"engagement": "EP2501"}, {"LLM", "DET"}),
    ({"engagement": "none"}, set())])
def test_board_filters(people, busy, params, codes):
    rows = board(people[Role.CONSULTANT], params, timezone.now() + 3 * DAY)
    assert {row.model.code for row in rows} == codes


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


def queries_of(client, url) -> int:
    with CaptureQueriesContext(connection, ) as caught:
        assert client.get(url).status_code == 200
    return len(caught)


def test_300_models_cost_the_queries_of_three(client, people, engagement):
    client.force_login(people[Role.MANAGER])
    urls = [reverse("planning:board"), reverse("portal:home")]
    many(people, engagement.customer, 3, "SMALL")
    few = [queries_of(client, url) for url in urls]
    many(people, engagement.customer, 297, "LARGE")
    assert len(board(people[Role.MANAGER], {})) == 300
    assert [queries_of(client, url) for url in urls] == few


def test_desk_by_api(client, people, busy):
    client.force_login(people[Role.CONSULTANT])
    found = client.get("/api/v1/desk/").json()
    assert [row["kind"] for row in found] == [
        "todo", "quote", "job", "stage_in_progress", "risk", "todo"]
