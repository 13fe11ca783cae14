"""How long the answers of the MCP server are, and how long it waits: over a desk of many rows."""

import asyncio
import json
import sys

import pytest

from tests.client.conftest import CLIENT

KIB = 1024
STAGES = [{"id": n, "model": n // 8, "stage": "survey", "state": "not_started",
           "allowed_moves": ["start"]} for n in range(328)]
RUNNING = {"id": 7, "kind": "env.npu_info", "state": "running", "sentence": "", "exit_status": None,
           "progress_done": None, "progress_total": None, "last_loss": None,
           "started_at": "2026-01-01T00:00:00Z", "finished_at": None, "diagnosis": "x" * 9000,
           "results": {}}


class ManyRows:
    """Answers as the API does, of 41 models and a job that does not end."""

    portal, is_local, caller = "https://desk.example.com", True, ""

    def rows(self, path, **_filters):
        return STAGES if path == "stages/" else [{"id": n, "code": f"M{n:02}"} for n in range(41)]

    def get(self, path, **_filters):
        return RUNNING if path.startswith("jobs/") else [{"text": "x" * 300}] * 50

    def post(self, _path, _body=None, **_more):
        return {"plan": "hash", "command": ["x" * 9000], "errors": [], "warnings": []}


@pytest.fixture
def tools(monkeypatch):
    """The module of the tools, whose server `call` asks."""
    monkeypatch.syspath_prepend(str(CLIENT))
    from desk_cli.mcp_server import tools as found

    yield found
    for name in [name for name in sys.modules if name.partition(".")[0] == "desk_cli"]:
        del sys.modules[name]


@pytest.fixture
def call(tools):
    """Calls a tool: the text of its answer, and what that says."""
    from mcp.client import Client

    from desk_cli.mcp_server.server import server

    async def go(name, arguments):
        async with Client(server(ManyRows())) as client:
            answer = await client.call_tool(f"desk_{name}", arguments)
            assert not answer.is_error
            return answer.content[0].text

    def asked(name, **arguments):
        text = asyncio.run(go(name, arguments))
        return len(text.encode()), json.loads(text)

    return asked


def test_a_list_comes_in_parts_of_eight_kib_with_cursor_and_total(call):
    seen, cursor = [], 0
    while cursor is not None:
        size, part = call("engagement_status", engagement="E", cursor=cursor)
        assert (size <= 8 * KIB, part["total"]) == (True, 328)
        seen, cursor = seen + [row["stage_id"] for row in part["items"]], part["cursor"]
    assert seen == list(range(328))


@pytest.mark.parametrize(("limit", "least", "most"), [(10**6, 24 * KIB, 32 * KIB), (1, 1, KIB)])
def test_whoever_asks_for_more_or_less_gets_a_kib_to_thirty_two(call, limit, least, most):
    size, part = call("engagement_status", engagement="E", limit=limit)
    assert least <= size <= most
    assert part["items"]


def test_a_long_command_leaves_the_hash_of_its_plan(call):
    size, plan = call("plan_job", kind="k", engagement="E", parameters={})
    assert (size <= 8 * KIB, plan["plan"], "truncated" in plan["command"]) == (True, "hash", True)


def test_a_job_is_waited_for_twenty_five_seconds_at_most(call, tools, monkeypatch):
    class Clock:
        now = 0.0

        def monotonic(self):
            return self.now

        def sleep(self, seconds):
            self.now += seconds

    clock = Clock()
    monkeypatch.setattr(tools, "time", clock)
    size, answer = call("job", job=7, wait_seconds=3600)
    assert (20 < clock.now <= 25, answer["poll_after_seconds"], size <= 8 * KIB) == (True, 30, True)
