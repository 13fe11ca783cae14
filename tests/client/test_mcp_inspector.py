"""The command line of the MCP Inspector (npm: @modelcontextprotocol/inspector), where it is on the
path: another client than the SDK's, over stdio and HTTP."""

import json
import shutil
import subprocess
import sys

import pytest

from engagements.models import Role
from engagements.services.agents import create_agent

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True), pytest.mark.skipif(
    not shutil.which("mcp-inspector"), reason="no MCP Inspector here")]


def asked(target: list[str], environment: dict[str, str], *words: str) -> dict:
    """What a method answers."""
    done = subprocess.run(["mcp-inspector", "--cli", *target, *words], capture_output=True,
                          text=True, check=False, env=environment, timeout=120)
    print(done.stdout, done.stderr)
    assert done.returncode == 0
    return json.loads(done.stdout)


@pytest.mark.parametrize("way", ["stdio", "http"])
def test_it_lists_portable_tools_and_calls_one(way, request, live_server, people, engagement,
                                               environment):
    address = request.getfixturevalue("mcp_address") if way == "http" else ""
    agent, key = create_agent(actor=people[Role.CONSULTANT], engagement=engagement,
                              name="Adapter", audience="mcp" if address else "api")
    target = [address, "--transport", "http", "--header", f"Authorization: Bearer {key}"]
    if not address:
        given = {"DESK_URL": live_server.url, "DESK_TOKEN": key,
                 "PYTHONPATH": environment["PYTHONPATH"]}
        target = [sys.executable, "-m", "desk_cli", "mcp",
                  *(word for pair in given.items() for word in ("-e", "=".join(pair)))]
    tools = asked(target, environment, "--method", "tools/list", "--strict")["tools"]
    assert len(tools) == 17
    answer = asked(target, environment, "--method", "tools/call", "--tool-name", "desk_whoami")
    assert json.loads(answer["content"][0]["text"])["agent"] == agent.name
