"""Agents: rights, budget and end; their owner answers for what they do."""

import hashlib
import hmac
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import IntegrityError, connection, transaction
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from delivery.documents.bilingual import in_language
from delivery.reports.facts.people import organisation
from delivery.reports.facts.source import Source
from delivery.reports.models import Document
from engagements import services
from engagements.access import Can, allowed
from engagements.audit import audit_log
from engagements.errors import InvalidInput, NotAllowed
from engagements.models import Agent, ApiToken, AuditEntry, Membership, Role, User
from engagements.models.agent import credited
from engagements.services import agents
from engagements.services.api_tokens import create_token
from tests.workers.shell_kind import ShellKind
from workers.kinds import base as registry
from workers.models import CardLease, Job, JobState
from workers.services import jobs
from workers.services.agent_hours import BudgetExceeded, Hours, hours_of
from workers.services.agents import stop_agent


class HourKind(ShellKind):
    timeout_seconds = 3600


ORDER = {"kind": "test.shell", "parameters": {"script": "true", "cards": 2}}


@pytest.fixture(autouse=True)
def shell_kind(monkeypatch):
    monkeypatch.setitem(registry._kinds, HourKind.code, HourKind())


@pytest.fixture
def owner(people) -> User:
    return people[Role.CONSULTANT]


@pytest.fixture
def made(owner, engagement):
    """An agent, its owner as the agent signs in, and a client that sends its key."""
    def make(**facts):
        agent, key = agents.create_agent(actor=owner, engagement=engagement, name="Adapter",
                                         harness="a script", **facts)
        signed_in = User.objects.get(pk=owner.pk)
        signed_in.token = ApiToken.objects.get(agent=agent)
        return agent, signed_in, APIClient(HTTP_AUTHORIZATION=f"Token {key}")

    return make


def test_its_rights_are_work_whatever_its_owner_may(people, engagement):
    manager = people[Role.MANAGER]
    _agent, key = agents.create_agent(actor=manager, engagement=engagement, name="x")
    signed_in = User.objects.get(pk=manager.pk)
    signed_in.token = ApiToken.objects.get()
    assert {action for action in Can if allowed(signed_in, action)} == {
        Can.VIEW_INTERNAL, Can.WORK}
    api = APIClient(HTTP_AUTHORIZATION=f"Token {key}")
    assert api.get("/api/v1/engagements/").json()["count"] == 1
    assert api.get("/api/v1/agents/me/").json()["name"] == "x"
    assert api.post("/api/v1/models/", {"engagement": engagement.code, "code": "M", "name": "m",
                                        "scope": "full"}).status_code == 403
    assert api.post("/api/v1/agents/", {"engagement": engagement.code, "name": "y"}
                    ).status_code == 403
    with pytest.raises(NotAllowed):
        agents.create_agent(actor=signed_in, engagement=engagement, name="y")


def test_an_agent_belongs_to_who_works_there_and_to_no_reviewer(people, engagement):
    for role in (Role.REVIEWER, Role.SALES, Role.OPERATOR):
        with pytest.raises(NotAllowed):
            agents.create_agent(actor=people[role], engagement=engagement, name="x")


@pytest.mark.parametrize("end", ["stop", "expiry", "member", "lock"])
def test_ends(people, engagement, owner, made, end):
    agent, _signed_in, api = made()
    assert api.get("/api/v1/agents/me/").status_code == 200
    if end == "stop":
        stop_agent(actor=people[Role.MANAGER], agent=agent)
    elif end == "expiry":
        Agent.objects.update(created_at=timezone.now() - timedelta(days=9),
                             expires_at=timezone.now() - timedelta(seconds=1))
    elif end == "member":
        services.remove_member(actor=people[Role.MANAGER], membership=Membership.objects.get(
            user=owner, engagement=engagement))
    else:
        services.update_person(actor=people[Role.ADMINISTRATOR], person=owner, is_active=False)
    assert api.get("/api/v1/agents/me/").status_code == 401
    assert not Agent.objects.get().is_in_force


def test_the_database_keeps_scope_agent_and_engagement_together(made):
    made()
    for changes in ({"scope": "write"}, {"agent": None}, {"engagement": None}):
        with pytest.raises(IntegrityError, match="apitoken_of_an_agent"), transaction.atomic():
            ApiToken.objects.update(**changes)


def test_it_acts_in_its_owner_s_name_and_is_named_with_its_jobs(client, made, owner, node):
    agent, signed_in, api = made()
    job = jobs.queue_job(actor=signed_in, node=node, engagement=agent.engagement, **ORDER)
    assert (job.created_by, job.agent) == (owner, agent)
    assert [row["id"] for row in api.get("/api/v1/jobs/", {"agent": agent.pk}).json()["results"]
            ] == [job.pk]
    client.force_login(owner)
    assert "Adapter" in client.get(reverse("workers:job", args=[job.pk])).content.decode()


def test_jobs_reserve_hours_and_are_settled_by_what_they_used(made, node):
    agent, signed_in, _api = made(hours_limit=Decimal(5), hours_per_day=Decimal(4))
    job = jobs.queue_job(actor=signed_in, node=node, engagement=agent.engagement, **ORDER)
    assert hours_of(agent) == Hours(Decimal(0), Decimal(2), Decimal(2))
    began = timezone.now() - timedelta(minutes=30)
    for card in (0, 1):
        CardLease.objects.create(node=node, card_index=card, job=job, fence=1, taken_at=began,
                                 released_at=began + timedelta(minutes=15))
    Job.objects.update(state=JobState.FAILED, finished_at=timezone.now())
    assert hours_of(agent) == Hours(Decimal("0.5"), Decimal(0), Decimal("3.5"))
    jobs.retry_job(actor=signed_in, job=job)
    with pytest.raises(BudgetExceeded) as refused:
        jobs.queue_job(actor=signed_in, node=node, engagement=agent.engagement, **ORDER)
    assert refused.value.details == {"wanted": "2.00", "left": "1.50"}
    Job.objects.update(state=JobState.FAILED, finished_at=timezone.now() - timedelta(days=1))
    assert hours_of(agent).left == Decimal(4)


def test_only_a_person_raises_its_hours(people, made, owner):
    agent, signed_in, api = made()
    limits = {"hours_limit": Decimal(99), "hours_per_day": Decimal(9)}
    for actor in (signed_in, people[Role.SALES]):
        with pytest.raises(NotAllowed):
            agents.set_hours(actor=actor, agent=agent, **limits)
    assert api.post(f"/api/v1/agents/{agent.pk}/hours/", limits).status_code == 403
    assert agents.set_hours(actor=owner, agent=agent, **limits).hours_limit == 99


def test_stopping_it_cancels_what_it_has_under_way(client, made, owner, node):
    agent, signed_in, _api = made()
    own = jobs.queue_job(actor=owner, node=node, engagement=agent.engagement, **ORDER)
    job = jobs.queue_job(actor=signed_in, node=node, engagement=agent.engagement, **ORDER)
    client.force_login(owner)
    page = reverse("workers:agents", args=["EP2501"])
    assert "Adapter" in client.get(page).content.decode()
    client.post(reverse("workers:agent_stop", args=["EP2501", agent.pk]))
    job.refresh_from_db()
    own.refresh_from_db()
    assert (bool(job.cancel_requested_at), own.cancel_requested_at) == (True, None)
    assert not Agent.objects.get().is_in_force


def test_the_page_adds_one_and_shows_its_key_once(client, owner, people, engagement):
    client.force_login(owner)
    page = reverse("workers:agents", args=["EP2501"])
    key = client.post(page, {"name": "A", "days": "7", "hours_limit": "3", "hours_per_day": "2",
                             "harness": "codex"}).context["key"]
    assert APIClient(HTTP_AUTHORIZATION=f"Token {key}").get("/api/v1/agents/me/").json()[
        "hours_limit"] == "3.00"
    assert key not in client.get(page).content.decode()
    client.force_login(people[Role.REVIEWER])
    seen = client.get(page).content.decode()
    assert ("codex" in seen, "3.00" in seen) == (True, False)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("of", ["agent", "engagement"])
def test_twenty_starts_at_once_over_two_agents_never_overspend(made, node, people, of):
    hours = {"hours_limit": Decimal(4), "hours_per_day": Decimal(4)} if of == "agent" else {}
    pair = [made(**hours) for _ in range(2)]
    agents.set_engagement_hours(
        actor=people[Role.MANAGER], engagement=pair[0][0].engagement,
        agent_hours_limit=None if of == "agent" else Decimal(6))

    def start(number):
        agent, signed_in, _api = pair[number % 2]
        try:
            return jobs.queue_job(actor=signed_in, node=node, engagement=agent.engagement, **ORDER)
        except BudgetExceeded:
            return None
        finally:
            connection.close()

    with ThreadPoolExecutor(20) as pool:
        started = [job for job in pool.map(start, range(20)) if job]
    assert len(started) == Job.objects.count() == (4 if of == "agent" else 3)
    assert [hours_of(Agent.objects.get(pk=agent.pk)).left for agent, *_ in pair] == [0, 0]


def test_a_manager_limits_all_agents_of_the_engagement(client, made, people, owner, node):
    (agent, signed_in, api), (other, *_), manager = made(), made(), people[Role.MANAGER]
    for actor in (owner, signed_in, people[Role.REVIEWER]):
        with pytest.raises(NotAllowed):
            agents.set_engagement_hours(actor=actor, engagement=agent.engagement,
                                        agent_hours_limit=Decimal(99))
    limits = {"engagement": agent.engagement.pk, "agent_hours_limit": "3"}
    assert api.post("/api/v1/agents/engagement-hours/", limits).status_code == 403
    client.force_login(manager)
    page = reverse("workers:agents", args=["EP2501"])
    client.post(reverse("workers:engagement_hours", args=["EP2501"]), {"agent_hours_limit": "3"})
    jobs.queue_job(actor=signed_in, node=node, engagement=agent.engagement, **ORDER)
    other = Agent.objects.get(pk=other.pk)
    assert hours_of(other) == Hours(Decimal(0), Decimal(0), Decimal(1), Decimal(1))
    signed_in.token = other.tokens.get()
    with pytest.raises(BudgetExceeded) as refused:
        jobs.queue_job(actor=signed_in, node=node, engagement=agent.engagement, **ORDER)
    assert refused.value.details == {"wanted": "2.00", "left": "1.00"}
    assert [hours for hours in ("1.00", "3.00") if hours not in client.get(page).content.decode()
            ] == []
    browser = APIClient()
    browser.force_login(manager)
    answer = browser.post("/api/v1/agents/engagement-hours/",
                          {"engagement": agent.engagement.pk, "agent_hours_limit": None},
                          format="json")
    assert (answer.status_code, answer.json()) == (200, {"agent_hours_limit": None})
    assert hours_of(Agent.objects.get(pk=other.pk)).left == 8


def test_hours_cost_the_same_queries_however_many_jobs_there_were(
        made, node, django_assert_num_queries):
    agent, signed_in, _api = made(hours_limit=Decimal(99), hours_per_day=Decimal(99))
    for number in range(5):
        job = jobs.queue_job(actor=signed_in, node=node, engagement=agent.engagement, **ORDER)
        Job.objects.filter(pk=job.pk).update(state=JobState.FAILED, finished_at=timezone.now())
        CardLease.objects.create(node=node, card_index=0, job=job, fence=number,
                                 taken_at=timezone.now() - timedelta(hours=1),
                                 released_at=timezone.now())
    with django_assert_num_queries(3):  # no job is open: sums of leases, its own and of members
        assert round(hours_of(agent).used) == 5


def test_each_entry_of_an_agent_names_it_its_token_and_the_request_in_the_hash(made, node, owner):
    agent, _signed_in, api = made()
    answer = api.post("/api/v1/jobs/", {**ORDER, "node": node.pk,
                                        "engagement": agent.engagement.code}, format="json",
                      headers={"X-Request-ID": "agent-run-17"})
    entry = AuditEntry.objects.get(action="job.queue")
    assert (answer.status_code, entry.actor) == (201, owner)
    assert entry.data["by"] == {"token": str(agent.tokens.get()), "request": "agent-run-17",
                                "agent": agent.pk, "agent_name": "Adapter"}
    assert audit_log.entry_hash(entry) == entry.entry_hash
    entry.data["by"]["agent"] = 0
    assert audit_log.entry_hash(entry) != entry.entry_hash


def test_a_job_is_queued_as_it_was_planned_or_not_at_all(made, node):
    agent, _signed_in, api = made()
    order = {**ORDER, "node": node.pk, "engagement": agent.engagement.code}
    plan = api.post("/api/v1/jobs/plan/", order, format="json").json()
    assert (plan["command"], plan["card_hours"], plan["hours_left"], plan["errors"]) == (
        ["sh", "-c", "true"], "2.00", "8.00", [])
    other = {**order, "parameters": {"script": "false", "cards": 2}, "plan": plan["plan"]}
    refused = api.post("/api/v1/jobs/", other, format="json")
    assert (refused.status_code, refused.json()["title"]) == (409, "wrong_state")
    keyed = {"Idempotency-Key": "one"}
    made_ = [api.post("/api/v1/jobs/", {**order, "plan": plan["plan"]}, format="json",
                      headers=keyed) for _ in range(2)]
    assert {answer.status_code for answer in made_} == {201}
    assert Job.objects.count() == 1
    bad = api.post("/api/v1/jobs/plan/", {**order, "parameters": {"cards": 99}}, format="json")
    assert (bad.json()["plan"], bool(bad.json()["errors"]), Job.objects.count()) == ("", True, 1)


@pytest.fixture
def worked(made, node, people):
    """An agent that ran a job and moved and commented on a stage of a model."""
    agent, signed_in, _api = made(language_model="some model", skill_commit="abc123")
    model = services.add_model(actor=people[Role.MANAGER], engagement=agent.engagement,
                               code="LLM", name="模型")
    stage = model.stages.get(stage="survey")
    services.move_stage(actor=signed_in, record=stage, move="start")
    services.comment_on_stage(actor=signed_in, record=stage, text="numbers are in job 1")
    jobs.queue_job(actor=signed_in, node=node, model=model, stage="env", **ORDER)
    return agent, model


@pytest.mark.parametrize("role", [Role.CONSULTANT, Role.REVIEWER])
def test_its_work_is_seen_where_a_person_s_is_with_its_owner(client, worked, people, owner, role):
    agent, _model = worked
    client.force_login(people[role])
    matrix = client.get(reverse("engagements:engagement", args=["EP2501"]))
    cells = matrix.content.decode().split('class="desk-assigned" href=')[1:]
    assert [f">Adapter ({owner})</a>" in cell for cell in cells] == [True, True]
    stage = client.get(reverse("engagements:stage", args=["EP2501", "LLM", "survey"]))
    said = credited(owner, agent)
    assert stage.content.decode().count(said) == (2 if role == Role.CONSULTANT else 1)
    assert said in matrix.content.decode()
    job = client.get(reverse("workers:job", args=[Job.objects.get().pk])).content.decode()
    assert (str(owner) in job, f"#agent-{agent.pk}" in job) == (True, True)


def test_documents_name_it_among_the_people_and_at_its_runs(worked, owner):
    agent, _model = worked
    agents.create_agent(actor=owner, engagement=agent.engagement, name="Idle")
    source = Source(Document(engagement=agent.engagement, kind="MP"))
    rows = in_language(organisation(source), "en")["rows"]
    assert ["Idle" in str(row) for row in rows] == [False] * len(rows)
    [row] = [row for row in rows if row[0] == "Adapter"]
    assert [row[1], row[3]] == ["Agent · a script · some model · abc123 (claimed by its owner)",
                                f"Agent of {owner.localized_name}"]
    assert source.runs[0]["who"]["en"] == f"{owner.localized_name}, through the agent “Adapter”"


def test_the_audit_log_is_filtered_by_agent(client, worked, people):
    agent, _model = worked
    client.force_login(people[Role.MANAGER])
    page = client.get(reverse("portal:audit"), {"agent": agent.pk}).context["page"]
    actions = {"stage.start", "stage.comment", "job.queue"}
    assert {entry.action for entry in page.object_list} == actions
    browser = APIClient()
    browser.force_login(people[Role.MANAGER])
    found = browser.get("/api/v1/audit-entries/", {"agent": agent.pk}).json()["results"]
    assert {row["action"] for row in found} == actions


@pytest.mark.parametrize(("secret", "seconds", "status"), [
    ("shared", 0, 200), ("shared", -90, 401), ("other", 0, 401), ("", 0, 401)])
def test_the_api_believes_what_the_mcp_server_signed_within_a_minute(
        made, settings, secret, seconds, status):
    settings.MCP_SECRET = "shared"
    _agent, _signed_in, api = made(audience="mcp")
    settings.MCP_SECRET = "" if not secret else "shared"
    signed = f"{ApiToken.objects.get().key_hash}.{int(time.time()) + seconds}"
    signature = hmac.new(secret.encode(), signed.encode(), hashlib.sha256).hexdigest()
    assert api.get("/api/v1/agents/me/").status_code == 401  # the key itself
    answer = APIClient(HTTP_AUTHORIZATION=f"Token mcp.{signed}.{signature}").get(
        "/api/v1/agents/me/")
    assert answer.status_code == status


def test_keys_of_the_mcp_server_need_one_and_are_agents_alone(made, people, owner):
    with pytest.raises(InvalidInput, match="DESK_MCP_SECRET"):
        made(audience="mcp")
    create_token(actor=owner, owner=owner, name="t", scope="write")
    with pytest.raises(IntegrityError, match="apitoken_for_mcp"), transaction.atomic():
        ApiToken.objects.update(audience="mcp")
