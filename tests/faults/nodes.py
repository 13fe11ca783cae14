"""Nodes: real sshd, each in namespaces of its own, reached through a line that can be cut.

A node has its own processes (a reboot kills them all), boot id and clock. Needs root.
"""

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import threading
import time
import uuid
from pathlib import Path

from tests.ports import free_port
from tests.workers import podman
from tests.workers.kubernetes_cluster import FakeKubernetes
from tests.workers.slurm_cluster import Slurm

SSHD = shutil.which("sshd") or "/usr/sbin/sshd"
INSIDE = """
mount --bind {root}/boot_id /proc/sys/kernel/random/boot_id
mount --bind {root}/date {date}
mount --bind {root}/stat {stat}
[ ! -f "$HOME/.bashrc" ] || mount --bind {root}/empty "$HOME/.bashrc"  # a login of its own
{cluster}exec {sshd} -D -e -f {root}/sshd_config
"""
CLOCK = {  # what tells scripts the time
    "date": 'exec {root}/date.real -d "$ahead seconds" "$@"',
    "stat": 'case "$*$ahead" in *" /proc/self"[+-]*) ;; *) exec {root}/stat.real "$@" ;; esac\n'
            '{root}/stat.real "$@" | awk -v ahead="$ahead" '
            """'$2 == "/proc/self" {{ $3 += ahead }} {{ print }}'"""}
CONFIG = """
Port {port}
ListenAddress 127.0.0.1
HostKey {root}/host_key
AuthorizedKeysFile {root}/client_key.pub
PidFile none
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
PasswordAuthentication no
MaxStartups 200
MaxSessions 200
Subsystem sftp internal-sftp
"""
RUNTIMES = ("host", "slurm", "container", "kubernetes")
CONTROLLERS = {"slurm": "slurmctld", "kubernetes": "python"}  # the program that can be frozen


def can_run() -> bool:
    """Whether this machine can hold such nodes."""
    return os.getuid() == 0 and Path(SSHD).exists() and bool(shutil.which("unshare"))


class FaultyNode:
    """One sshd and the line to it; with the runtimes `slurm` and `kubernetes` a cluster of its own
    beside it, with `container` an engine."""

    def __init__(self, root: Path, port: int, runtime: str = "host",
                 address: str = "127.0.0.1") -> None:
        self.root, self.port = root, port
        self.line = Line(port, address)
        self.boots: list[float] = []  # seconds of the machine's clock
        root.mkdir(parents=True)
        self.runtime = runtime
        self.cluster = Slurm(root / "slurm") if runtime == "slurm" else FakeKubernetes(
            root / "kubernetes", free_port()) if runtime == "kubernetes" else None
        self.engine = podman.engine_in(root / "podman") if runtime == "container" else ""
        self.image = podman.make_image(self.engine) if self.engine else ""
        for name in ("host_key", "client_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", root / name],
                           check=True)
        (root / "clock").write_text("0\n")
        (root / "empty").touch()
        for name, text in CLOCK.items():
            shutil.copy(Path(shutil.which(name)).resolve(), root / f"{name}.real")
            (root / name).write_text(f"#!/bin/sh\nread -r ahead < {root}/clock\n"
                                     f"{text.format(root=root)}\n")
            (root / name).chmod(0o755)
        (root / "sshd_config").write_text(CONFIG.format(root=root, port=port) + (
            f"SetEnv SLURM_CONF={self.cluster.config}\n" if runtime == "slurm" else ""))
        self.boot()

    def boot(self) -> None:
        """Start with a new boot id and wait until sshd answers."""
        Path("/run/sshd").mkdir(exist_ok=True)
        self.boots.append(time.time())
        (self.root / "boot_id").write_text(f"{uuid.uuid4()}\n")
        shutil.rmtree(self.root / "podman/run", ignore_errors=True)  # as /run after a start
        inside = INSIDE.format(root=self.root, sshd=SSHD,
                               cluster=self.cluster.lines() if self.cluster else "",
                               **{name: Path(shutil.which(name)).resolve() for name in CLOCK})
        self.process = subprocess.Popen(
            ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child",
             "sh", "-ec", inside], stderr=subprocess.DEVNULL, start_new_session=True)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline and not self._listens():
            time.sleep(0.05)

    def _listens(self) -> bool:
        import socket

        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def reboot(self) -> None:
        """Everything that ran is killed at once."""
        self.stop()
        self.boot()

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        deadline = time.monotonic() + 10
        while self._listens() and time.monotonic() < deadline:
            time.sleep(0.02)

    def set_clock(self, seconds: int) -> None:
        """Put the node's clock ahead or behind."""
        (self.root / "clock").write_text(f"{seconds:+d}\n" if seconds else "0\n")

    def processes(self) -> list[int]:
        """Host pids of everything below the node's init, also in containers."""
        [init, *_others] = _children(self.process.pid) or [0]
        found = _children(init) if init else []
        for process in found:
            found += _children(process)
        return found

    def last_process(self) -> int:
        """The number of the newest process of the node; asking makes one."""
        [init, *_others] = _children(self.process.pid)
        return int(subprocess.run(
            ["nsenter", "-t", str(init), "-p", "cat", "/proc/sys/kernel/ns_last_pid"],
            check=True, capture_output=True).stdout)

    def freeze_servers(self, frozen: bool, program: str = "sshd") -> None:
        """Stop or go on with the processes of sshd: a peer that is there and says nothing."""
        for pid in self.processes():
            with contextlib.suppress(OSError):
                name = Path(f"/proc/{pid}/comm").read_text().strip()
                if name.startswith(program):
                    os.kill(pid, signal.SIGSTOP if frozen else signal.SIGCONT)

    def kill_one(self, program: str) -> None:
        """kill -9 of one process of the program, if there is any."""
        for pid in self.processes():
            with contextlib.suppress(OSError):
                if Path(f"/proc/{pid}/comm").read_text().strip() == program:
                    os.kill(pid, signal.SIGKILL)
                    return

    def ran(self) -> dict[str, int]:
        """How often each job's command began, counted on the node."""
        book = self.root / "book"
        counts: dict[str, int] = {}
        for line in book.read_text().splitlines() if book.exists() else []:
            counts[line] = counts.get(line, 0) + 1
        return counts


def _children(process: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{process}/task").iterdir():
            found += map(int, (thread / "children").read_text().split())
    return found


def enrol(actor, node: FaultyNode, name: str, through_line: bool = False):
    """The node's row, enrolled and confirmed by the product's own services.

    Args:
        actor: a user who may operate nodes.
        through_line: reach it through the line that can be cut, instead of directly.
    """
    from workers import services
    from workers.nodes import ssh

    scheduler = _scheduler(node)
    row = services.enrol_node(
        cards_total=8, actor=actor, name=name,
        host=node.line.address if through_line else "127.0.0.1",
        username="root",
        port=node.line.port if through_line else node.port,
        private_key=(node.root / "client_key").read_text(), scratch_dir=str(node.root / "jobs"),
        **scheduler, container_engine=node.engine, container_options=podman.RUN_OPTIONS,
        is_practice=True)  # several stand on one machine
    return services.confirm_host_key(
        actor=actor, node=row, fingerprint=ssh.fingerprint(row.offered_host_key))


def _scheduler(node: FaultyNode) -> dict:
    if node.runtime == "slurm":
        return {"scheduler": "slurm", "scheduler_options": {"partition": "npu"}}
    if node.runtime == "kubernetes":
        return {"scheduler": "kubernetes", "scheduler_secret": node.cluster.token,
                "scheduler_options": node.cluster.options(node.root)}
    return {}


class Line:
    """A port that passes bytes on to a node, until it is cut or falls silent."""

    def __init__(self, target: int, address: str = "127.0.0.1") -> None:
        self.address = address
        self.target, self.is_cut, self.is_silent = target, False, False
        self.writers: set[asyncio.StreamWriter] = set()
        self.loop = asyncio.new_event_loop()
        ready = threading.Event()
        threading.Thread(target=self._serve, args=[ready], daemon=True).start()
        ready.wait(10)

    def _serve(self, ready: threading.Event) -> None:
        asyncio.set_event_loop(self.loop)
        server = self.loop.run_until_complete(
            asyncio.start_server(self._pass_on, self.address, 0))
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        self.loop.run_forever()

    async def _pass_on(self, reader, writer) -> None:
        if self.is_cut:
            writer.transport.abort()
            return
        try:
            inner, outer = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.transport.abort()
            return
        self.writers |= {writer, outer}
        await asyncio.gather(self._pump(reader, outer), self._pump(inner, writer))
        self.writers -= {writer, outer}

    async def _pump(self, reader, writer) -> None:
        with contextlib.suppress(OSError, ConnectionError):
            while chunk := await reader.read(65536):
                while self.is_silent:
                    await asyncio.sleep(0.05)
                writer.write(chunk)
                await writer.drain()
        writer.transport.abort()

    def drop(self) -> None:
        """Cut what is connected now; new connections are let through."""
        for writer in list(self.writers):
            self.loop.call_soon_threadsafe(writer.transport.abort)

    def cut(self, is_cut: bool) -> None:
        self.is_cut = is_cut
        self.drop()
