"""Slurm on this machine: munged, slurmctld and slurmd, all below one folder and on own ports."""

import contextlib
import os
import shlex
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from tests.ports import free_port

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel", "sinfo")
CONFIG = """
ClusterName=desk
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
AuthType=auth/munge
AuthInfo=socket={root}/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={root}/state
SlurmdSpoolDir={root}/spool-%n
SlurmctldPidFile={root}/slurmctld.pid
SlurmdPidFile={root}/slurmd-%n.pid
SlurmctldLogFile={root}/slurmctld.log
SlurmdLogFile={root}/slurmd-%n.log
ProctrackType={tracking}
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,batch_sched_delay=1,sched_interval=2
ReturnToService=2
SlurmctldTimeout=10
SlurmdTimeout=15
MessageTimeout=5
KillWait=5
MinJobAge={min_job_age}
SlurmdParameters=config_overrides
GresTypes=npu
{nodes}
PartitionName=npu Nodes=ALL Default=YES MaxTime=1-00:00:00 State=UP OverSubscribe=NO
PartitionName=short Nodes=ALL MaxTime=5 State=UP
"""
NODE = ("NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={cores} "
        "RealMemory=4000 Gres=npu:8")
GRES = "NodeName={name} Name=npu File={root}/dev/davinci[0-7]\n"


def missing() -> str:
    """Why Slurm cannot run here; empty where it can."""
    lacking = [name for name in PROGRAMS if not _program(name)]
    if lacking:
        return f"needs {', '.join(lacking)} (packages slurm-wlm, munge)"
    return "" if os.getuid() == 0 else "needs root"


def _program(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def lacks_cgroups() -> str:
    """Why `proctrack/cgroup` cannot hold jobs here; empty where it can."""
    return "" if Path("/sys/fs/cgroup/freezer").is_dir() else "needs a freezer of cgroups v1"


class Slurm:
    """One cluster of nodes with eight cards each, all of them this machine.

    Args:
        cores: of a node; each job takes one.
        min_job_age: seconds that an ended job stays in squeue.
        tracking: how it follows the processes of a job.
    """

    def __init__(self, root: Path, cores: int = 16, min_job_age: int = 300, nodes: int = 1,
                 tracking: str = "proctrack/linuxproc") -> None:
        self.root, host = root, socket.gethostname().split(".")[0]
        self.nodes = [host] if nodes == 1 else [f"compute-{n + 1}" for n in range(nodes)]
        for name in ("state", "dev"):
            (root / name).mkdir(parents=True)
        for card in range(8):
            (root / "dev" / f"davinci{card}").touch()
        (root / "munge.key").write_bytes(os.urandom(128))
        (root / "munge.key").chmod(0o400)
        self.config = root / "slurm.conf"
        self.config.write_text(CONFIG.format(
            root=root, host=host, min_job_age=min_job_age, controller=free_port(),
            tracking=tracking,
            nodes="\n".join(NODE.format(name=name, host=host, port=free_port(), cores=cores)
                            for name in self.nodes)))
        (root / "cgroup.conf").write_text("CgroupAutomount=no\nCgroupMountpoint=/sys/fs/cgroup\n")
        (root / "gres.conf").write_text("".join(
            GRES.format(root=root, name=name) for name in self.nodes))

    @property
    def environment(self) -> dict[str, str]:
        return {"SLURM_CONF": str(self.config)}

    def commands(self) -> list[list[str]]:
        """What has to run, in the foreground, in this order."""
        root = self.root
        return [[_program("munged"), "-F", "--force", f"--socket={root}/munge.socket",
                 f"--key-file={root}/munge.key", f"--pid-file={root}/munged.pid",
                 f"--log-file={root}/munged.log", f"--seed-file={root}/munged.seed"],
                [_program("slurmctld"), "-D", "-f", str(self.config)],
                *([_program("slurmd"), "-D", "-f", str(self.config), "-N", name]
                  for name in self.nodes)]

    def lines(self) -> str:
        """The same as lines of a shell script, in the background."""
        return "".join(f"SLURM_CONF={self.config} {shlex.join(command)} >/dev/null 2>&1 &\n"
                       for command in self.commands())

    def start(self) -> "Slurm":
        self.processes = [self._start(command) for command in self.commands()]
        self.wait_for_nodes()
        return self

    def _start(self, command: list[str]) -> subprocess.Popen:
        return subprocess.Popen(command, env={**os.environ, **self.environment},
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def wait_for_nodes(self, seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        while set(self.ask("sinfo", "--noheader", "--partition=npu", "--format=%T").split()) - {
                "idle", "mixed"} or not self.ask("sinfo", "--noheader"):
            assert time.monotonic() < deadline, (self.root / "slurmctld.log").read_text()[-3000:]
            time.sleep(0.2)

    def ask(self, *command: str) -> str:
        """What a command of Slurm prints."""
        return subprocess.run(command, env={**os.environ, **self.environment}, check=False,
                              capture_output=True, text=True).stdout

    def stop_controller(self) -> None:
        """As an administrator would; a killed one forgets the jobs of its last seconds."""
        self.processes[1].terminate()
        self.processes[1].wait()

    def start_controller(self) -> None:
        self.processes[1] = self._start(self.commands()[1])

    def stop(self) -> None:
        self.ask("scancel", "--signal=KILL", "--full", "--state=RUNNING", "--user=root")
        for process in reversed(self.processes):
            process.terminate()
        for process in reversed(self.processes):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(20)
            process.kill()


@contextlib.contextmanager
def running_slurm(root: Path, **options) -> Iterator[Slurm]:
    cluster = Slurm(root, **options)
    try:
        yield cluster.start()
    finally:
        cluster.stop()
