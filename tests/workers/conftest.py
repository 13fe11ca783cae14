"""A real SSH server for the tests of the jobs."""

import pytest

from tests.workers.shell_kind import ShellKind
from workers import services
from workers.kinds import base as registry
from workers.nodes import ssh


@pytest.fixture(scope="session")
def ssh_server(tmp_path_factory):
    """The practice node on a free loopback port, for the whole run."""
    from workers.practice_node.server import running_practice_node

    with running_practice_node(tmp_path_factory.mktemp("node")) as handle:
        yield handle


@pytest.fixture
def node(people, ssh_server):
    """The practice node, enrolled and confirmed."""
    operator = people["operator"]
    found = services.enrol_node(
        actor=operator, name="practice-1", host=ssh_server.host, port=ssh_server.port,
        username=ssh_server.username, private_key=ssh_server.private_key_text, is_practice=True,
        command_roles=["consultant"])
    return services.confirm_host_key(
        actor=operator, node=found, fingerprint=ssh.fingerprint(found.offered_host_key))


@pytest.fixture
def queue(people, node, engagement, monkeypatch):
    """Queues a shell script as a job of the engagement on the node."""
    monkeypatch.setitem(registry._kinds, ShellKind.code, ShellKind())

    def go(script, cards=0):
        return services.queue_job(actor=people["consultant"], kind="test.shell", node=node,
                                  engagement=engagement,
                                  parameters={"script": script, "cards": cards})

    return go
