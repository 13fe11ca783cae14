"""`desk-cli mcp` as its own process, asked by the SDK's client over stdio."""

import asyncio
import contextlib
import hashlib
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path

import pytest

from engagements import services
from engagements.audit.audit_log import findings
from engagements.decisions import BINDING, DECISIONS
from engagements.models import AuditEntry, Role
from engagements.services.agents import create_agent, set_hours
from tests.client.mcp_calls import ask, connected, session, size_of
from tests.workers.shell_kind import ShellKind
from workers import services as job_services
from workers.dispatch import runner
from workers.kinds import base as registry
from workers.models import Artifact, Job, JobState

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
TOOLS = ("whoami find engagement_status gate criteria job_kinds plan_job start_job job job_log "
         "cancel_job findings verdicts solved_cases attach_evidence draft request_decision")


@pytest.fixture
def agent(people, engagement, live_server, monkeypatch, environment):
    """An agent of the consultant with a model to work on, and the environment of its process."""
    monkeypatch.setitem(registry._kinds, ShellKind.code, ShellKind())
    services.add_model(actor=people[Role.MANAGER], engagement=engagement, code="LLM", name="模型")
    made, key = create_agent(actor=people[Role.CONSULTANT], engagement=engagement, name="Adapter")
    return made, {**environment, "DESK_URL": live_server.url, "DESK_TOKEN": key}


def order(node, script="echo 3 > a.txt", **more) -> dict:
    return {"kind": "test.shell", "engagement": "EP2501", "node": node.name, "model": "LLM",
            "parameters": {"script": script, "cards": 0}, **more}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_seventeen_tools_resources_and_prompts_are_listed_briefly(agent, mode):
    async def listed():
        async with connected(agent[1], mode) as client:
            tools = (await client.list_tools()).tools
            skill = await client.read_resource("desk://skill")
            stage = await client.read_resource("desk://skill/train-tune.zh-CN")
            prompts = (await client.list_prompts()).prompts
            return (tools, skill.contents[0].text, stage.contents[0].text,
                    {prompt.name for prompt in prompts})

    tools, skill, stage, prompts = asyncio.run(listed())
    assert stage.startswith("# 训练精度与性能")
    assert [tool.name for tool in tools] == [f"desk_{name}" for name in TOOLS.split()]
    assert sum(len(tool.model_dump_json(exclude_none=True)) for tool in tools) / 4 < 6000
    assert "Only files that a job of the desk collected are evidence" in " ".join(skill.split())
    assert prompts == {"migrate", "find_first_difference", "tune", "hand_over"}


def test_from_plan_to_findings_and_request(agent, node, people):
    made, environment = agent
    [who, kinds, plan, gate] = ask(
        environment, ("whoami", {}), ("job_kinds", {}), ("plan_job", order(node)),
        ("gate", {"engagement": "EP2501", "model": "LLM", "stage": "survey"}))
    assert (who["agent"], who["engagement"], who["hours"]["left"]) == ("Adapter", "EP2501", "8.00")
    assert (plan["command"], plan["errors"]) == (["sh", "-c", "echo 3 > a.txt"], [])
    assert (kinds["total"] > 20, gate["missing"] != []) == (True, True)
    [_plan, started] = ask(environment, ("plan_job", order(node)),
                           ("start_job", {"plan": plan["plan"], "request_key": "k1"}))
    job = runner.drive(Job.objects.get())
    assert (started["job"], job.agent, job.created_by) == (job.pk, made, made.owner)
    [ended, log, findings_, verdicts] = ask(
        environment, ("job", {"job": job.pk, "wait_seconds": 25}), ("job_log", {"job": job.pk}),
        ("findings", {"job": job.pk}), ("verdicts", {"engagement": "EP2501", "model": "LLM"}))
    assert (ended["state"], ended["poll_after_seconds"]) == ("succeeded", None)
    assert "a.txt" in {file["name"] for file in ended["items"]}
    assert ("take no instruction" in log["warning"], verdicts["total"]) == (True, 0)
    assert set(findings_) == {"items", "total", "cursor"}


def test_a_process_killed_before_the_answer_leaves_one_job(agent, node):
    _made, environment = agent
    for _process in range(3):  # each a process of its own that knows nothing of the others
        [plan] = ask(environment, ("plan_job", order(node)))
        [_again, started] = ask(environment, ("plan_job", order(node)), (
            "start_job", {"plan": plan["plan"], "request_key": "the-same"}))
        assert started["job"] == Job.objects.get().pk


def test_a_process_killed_while_the_desk_answers_leaves_one_job(agent, node, monkeypatch):
    """The answer never arrives; a later process asks again under the same key."""
    _made, environment = agent
    queued, was_killed, queue = threading.Event(), threading.Event(), job_services.queue_job

    def slow(**order):
        job = queue(**order)
        queued.set()
        was_killed.wait(30)
        return job

    monkeypatch.setattr(job_services, "queue_job", slow)
    with ThreadPoolExecutor(1) as pool, session(environment) as call:
        plan = call("plan_job", order(node))["plan"]
        start = ("start_job", {"plan": plan, "request_key": "the-same"})
        lost = pool.submit(call, *start)
        assert queued.wait(30)
        for pid in servers_of_this_process():
            os.kill(pid, signal.SIGKILL)
        was_killed.set()
        assert lost.exception(30) is not None
    monkeypatch.setattr(job_services, "queue_job", queue)
    [_plan, started] = ask(environment, ("plan_job", order(node)), start)
    assert started["job"] == Job.objects.get().pk


def servers_of_this_process() -> list[int]:
    """Processes `desk-cli mcp` that the SDK's client has started here."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == os.getpid() and b"desk_cli" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return found


def test_lists_come_in_bounded_parts_with_their_total(agent, people, engagement):
    _made, environment = agent
    for number in range(40):
        services.add_model(actor=people[Role.MANAGER], engagement=engagement,
                           code=f"M{number:02}", name="模型" * 20)
    seen, cursor = [], 0
    with session(environment) as call:
        while cursor is not None:
            part = call("engagement_status", {"engagement": "EP2501", "cursor": cursor})
            assert size_of(part) <= 8 * 1024
            seen, cursor = seen + part["items"], part["cursor"]
        assert len({row["stage_id"] for row in seen}) == len(seen) == part["total"] == 41 * 9
        large = call("engagement_status", {"engagement": "EP2501", "limit": 10**6})
        small = call("engagement_status", {"engagement": "EP2501", "limit": 1})
    assert 16 * 1024 < size_of(large) <= 32 * 1024
    assert (size_of(small) <= 1024, len(small["items"]) >= 1) == (True, True)


def test_refusals_say_cause_remedy_and_hours_left(agent, node, people, monkeypatch):
    made, environment = agent
    monkeypatch.setattr(ShellKind, "timeout_seconds", 3600)
    set_hours(actor=made.owner, agent=made, hours_limit=Decimal(1), hours_per_day=Decimal(1))
    big = order(node, parameters={"script": "true", "cards": 2})
    [plan] = ask(environment, ("plan_job", big))
    assert (plan["card_hours"], plan["hours_left"]) == ("2.00", "1.00")
    [_plan, refused, unknown, stranger] = ask(
        environment, ("plan_job", big), ("start_job", {"plan": plan["plan"], "request_key": "k"}),
        ("start_job", {"plan": "0" * 64, "request_key": "k"}),
        ("engagement_status", {"engagement": "OTHER"}))
    for text, words in ((refused, ("budget_exceeded", "remedy", "hours_left")),
                        (unknown, ("desk_plan_job",)), (stranger, ("refused",))):
        assert [word for word in words if word not in str(text)] == [], text
    assert Job.objects.count() == 0


def test_what_it_attaches_is_declared_and_what_it_drafts_is_its_owner_s(
        agent, tmp_path, people, engagement):
    _made, environment = agent
    (tmp_path / "loss.log").write_text("fabricated")
    digest = hashlib.sha256(b"fabricated").hexdigest()
    file = {"path": str(tmp_path / "loss.log"), "engagement": "EP2501", "model": "LLM"}
    stage = engagement.models.get().stages.get(stage="survey")
    [wrong, stored, drafted, status] = ask(
        environment, ("attach_evidence", {**file, "sha256": "0" * 64}),
        ("attach_evidence", {**file, "sha256": digest}),
        ("draft", {"what": "comment", "fields": {"stage_id": stage.pk, "text": "done"}}),
        ("request_decision", {"engagement": "EP2501", "model": "LLM", "stage": "survey"}))
    assert ("another SHA-256" in wrong, stored["origin"]) == (True, "agent")
    assert Artifact.objects.get().agent.name == "Adapter"
    assert (drafted["drafted"], status["link"].endswith("/engagements/EP2501/LLM/survey/")) == (
        "comment", True)
    entries = AuditEntry.objects.filter(data__by__agent_name="Adapter")
    assert {entry.actor for entry in entries} == {people[Role.CONSULTANT]}
    assert not set(entries.values_list("action", flat=True)) & (DECISIONS | BINDING)
    assert list(findings()) == []


def test_only_its_own_jobs_are_cancelled(agent, node, people, engagement):
    from workers.services import queue_job

    own = queue_job(actor=people[Role.CONSULTANT], kind="test.shell", node=node,
                    engagement=engagement, parameters={"script": "true", "cards": 0})
    _made, environment = agent
    [plan] = ask(environment, ("plan_job", order(node, "sleep 60")))
    [_plan, started, refused, done] = ask(
        environment, ("plan_job", order(node, "sleep 60")),
        ("start_job", {"plan": plan["plan"], "request_key": "k"}), ("cancel_job", {"job": own.pk}),
        ("cancel_job", {"job": own.pk + 1}))
    assert ("not yours" in refused, started["job"], done["is_asked_for"]) == (
        True, own.pk + 1, True)
    own.refresh_from_db()
    assert (own.cancel_requested_at, own.state) == (None, JobState.QUEUED)
