"""Child processes, each in its own group: what `up` and `demo` start and stop."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

from django.conf import settings
from django.core.management.base import CommandError

from delivery.demo import process_groups

LONGEST_PAUSE = 60  # seconds


class Children:
    """Named child processes; `restart_ended` starts again what ended by itself.

    A process that is `finite` may end: it is not started again.
    """

    def __init__(self) -> None:
        self.commands: dict[str, list[str]] = {}
        self.running: dict[str, subprocess.Popen] = {}
        self.finite: set[str] = set()
        self.pauses: dict[str, float] = {}  # seconds before the next restart
        self.begun: dict[str, float] = {}

    def start(self, name: str, command: list[str], *, output: IO | None = None,
              is_finite: bool = False) -> None:
        """Start a process; `output` gets what it prints, else the terminal."""
        if is_finite:
            self.finite.add(name)
        self.commands[name], self.begun[name] = command, time.monotonic()
        self.running[name] = subprocess.Popen(
            command, cwd=settings.BASE_DIR, stdin=subprocess.DEVNULL, start_new_session=True,
            stdout=output, stderr=output and subprocess.STDOUT,
            env={**os.environ, "PYTHONUNBUFFERED": "1"})
        process_groups.note({name: process.pid for name, process in self.running.items()})

    def restart_ended(self) -> list[str]:
        """Names of the processes that had ended and were started again. One that ends soon after
        its start waits longer each time, up to a minute.

        What is left of their groups is ended first: a killed worker's clock would go on beside the
        new one's, and a killed portal's workers would hold its port.
        """
        ended = [name for name, process in self.running.items()
                 if name not in self.finite and process.poll() is not None
                 and time.monotonic() - self.begun[name] >= self.pauses.get(name, 0)]
        for name in ended:
            ran = time.monotonic() - self.begun[name]
            self.pauses[name] = 0 if ran > LONGEST_PAUSE else min(
                max(1, 2 * self.pauses.get(name, 0)), LONGEST_PAUSE)
            process_groups.signal_group(self.running[name].pid, signal.SIGKILL)
            self.start(name, self.commands[name])
        return ended

    def stop(self) -> None:
        """TERM to every group, KILL after ten seconds."""
        for process in self.running.values():
            process_groups.signal_group(process.pid, signal.SIGTERM)
        deadline = time.monotonic() + 10
        for process in self.running.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0.1, deadline - time.monotonic()))
            process_groups.signal_group(process.pid, signal.SIGKILL)
        process_groups.forget()


def worker_command() -> list[str]:
    """A Celery worker with its clock; threads share one SSH connection per node."""
    return [sys.executable, "-W", "ignore:You're running the worker", "-m", "celery", "-q",
            "-A", "delivery", "worker", "--beat", "-P", "threads", "-c", "4",
            "--loglevel", "warning", "--without-gossip", "--without-mingle"]


def web_command(host: str, port: int) -> list[str]:
    """The portal: gunicorn's master loads the pages once, its workers are copies of it."""
    return [sys.executable, "-m", "gunicorn", "delivery.wsgi:application", "--preload",
            "--bind", f"{host}:{port}", "--worker-class", "gthread",
            "--workers", str(settings.WEB_WORKERS), "--threads", str(settings.WEB_THREADS),
            "--keep-alive", str(settings.WEB_KEEP_ALIVE),
            "--log-level", "warning", "--timeout", "120"]


def node_command(root: Path, port: int) -> list[str]:
    return [sys.executable, "manage.py", "practice_node", "--root", str(root),
            "--port", str(port)]


def practice_command() -> list[str]:
    """The scenario of a first start."""
    return [sys.executable, "manage.py", "practice"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def is_port_free(host: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def wait_for(host: str, port: int, seconds: float = 60) -> None:
    """Wait until something answers there. Raises CommandError after `seconds`."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex((host, port)) == 0:
                return
        time.sleep(0.1)
    raise CommandError(f"Nothing answers on {host}:{port} after {seconds:.0f} s.")
