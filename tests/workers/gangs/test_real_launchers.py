"""Real torchrun, Accelerate and DeepSpeed with gloo on the processors of two nodes; each is skipped
where it is not installed."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from tests.workers.gangs.conftest import drive, members
from tests.workers.sshd import can_run, running_sshd
from workers import services
from workers.kinds import base as registry
from workers.kinds.training.project_script import SmokeTrain
from workers.logs import live_log
from workers.models import JobState
from workers.nodes import ssh

PYTHON = os.environ.get("TORCH_PYTHON") or sys.executable
pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True),
              pytest.mark.skipif(not can_run(), reason="needs sshd"),
              pytest.mark.skipif(not shutil.which("ip"), reason="needs iproute2")]
MODULES = {"torchrun": "torch", "accelerate": "accelerate", "deepspeed": "deepspeed"}
TRAINING = """
import os, sys, time
import torch, torch.distributed as dist
dist.init_process_group("gloo")
words = [word for word in sys.argv[1:] if not word.startswith("--local_rank")]  # DeepSpeed's
rank, world = dist.get_rank(), dist.get_world_size()
weight = torch.ones(1)
for step in range(1, int(words[0]) + 1):
    gradient = torch.tensor([float(rank)])
    dist.all_reduce(gradient)
    weight -= 0.01 * gradient / world
    if len(words) > 1 and rank == int(words[1]) and step == 3:
        raise ValueError("the data are broken")
    if rank == 0:
        print(f"step: {step}, loss: {weight.item() + 2:.4f}", flush=True)
    time.sleep(0.05)
print("rank", rank, "of", world, "done", flush=True)
dist.destroy_process_group()
"""


@pytest.fixture
def nodes(tmp_path, enrol):
    """At addresses of their own: DeepSpeed takes no host twice."""
    with ExitStack() as stack:
        servers = [stack.enter_context(running_sshd(tmp_path / f"n{n}", stack.enter_context(
            address(f"10.213.7.{n + 1}")))) for n in range(2)]
        yield [enrol(server.port, server.key, f"n{n}", server.address)
               for n, server in enumerate(servers)]
        ssh.close_all()


@contextmanager
def address(text: str) -> Iterator[str]:
    """A further address of this machine, which no other reaches."""
    added = subprocess.run(["ip", "address", "add", f"{text}/32", "dev", "lo"],
                           capture_output=True, check=False)
    if added.returncode:
        pytest.skip("needs root, to give the machine further addresses")
    try:
        yield text
    finally:
        subprocess.run(["ip", "address", "del", f"{text}/32", "dev", "lo"], check=True)


@pytest.fixture(params=MODULES)
def train(request, monkeypatch, people, engagement, tmp_path, nodes):
    """Queues the training as two processes on each of two nodes."""
    module = MODULES[request.param]
    if subprocess.run([shutil.which(PYTHON) or PYTHON, "-c", f"import torch, {module}"],
                      capture_output=True, check=False).returncode:
        pytest.skip(f"{module} is not installed")
    (tmp_path / "train.py").write_text(TRAINING)
    kind = SmokeTrain()
    kind.claims_device = False  # no NPU here
    monkeypatch.setitem(registry._kinds, kind.code, kind)

    def go(arguments, **more):
        return services.queue_job(
            actor=people["consultant"], kind=kind.code, nodes=nodes, engagement=engagement,
            model=engagement.models.first(), **more, parameters={
                "script": str(tmp_path / "train.py"), "arguments": arguments, "cards": 2,
                "launcher": request.param, "python": PYTHON, "steps": 10})

    return go


def test_two_nodes_train_together(train):
    job = drive(train("12"), timeout=180)
    assert job.state == JobState.SUCCEEDED, job.sentence + live_log.tail(job)
    logs = [live_log.tail(member) for member in members(job)]
    assert ["rank 3 of 4 done" in log for log in logs] == [False, True]
    assert job.results["points"] == 12


def test_rank_that_raises_is_named(train):
    job = drive(train("500 3"), timeout=180)
    assert (job.state, job.message_values["node"]) == (JobState.FAILED, "n1")
    assert "the data are broken" in live_log.tail(job)


def test_cancelled_in_the_middle(train, people):
    job = drive(train("100000"), lambda job: all(
        member.last_loss or member.rank for member in members(job)) and (job.last_loss or 0) > 0,
        timeout=180)
    services.cancel_job(actor=people["consultant"], job=job)
    job = drive(job)
    assert (job.state, job.message_values) == (JobState.CANCELLED, {"n": 2})
