"""A job over two compute nodes of a real Slurm: started, cancelled with stubborn processes, a node
lost, and torchrun where torch is installed. Both nodes are daemons of this machine."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.ports import free_port
from tests.workers import podman
from tests.workers.schedulers.slurm_jobs import ended, runs, shown, until
from tests.workers.shell_kind import ShellKind
from tests.workers.slurm_cluster import missing, running_slurm
from tests.workers.sshd import USER, can_run, running_sshd
from workers import services
from workers.kinds import base as registry
from workers.logs import live_log
from workers.models import JobState, Node
from workers.nodes import ssh
from workers.services import runtimes

PYTHON = os.environ.get("TORCH_PYTHON") or sys.executable
pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True),
              pytest.mark.skipif(bool(missing()) or not can_run(),
                                 reason=missing() or "needs sshd")]
TRAINING = """
import torch, torch.distributed as dist
dist.init_process_group("gloo")
total = torch.ones(1)
dist.all_reduce(total)
print("rank", dist.get_rank(), "of", int(total.item()), flush=True)
dist.destroy_process_group()
"""


@pytest.fixture
def cluster():
    """Below a short path: its sockets have names of at most 108 characters."""
    with (tempfile.TemporaryDirectory(prefix="slurm-") as name,
          running_slurm(Path(name, "cluster"), nodes=2) as found):
        yield found


@pytest.fixture
def queue(monkeypatch, people, engagement, tmp_path, cluster):
    """Queues a shell script that begins on the first of two compute nodes."""
    monkeypatch.setitem(registry._kinds, ShellKind.code, ShellKind())
    with running_sshd(tmp_path / "sshd", SLURM_CONF=cluster.config) as server:
        node = services.enrol_node(
            actor=people["operator"], name="cluster", host="127.0.0.1", port=server.port,
            username=USER, private_key=server.key, scheduler="slurm",
            scheduler_options={"partition": "npu", "nodes": 2, "words": "--ntasks-per-node=1"})
        node = services.confirm_host_key(actor=people["operator"], node=node,
                                         fingerprint=ssh.fingerprint(node.offered_host_key))
        yield lambda script, cards=2: services.queue_job(
            actor=people["consultant"], kind="test.shell", node=node, engagement=engagement,
            parameters={"script": script, "cards": cards})
    ssh.close_all()


def log_of(job) -> str:
    return job.artifacts.get(name="log.txt").file.read().decode()


def test_srun_starts_a_rank_on_each_node(queue):
    job = until(queue("srun sh -c 'echo rank $SLURM_NODEID on $SLURMD_NODENAME'"), ended)
    assert job.state == JobState.SUCCEEDED, shown(job)
    assert sorted(log_of(job).splitlines()) == ["rank 0 on compute-1", "rank 1 on compute-2"]
    assert job.results["scheduler"]["nodes"] == "compute-[1-2]"


def test_a_rank_that_fails_ends_the_job_and_is_named(queue):
    job = until(queue("srun --kill-on-bad-exit=1 "
                      "sh -c '[ $SLURM_NODEID = 0 ] && exec sleep 96; exit 7'"), ended)
    assert job.state == JobState.FAILED, shown(job)
    assert "compute-2: task 1: Exited with exit code 7" in log_of(job)
    assert not runs("sleep 96")


def test_stubborn_ranks_on_both_nodes_are_gone_after_a_cancel(queue, people):
    job = queue("srun sh -c 'trap \"\" TERM; setsid sleep 97 & echo begun; while :; do sleep 1; "
                "done'")
    until(job, lambda job: live_log.tail(job).count("begun") == 2)
    services.cancel_job(actor=people["consultant"], job=job)
    assert until(job, ended, 90).state == JobState.CANCELLED
    assert not runs("sleep 97")


@pytest.mark.skipif(bool(podman.missing()), reason=podman.missing() or "-")
def test_a_container_runs_on_the_first_node_and_both_are_released(queue, people):
    node = Node.objects.get()
    with tempfile.TemporaryDirectory(prefix="podman-") as folder:
        engine = podman.engine_in(Path(folder))
        Node.objects.update(container_engine=engine, container_options=podman.RUN_OPTIONS)
        runtimes.choose_runtime(
            actor=people["operator"], node=node, runtime=runtimes.save_runtime(
                actor=people["operator"], name="image", place="container", options={
                    "image": podman.make_image(engine), "devices": "none"}))
        job = until(queue("cat /etc/version"), ended, 120)
    assert job.state == JobState.SUCCEEDED, (shown(job), job.technical_cause)
    said, version = log_of(job).splitlines()
    assert version == "busybox image"
    assert "on the first of the 2 nodes that Slurm gave; nothing is started on the others" in said
    assert job.results["scheduler"]["nodes"] == "compute-[1-2]"


def test_torchrun_meets_over_both_nodes(queue, tmp_path):
    if subprocess.run([shutil.which(PYTHON) or PYTHON, "-c", "import torch"],
                      capture_output=True, check=False).returncode:
        pytest.skip("torch is not installed")
    (tmp_path / "train.py").write_text(TRAINING)
    job = until(queue(
        f"srun sh -c '{PYTHON} -m torch.distributed.run --nnodes=2 --nproc_per_node=2 "
        f"--node_rank=$SLURM_NODEID --master_addr=127.0.0.1 --master_port={free_port()} "
        f"{tmp_path}/train.py'"), ended, 150)
    assert job.state == JobState.SUCCEEDED, shown(job)
    assert sorted(line for line in log_of(job).splitlines() if line.startswith("rank")) == [
        f"rank {n} of 4" for n in range(4)]
