"""The witness of the fault suite finds what it is there for."""

import subprocess
import time
from types import SimpleNamespace

import pytest
from django.utils import timezone

from engagements.models import Role
from tests.faults.nodes import FaultyNode, can_run
from tests.faults.witness import Witness
from tests.ports import free_port
from workers.models import Job, JobState, Node, NodeContact, Trouble

pytestmark = [pytest.mark.slow, pytest.mark.django_db,
              pytest.mark.skipif(not can_run(), reason="needs root and sshd")]


@pytest.fixture
def node(tmp_path):
    node = FaultyNode(tmp_path / "node", free_port())
    yield node
    node.stop()


@pytest.fixture
def job(people, engagement):
    row = Node.objects.create(name="n1", host="127.0.0.1", username="root", scratch_dir="/jobs")
    return Job.objects.create(kind="test.counted", engagement=engagement, node=row,
                              parameters={}, created_by=people[Role.CONSULTANT])


@pytest.fixture
def running(node):
    """A command of the job that lives on the node."""
    script = node.root / "job-0.sh"
    script.write_text("touch began; sleep 60; true\n")
    inside = subprocess.Popen(
        ["ssh", "-i", node.root / "client_key", "-p", str(node.port), "-o", "BatchMode=yes",
         "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "root@127.0.0.1",
         f"cd {node.root} && sh {script}; true"], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 20
    while not (node.root / "began").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    yield inside
    inside.kill()


@pytest.mark.parametrize(("state", "message", "is_false"), [
    (JobState.CANCELLED, "Cancelled; nothing of it runs any more.", True),
    (JobState.QUEUED, "", True),
    (JobState.RUNNING, "", False)])
def test_a_sentence_that_a_living_process_contradicts_is_found(
        job, node, running, state, message, is_false):
    Job.objects.filter(pk=job.pk).update(
        state=state, message=message,
        finished_at=timezone.now() if state == JobState.CANCELLED else None)
    witness = _witness(job, node)
    assert bool(witness.stop()) == is_false, witness.false


@pytest.mark.parametrize("restarts", [True, False])
def test_a_restart_that_is_denied_is_found(job, node, restarts):
    began = timezone.now()
    if restarts:
        node.reboot()
    Job.objects.filter(pk=job.pk).update(
        state=JobState.LOST, started_at=began, finished_at=timezone.now(),
        message="The command was killed together with the shell that watched it: it ended "
                "without an exit status. The node did not restart.")
    assert bool(_witness(job, node).stop()) == restarts


def test_an_absence_for_a_cause_that_nobody_made_is_found(job, node):
    NodeContact.objects.create(node=job.node, is_reachable=False, trouble=Trouble.LOGIN,
                               at=timezone.now())
    assert _witness(job, node).stop()


def _witness(job, node):
    return Witness(SimpleNamespace(nodes=[node], rows=[job.node], keys={job.pk: "job-0"}),
                   is_watching=False)
