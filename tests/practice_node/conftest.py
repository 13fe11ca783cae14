"""A practice node and logins to it."""

import asyncio
import re
import secrets
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import asyncssh
import pytest
from django.conf import settings

from practice_node.faults import set_faults
from practice_node.home import SYSTEM_PATH
from practice_node.server import PracticeNode
from tests.workers import podman, slurm_cluster
from workers.models import Node
from workers.services import runtimes


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


@pytest.fixture(scope="session")
def slurm_programs(tmp_path_factory):
    """A folder with the commands of a cluster of this machine."""
    with slurm_cluster.running_slurm(tmp_path_factory.mktemp("slurm")) as cluster:
        folder = tmp_path_factory.mktemp("programs")
        for name in ("sbatch", "squeue", "scontrol", "scancel", "sinfo"):
            (folder / name).write_text(
                f'#!/bin/sh\nSLURM_CONF={cluster.config} exec {shutil.which(name)} "$@"\n')
            (folder / name).chmod(0o755)
        yield folder


@pytest.fixture
def in_runtime(request, people, practice, node):
    """What `--runtime` asks for: a container that sees this machine's programs and the node's
    folders, new for each job or running; None for the node itself, or for a cluster it logs in to.
    """
    place = request.config.getoption("--runtime")
    if place in ("host", "slurm"):
        if place == "slurm":
            programs = request.getfixturevalue("slurm_programs")
            Node.objects.filter(pk=node.pk).update(scheduler="slurm", scheduler_options={
                "partition": "npu", "programs": str(programs), "minutes": 60})
            node.refresh_from_db()
        yield None
        return
    Node.objects.filter(pk=node.pk).update(container_engine=podman.ENGINE,
                                           container_options=podman.RUN_OPTIONS)
    node.refresh_from_db()
    home = practice.root / "home"
    mounts = [f"{folder}:{folder}" for folder in (
        "/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", sys.base_prefix, sys.prefix,
        settings.BASE_DIR, practice.root) if Path(folder).exists()]
    variables = {"PATH": f"{practice.root}/bin:{SYSTEM_PATH}", "HOME": str(home), "LANG": "C.UTF-8",
                 "PYTHONPATH": f"{practice.root}/python", "PYTHONDONTWRITEBYTECODE": "1"}
    name, image = f"desk-test-{secrets.token_hex(4)}", podman.make_image()
    if place == "running":
        podman.podman("run", "-d", "--name", name, *podman.RUN_OPTIONS.split(), "--network=host",
                      *(word for mount in mounts for word in ("-v", mount)), image, "sleep", "600")
    asked = {"container": name} if place == "running" else {"image": image, "mounts": mounts}
    yield runtimes.save_runtime(actor=people["operator"], name=name, place=place, options={
        **asked, "devices": "none", "variables": variables})
    podman.podman("rm", "-f", "-t", "0", "--ignore", name)


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
