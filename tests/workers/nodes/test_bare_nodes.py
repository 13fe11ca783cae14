"""Nodes that lack programs which others have, over OpenSSH's own server."""

import os
from pathlib import Path

import pytest
from django.utils.translation import override

from engagements.errors import InvalidInput
from tests.workers.gangs.conftest import GangKind, drive
from tests.workers.shell_kind import ShellKind
from tests.workers.sshd import USER, can_run, running_sshd
from workers import services
from workers.dispatch import runner
from workers.kinds import base as registry
from workers.models import JobState, Node
from workers.nodes import ssh
from workers.services import node_edits

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True),
              pytest.mark.skipif(not can_run(), reason="needs sshd")]


@pytest.fixture
def bare(people, tmp_path):
    """Enrols nodes whose path has every program of this machine but some."""
    servers = []

    def go(name: str, *without: str) -> Node:
        programs = tmp_path / f"bin-{name}"
        programs.mkdir()
        for folder in ("/usr/bin", "/bin", "/usr/sbin", "/sbin"):
            for program in os.listdir(folder):
                if not program.startswith(without) and not (programs / program).exists():
                    (programs / program).symlink_to(Path(folder, program))
        servers.append(running_sshd(tmp_path / name, PATH=str(programs)))
        server = servers[-1].__enter__()
        node = services.enrol_node(
            actor=people["operator"], name=name, host="127.0.0.1", port=server.port, username=USER,
            private_key=server.key, is_practice=True)
        return services.confirm_host_key(actor=people["operator"], node=node,
                                         fingerprint=ssh.fingerprint(node.offered_host_key))

    yield go
    ssh.close_all()
    for server in servers:
        server.__exit__(None, None, None)


def test_without_setsid_it_never_becomes_ready_and_says_why(bare, people):
    node = bare("n1", "setsid")
    assert node.state == Node.State.UNTRIED
    with override("en"), pytest.raises(InvalidInput, match="setsid"):
        node_edits.try_login(actor=people["operator"], access=node)


def test_without_python_jobs_run_and_are_cancelled(bare, people, engagement, monkeypatch):
    monkeypatch.setitem(registry._kinds, ShellKind.code, ShellKind())
    node = bare("n1", "python", "perl")
    order = {"actor": people["consultant"], "kind": ShellKind.code, "node": node,
             "engagement": engagement}
    job = runner.drive(services.queue_job(**order, parameters={
        "script": "command -v python3 || echo no python; echo 1 > a.txt"}))
    files = {each.name: each.file.read() for each in job.artifacts.all()}
    assert (job.state, files) == (JobState.SUCCEEDED,
                                  {"a.txt": b"1\n", "log.txt": b"no python\n"}), job.sentence
    job = services.queue_job(**order, parameters={"script": "setsid sleep 4321 & sleep 4321"})
    while job.state != JobState.RUNNING:
        runner.advance_while_due(job.pk)
        job.refresh_from_db()
    services.cancel_job(actor=people["consultant"], job=job)
    assert runner.drive(job).state == JobState.CANCELLED
    assert not any(b"sleep\x004321" in command for command in _commands())


def test_without_python_several_nodes_meet(bare, people, engagement, monkeypatch):
    monkeypatch.setitem(registry._kinds, GangKind.code, GangKind())
    nodes = [bare(name, "python", "perl") for name in ("n1", "n2")]
    job = drive(services.queue_job(
        actor=people["consultant"], kind=GangKind.code, nodes=nodes, engagement=engagement,
        parameters={"script": "echo $NODE_RANK of $NNODES > rank-$NODE_RANK.txt", "cards": 0}))
    assert job.state == JobState.SUCCEEDED, job.sentence
    assert job.artifacts.get(name="rank-1.txt").file.read() == b"1 of 2\n"


def _commands() -> list[bytes]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                found.append((entry / "cmdline").read_bytes())
            except OSError:
                continue
    return found
