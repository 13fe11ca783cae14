"""The fault suite in a small size; the full one is a command, see tests/faults/run.py."""

import subprocess
import sys

import pytest

from tests.faults import hosts
from tests.faults.desk import DESKS, ROOT
from tests.faults.nodes import can_run
from tests.workers import podman, slurm_cluster

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not can_run(), reason="needs root and sshd")]


@pytest.mark.parametrize(("backend", "runtime"), [
    *((backend, "host") for backend in DESKS),
    pytest.param("hosts", "host", marks=pytest.mark.skipif(
        bool(hosts.missing()), reason=hosts.missing())),
    pytest.param("embedded", "slurm", marks=[pytest.mark.everything, pytest.mark.skipif(
        bool(slurm_cluster.missing()), reason=slurm_cluster.missing())]),
    pytest.param("embedded", "kubernetes", marks=pytest.mark.everything),
    pytest.param("embedded", "container", marks=[pytest.mark.everything, pytest.mark.skipif(
        bool(podman.missing()), reason=podman.missing())])])
def test_nothing_is_lost_and_nothing_done_twice(backend, runtime, migrated_file, pytestconfig):
    size = "12" if pytestconfig.getoption("everything") else "6"
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.run", "--backend", backend, "--jobs", size,
         "--faults", size, "--runtime", runtime, "--migrated", migrated_file],
        cwd=ROOT, capture_output=True, text=True, check=False)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
