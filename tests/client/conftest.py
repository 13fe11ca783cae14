"""The typed client, made of the committed schema, and the command line client with it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from delivery.demo.child_processes import wait_for
from tests.ports import free_port

MCP_SECRET = "a secret of portal and MCP server"
CLIENT = Path(__file__).resolve().parents[2] / "client"


@pytest.fixture(scope="session")
def packages(tmp_path_factory) -> Path:
    """A folder with `desk_client`, as `./desk client` makes it."""
    folder = tmp_path_factory.mktemp("client")
    subprocess.run([sys.executable, CLIENT / "generate.py", "--out", folder / "desk_client"],
                   check=True, capture_output=True)
    return folder


@pytest.fixture
def environment(packages, tmp_path) -> dict[str, str]:
    """A consultant's terminal: a home folder of its own, nothing of the portal to import."""
    return {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home"), "LC_ALL": "C.UTF-8",
            "PYTHONPATH": f"{packages}:{CLIENT}", "PYTHONDONTWRITEBYTECODE": "1"}


@pytest.fixture
def start(environment, tmp_path):
    """Starts `desk-cli` in the folder `work`, with what is typed into it."""
    (tmp_path / "work").mkdir()

    def go(*words, **more) -> subprocess.Popen:
        return subprocess.Popen(
            [sys.executable, "-m", "desk_cli", *map(str, words)], env={**environment, **more},
            cwd=tmp_path / "work", text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)

    return go


@pytest.fixture
def desk(start):
    """Runs `desk-cli` to its end: exit status, output, errors."""
    def go(*words, typed="", **more) -> tuple[int, str, str]:
        process = start(*words, **more)
        out, errors = process.communicate(typed, timeout=120)
        print(words, process.returncode, out, errors)  # shown where a test fails
        return process.returncode, out, errors

    return go


@pytest.fixture
def mcp_address(live_server, settings, environment):
    """Of the MCP server over HTTP, as `deploy` starts it."""
    settings.MCP_SECRET = MCP_SECRET
    port = free_port()
    url = f"http://127.0.0.1:{port}/mcp"
    process = subprocess.Popen(
        [sys.executable, "-m", "desk_cli.commands.mcp", "--port", str(port)],
        env={**environment, "DESK_URL": live_server.url, "DESK_MCP_URL": url,
             "DESK_MCP_SECRET": MCP_SECRET})
    try:
        wait_for("127.0.0.1", port, 60)
        yield url
    finally:
        process.terminate()
        process.wait(20)
