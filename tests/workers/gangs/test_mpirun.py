"""Open MPI's own mpirun over two nodes that no log-in joins: sshd in network namespaces."""

import contextlib
import shutil
import subprocess
import sys
from contextlib import ExitStack

import pytest

from tests.faults.hosts import NETWORKS, Host, ip, missing
from tests.workers.gangs.conftest import drive, members
from tests.workers.sshd import Sshd, can_run
from workers import services
from workers.kinds import base as registry
from workers.kinds.training.project_script import SmokeTrain
from workers.logs import live_log
from workers.models import JobState
from workers.nodes import ssh

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True),
              pytest.mark.skipif(not can_run() or bool(missing()), reason="needs sshd and root"),
              pytest.mark.skipif(not shutil.which("mpirun"), reason="needs Open MPI")]
TRAINING = """
import ctypes, os, sys, time
mpi = ctypes.CDLL("libmpi.so.40", mode=ctypes.RTLD_GLOBAL)
mpi.MPI_Init(None, None)
def of(name):
    return ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(mpi, name)))
world, double, total = of("ompi_mpi_comm_world"), of("ompi_mpi_double"), of("ompi_mpi_op_sum")
rank, size = (int(os.environ[f"OMPI_COMM_WORLD_{name}"]) for name in ("RANK", "SIZE"))
for step in range(1, int(sys.argv[1]) + 1):
    given, found = ctypes.c_double(rank), ctypes.c_double()
    mpi.MPI_Allreduce(ctypes.byref(given), ctypes.byref(found), 1, double, total, world)
    if rank == 0:
        print(f"step: {step}, loss: {3 - 0.001 * step * found.value:.4f}", flush=True)
    if len(sys.argv) > 2 and rank == int(sys.argv[2]) and step == 3:
        raise ValueError("the data are broken")
    time.sleep(0.05)
print("rank", rank, "of", size, "on", os.environ["NODE_RANK"], "cards",
      os.environ["ASCEND_RT_VISIBLE_DEVICES"], os.getcwd(), flush=True)
mpi.MPI_Finalize()
"""
# With a name and shared memory of its own, as another machine has.
ALONE = 'hostname "$0" && mount -t tmpfs shm /dev/shm && exec "$@"'


@pytest.fixture
def nodes(tmp_path, enrol):
    """The line between them carries 10.N.9.1 and 10.N.9.2; that to the desk goes nowhere else."""
    with ExitStack() as stack:
        hosts = [free_host()]
        stack.callback(hosts[0].remove)
        network = hosts[0].space.split("-")[1]
        hosts.append(Host(int(network), "b", ""))
        stack.callback(hosts[1].remove)
        ip("link", "add", "eth1", "netns", hosts[0].space, "type", "veth", "peer", "name", "eth1",
           "netns", hosts[1].space)
        found = []
        for number, host in enumerate(hosts, 1):
            ip("-n", host.space, "address", "add", f"10.{network}.9.{number}/24", "dev", "eth1")
            ip("-n", host.space, "link", "set", "eth1", "up")
            server = Sshd(tmp_path / f"n{number}", f"10.{network}.{number}.2")
            server.prefix = host.inside(["unshare", "--uts", "sh", "-c", ALONE, f"n{number}"])
            stack.callback(server.stop)
            server.start()
            found.append(enrol(server.port, server.key, f"n{number}", server.address,
                               cluster_address=f"10.{network}.9.{number}"))
        yield found
        ssh.close_all()


def free_host() -> Host:
    for network in NETWORKS:
        with contextlib.suppress(subprocess.CalledProcessError):
            return Host(network, "a", "")
    raise RuntimeError("no network is free")


@pytest.fixture
def train(monkeypatch, people, engagement, tmp_path, nodes):
    (tmp_path / "train.py").write_text(TRAINING)
    kind = SmokeTrain()
    kind.claims_device = False  # no NPU here
    monkeypatch.setitem(registry._kinds, kind.code, kind)

    def go(arguments):
        return services.queue_job(
            actor=people["consultant"], kind=kind.code, nodes=nodes, engagement=engagement,
            model=engagement.models.first(), parameters={
                "script": str(tmp_path / "train.py"), "arguments": arguments, "cards": 2,
                "launcher": "mpirun", "python": sys.executable, "steps": 10})

    return go


def test_ranks_of_both_nodes_train_together(train):
    job = drive(train("12"), timeout=120)
    first, second = members(job)
    log = live_log.tail(first)
    assert job.state == JobState.SUCCEEDED, job.sentence + log + live_log.tail(second)
    assert not [line for line in log.splitlines() if "]<stdout>:" in line[1:].partition(":")[2]]
    for rank, member in enumerate((first, first, second, second)):
        assert f"rank {rank} of 4 on {member.rank} cards 0,1 " in log
        assert f"{member.directory_name}/work" in log
    assert job.results["points"] == 12


def test_a_rank_of_the_other_node_that_raises_ends_all(train):
    job = drive(train("500 3"), timeout=120)
    assert job.state == JobState.FAILED
    assert "ValueError: the data are broken" in live_log.tail(members(job)[0])


def test_cancelled_on_both_nodes(train, people):
    job = drive(train("100000"), lambda job: (job.last_loss or 0) > 0, timeout=120)
    services.cancel_job(actor=people["consultant"], job=job)
    job = drive(job)
    assert (job.state, job.message_values) == (JobState.CANCELLED, {"n": 2})
