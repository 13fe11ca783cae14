"""A node of a job goes in the middle; real sshd in namespaces of their own, which are killed."""

from datetime import timedelta
from pathlib import Path

import pytest

from tests.faults.nodes import FaultyNode, can_run
from tests.ports import free_port
from tests.workers.gangs.conftest import drive, members
from workers import services
from workers.dispatch import gang_steps
from workers.logs import live_log
from workers.models import JobState, Node
from workers.nodes import ssh

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True),
              pytest.mark.skipif(not can_run(), reason="needs root, sshd and unshare")]
# Two workers with sessions of their own that ignore SIGTERM, as data loaders do.
STUBBORN = """
import os, signal, subprocess, sys, time
if len(sys.argv) == 1:
    for _worker in range(2):
        subprocess.Popen([sys.executable, __file__, "worker"], start_new_session=True)
    print("started", flush=True)
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    signal.signal(number, signal.SIG_IGN)
time.sleep(300)
"""
PEER = """
import os, socket, subprocess, sys, time
rank, count = int(os.environ["NODE_RANK"]), int(os.environ["NNODES"])
place = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
subprocess.Popen([sys.executable, STUBBORN], start_new_session=True)
if rank == 0:
    server = socket.create_server(place)
    lines = [server.accept()[0] for _other in range(count - 1)]
else:
    lines = [socket.create_connection(place, timeout=20)] if not time.sleep(1.5) else []
print("meets", flush=True)
for line in lines:
    line.settimeout(None)
    if not line.recv(1):
        sys.exit("RuntimeError: Connection closed by peer")
"""


@pytest.fixture
def faulty(tmp_path):
    found = [FaultyNode(tmp_path / f"f{n}", free_port()) for n in range(2)]
    yield found
    ssh.close_all()
    for node in found:
        node.stop()


@pytest.fixture
def nodes(faulty, enrol):
    return [enrol(server.port, (server.root / "client_key").read_text(), f"n{n}",
                  scratch_dir=str(server.root / "jobs")) for n, server in enumerate(faulty)]


def work_of(server: FaultyNode) -> list[str]:
    """Command lines on the node that are not of sshd."""
    found = []
    for pid in server.processes():
        try:
            line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if line and "sshd" not in line and not line.startswith(("sh -s", "sh -ec")):
            found.append(line)
    return found


def test_stubborn_workers_of_all_nodes_are_gone_after_a_cancel(
        queue, nodes, faulty, people, tmp_path):
    (tmp_path / "work.py").write_text(STUBBORN)
    job = drive(queue(f"python3 {tmp_path}/work.py", nodes, cards=1), lambda job: all(
        member.log_stored for member in members(job)))
    assert all(len(work_of(server)) > 2 for server in faulty)
    services.cancel_job(actor=people["consultant"], job=job)
    job = drive(job)
    assert (job.state, job.message_values) == (JobState.CANCELLED, {"n": 2})
    assert [work_of(server) for server in faulty] == [[], []]


@pytest.mark.parametrize("wait", [timedelta(0), gang_steps.LET_OTHERS_END], ids=str)
def test_lost_node_ends_the_job_with_the_true_reason(
        queue, nodes, faulty, tmp_path, monkeypatch, wait):
    """Also of a node that is away for longer than the others are given: its rank's end was asked
    for, and that is not why it ended."""
    monkeypatch.setattr(gang_steps, "LET_OTHERS_END", wait)
    (tmp_path / "stubborn.py").write_text(STUBBORN)
    (tmp_path / "peer.py").write_text(PEER.replace("STUBBORN", repr(f"{tmp_path}/stubborn.py")))
    job = drive(queue(f"exec python3 {tmp_path}/peer.py", nodes, cards=1), lambda job: all(
        "meets" in live_log.tail(member) for member in members(job)))
    faulty[1].stop()
    job = drive(job, lambda job: members(job)[0].is_final and job.state == JobState.UNKNOWN
                and (wait or members(job)[1].cancel_requested_at))
    assert members(job)[0].state == JobState.FAILED
    assert (job.is_final, job.message_values) == (False, {"nodes": "n1"})
    assert work_of(faulty[0]) == []
    faulty[1].boot()
    Node.objects.update(unreachable_since=None)
    job.own_gang.members.filter(rank=1).update(next_step_at=None)
    job = drive(job)
    assert (job.state, job.message_values["rank"], job.message_values["node"]) == (
        JobState.LOST, 1, "n1")
    assert "another boot id" in job.message_values["why"]["message"]
    assert [work_of(server) for server in faulty] == [[], []]
