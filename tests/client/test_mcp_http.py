"""The MCP server over HTTP as its own process: keys of its own, several agents, the same tools."""

import base64
import hashlib
import time

import httpx
import pytest

from engagements import services
from engagements.models import Role
from engagements.services.agents import create_agent
from tests.client.mcp_calls import ask
from tests.workers.shell_kind import ShellKind
from workers.dispatch import runner
from workers.kinds import base as registry
from workers.models import Artifact, Job
from workers.services.agents import stop_agent

http = httpx.Client(timeout=60)  # the desk and the server are processes of their own beside others
pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def make(people, engagement, monkeypatch):
    monkeypatch.setitem(registry._kinds, ShellKind.code, ShellKind())
    services.add_model(actor=people[Role.MANAGER], engagement=engagement, code="LLM", name="模型")
    return lambda name="Adapter", **facts: create_agent(
        actor=people[Role.CONSULTANT], engagement=engagement, name=name, **facts)


def order(node, script="echo 3 > a.txt") -> dict:
    return {"kind": "test.shell", "engagement": "EP2501", "node": node.name, "model": "LLM",
            "parameters": {"script": script, "cards": 0}}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_same_tools_work_and_each_agent_has_its_own(mcp_address, make, node, mode):
    (first, key), (_second, other) = make(audience="mcp"), make("Second", audience="mcp")
    [who, plan] = ask((mcp_address, key), ("whoami", {}), ("plan_job", order(node)), mode=mode)
    start = ("start_job", {"plan": plan["plan"], "request_key": "k1"})
    [refused] = ask((mcp_address, other), start, mode=mode)  # another agent's plan
    [started, again, decide] = ask((mcp_address, key), start, start, (
        "request_decision", {"engagement": "EP2501", "model": "LLM", "stage": "survey"}), mode=mode)
    job = runner.drive(Job.objects.get())
    assert (who["agent"], "no such plan" in refused) == ("Adapter", True)
    assert (started["job"], again["job"], job.agent) == (job.pk, job.pk, first)
    assert decide["link"] == f"{mcp_address.removesuffix('/mcp')}/engagements/EP2501/LLM/survey/"
    [ended] = ask((mcp_address, key), ("job", {"job": job.pk, "wait_seconds": 25}), mode=mode)
    assert ended["state"] == "succeeded"


def test_a_key_is_of_one_audience(mcp_address, live_server, make):
    (agent, key), (_second, of_api) = make(audience="mcp"), make("Second")
    me = f"{live_server.url}/api/v1/agents/me/"

    def mcp(words: str) -> int:
        return http.post(mcp_address, json={}, headers={"Authorization": words}).status_code

    def api(words: str) -> int:
        return http.get(me, headers={"Authorization": words}).status_code

    assert (mcp(f"Bearer {of_api}"), api(f"Token {of_api}")) == (401, 200)
    assert (mcp(f"Bearer {key}") != 401, api(f"Token {key}"), api(f"Bearer {key}")) == (
        True, 401, 401)
    hashed, now = hashlib.sha256(key.encode()).hexdigest(), int(time.time())
    assert api(f"Token mcp.{hashed}.{now}.{'0' * 64}") == 401
    challenge = http.post(mcp_address, json={}).headers["WWW-Authenticate"]
    assert "oauth-protected-resource/mcp" in challenge
    assert http.post(mcp_address, json={}, headers={
        "Authorization": f"Bearer {key}", "Host": "elsewhere.example"}).status_code == 421
    stop_agent(actor=agent.owner, agent=agent)
    assert mcp(f"Bearer {key}") == 401


def test_it_reads_no_file_of_its_own_machine(mcp_address, make):
    _agent, key = make(audience="mcp")
    digest = hashlib.sha256(b"mine").hexdigest()
    file = {"path": "/etc/hostname", "sha256": digest, "engagement": "EP2501"}
    [refused, stored] = ask(
        (mcp_address, key), ("attach_evidence", file),
        ("attach_evidence", {**file, "content_base64": base64.b64encode(b"mine").decode()}))
    assert ("reads no files" in refused, stored["origin"]) == (True, "agent")
    assert (Artifact.objects.get().name, Artifact.objects.get().agent.name) == (
        "hostname", "Adapter")
