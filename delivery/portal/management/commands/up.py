"""Runs everything `./desk run` promises and restarts what ends; Ctrl-C stops it all."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from delivery.portal.sample import LOGINS, load_sample, practice_node_is_enrolled
from delivery.portal.sample_node import enrol_practice_node


class Command(BaseCommand):
    help = "Starts the portal, a worker with its clock, and the practice node."

    def add_arguments(self, parser):
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--host", default="127.0.0.1")

    def handle(self, *args, port, host, **options):
        _require_free_port(host, port)
        node_root = Path(settings.VAR_DIR) / "practice-node"
        children = Children()
        signal.signal(signal.SIGTERM, children.interrupt)
        try:
            node_port = _node_port(node_root)
            children.start("practice node", [sys.executable, "manage.py", "practice_node",
                                             "--root", str(node_root), "--port", str(node_port)])
            self._prepare(node_root, node_port)
            connection.close()
            children.start("worker", _worker())
            children.start("portal", _web(host, port))
            _wait_for(host, port)
            self._greet(host, port)
            children.supervise(self.stdout)
        except KeyboardInterrupt:
            self.stdout.write("\nStopping …")
        finally:
            children.stop()

    def _prepare(self, node_root: Path, node_port: int) -> None:
        _wait_for("127.0.0.1", node_port)
        load_sample()
        if not practice_node_is_enrolled():
            enrol_practice_node(node_root, "127.0.0.1", node_port)

    def _greet(self, host: str, port: int) -> None:
        self.stdout.write(self.style.SUCCESS(
            f"\nDelivery Desk 迁移交付台 is running: http://{host}:{port}\n"))
        self.stdout.write("Log-ins of the sample (practice data):")
        for username, password, what in LOGINS:
            self.stdout.write(f"  {username:<12} {password:<16} {what}")
        self.stdout.write("\nCtrl-C stops everything.")


class Children:
    """Child processes, each in its own group, restarted when they end by themselves."""

    def __init__(self) -> None:
        self.commands: dict[str, list[str]] = {}
        self.running: dict[str, subprocess.Popen] = {}

    def start(self, name: str, command: list[str]) -> None:
        self.commands[name] = command
        self.running[name] = subprocess.Popen(
            command, cwd=settings.BASE_DIR, stdin=subprocess.DEVNULL, start_new_session=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"})

    def interrupt(self, *_arguments) -> None:
        raise KeyboardInterrupt

    def supervise(self, out) -> None:
        """Restart what ends; returns only by KeyboardInterrupt."""
        while True:
            time.sleep(1)
            for name, process in list(self.running.items()):
                if process.poll() is not None:
                    out.write(f"{name} ended with {process.returncode}; starting it again")
                    self.start(name, self.commands[name])

    def stop(self) -> None:
        for process in self.running.values():
            _signal_group(process, signal.SIGTERM)
        deadline = time.monotonic() + 10
        for process in self.running.values():
            try:
                process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                _signal_group(process, signal.SIGKILL)


def _signal_group(process: subprocess.Popen, number: int) -> None:
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass


def _worker() -> list[str]:
    return [sys.executable, "-m", "celery", "-A", "delivery", "worker", "--beat", "-P", "threads",
            "-c", "4", "--loglevel", "warning"]


def _web(host: str, port: int) -> list[str]:
    return [sys.executable, "-m", "gunicorn", "delivery.wsgi:application", "--bind",
            f"{host}:{port}", "--workers", "1", "--threads", "16", "--worker-class", "gthread",
            "--log-level", "warning", "--timeout", "120"]


def _require_free_port(host: str, port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise CommandError(
                f"Port {port} is taken by another program. Stop it, or choose another port: "
                f"DESK_PORT={port + 1} ./desk run") from error


def _node_port(root: Path) -> int:
    """The practice node's port: kept between starts, because the node row names it."""
    kept = root / "port"
    if kept.exists():
        return int(kept.read_text())
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number = probe.getsockname()[1]
    root.mkdir(parents=True, exist_ok=True)
    kept.write_text(str(number))
    return number


def _wait_for(host: str, port: int, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex((host, port)) == 0:
                return
        time.sleep(0.1)
    raise CommandError(f"Nothing answers on {host}:{port} after {seconds:.0f} s.")
