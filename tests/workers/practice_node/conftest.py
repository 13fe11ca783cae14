"""A practice node and logins to it."""

import asyncio
import re
from collections.abc import Callable

import asyncssh
import pytest

from workers.practice_node.faults import set_faults
from workers.practice_node.server import PracticeNode


@pytest.fixture(scope="session")
def practice(ssh_server) -> PracticeNode:
    return ssh_server


@pytest.fixture(autouse=True)
def _repaired(practice):
    yield
    set_faults(practice.root / "home")


async def log_in(node: PracticeNode, **options) -> asyncssh.SSHClientConnection:
    """A connection that accepts the node's own host key only."""
    known = ([asyncssh.import_public_key(node.host_key)], [], [])
    settings = {"username": node.username, "known_hosts": known, "config": None,
                "agent_path": None,
                "client_keys": [asyncssh.import_private_key(node.private_key_text)]}
    return await asyncssh.connect(node.host, node.port, **{**settings, **options})


@pytest.fixture
def over_ssh(practice) -> Callable:
    """Runs an async function of one connection."""

    def go(function):
        async def run():
            async with await log_in(practice) as connection:
                return await asyncio.wait_for(function(connection), 60)

        return asyncio.run(run())

    return go


@pytest.fixture
def sh(over_ssh) -> Callable:
    """Runs a command on the node in a fresh connection."""
    return lambda command, **options: over_ssh(lambda c: c.run(command, **options))


@pytest.fixture
def work(practice, request):
    """A folder of the test's own in the home of the login."""
    folder = practice.root / "home" / re.sub(r"\W+", "-", request.node.name)
    folder.mkdir()
    return folder
