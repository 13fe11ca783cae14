"""Runs everything `./desk run` promises and restarts what ends; Ctrl-C stops it all.

A database made ready for real work (`manage.py begin`) gets neither sample nor practice node.
"""

import io
import signal
import time
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection
from django.db.migrations.exceptions import InconsistentMigrationHistory

from delivery.demo import schema_check
from delivery.demo.child_processes import (
    Children,
    free_port,
    is_port_free,
    node_command,
    wait_for,
    web_command,
    worker_command,
)
from delivery.demo.sample_engagement import (
    LOGINS,
    holds_real_work,
    load_sample,
    practice_node_is_enrolled,
)
from delivery.demo.sample_node import enrol_practice_node


class Command(BaseCommand):
    help = "Starts the portal, a worker with its clock, and the practice node."
    requires_system_checks = []  # they import every page, as the portal does a moment later

    def add_arguments(self, parser):
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--host", default="127.0.0.1")

    def handle(self, *args, port, host, **options):
        if not is_port_free(host, port):
            raise CommandError(
                f"Port {port} is taken by another program. Stop it, or choose another port: "
                f"DESK_PORT={port + 1} ./desk run")
        children = Children()
        signal.signal(signal.SIGTERM, _interrupt)
        try:
            self._start(children, host, port)
            while True:
                time.sleep(1)
                for name in children.restart_ended():
                    self.stdout.write(f"{name} had ended and was started again")
        except KeyboardInterrupt:
            self.stdout.write("\nStopping …")
        finally:
            children.stop()

    def _start(self, children: Children, host: str, port: int) -> None:
        _prepare()
        is_practice = not holds_real_work()
        if is_practice:
            self._start_practice(children)
        connection.close()
        children.start("portal", web_command(host, port))
        children.start("worker", worker_command())
        wait_for(host, port)
        self._greet(host, port, is_practice)

    def _start_practice(self, children: Children) -> None:
        """The practice node comes up while the sample is written."""
        root = Path(settings.VAR_DIR) / "practice-node"
        node_port = _kept_node_port(root)
        children.start("practice node", node_command(root, node_port))
        load_sample()
        wait_for("127.0.0.1", node_port)
        if not practice_node_is_enrolled():
            enrol_practice_node(root, "127.0.0.1", node_port)

    def _greet(self, host: str, port: int, is_practice: bool) -> None:
        self.stdout.write(self.style.SUCCESS(
            f"\nDelivery Desk 迁移交付台 is running: http://{host}:{port}\n"))
        if is_practice:
            self.stdout.write("Log-ins of the sample (practice data):")
            for username, password, what in LOGINS:
                self.stdout.write(f"  {username:<12} {password:<16} {what}")
        self.stdout.write("\nCtrl-C stops everything.")
        self.stdout.flush()


def _prepare() -> None:
    """Tables and certificate; in this process, since one each takes seconds more."""
    _migrate()
    if not (Path(settings.VAR_DIR) / "signing" / "practice.p12").exists():
        call_command("certificate", stdout=io.StringIO())


def _migrate() -> None:
    try:
        call_command("migrate", verbosity=0, interactive=False)
    except (DatabaseError, InconsistentMigrationHistory) as error:
        raise CommandError(f"The database could not be prepared: {error}") from error
    if found := list(schema_check.differences()):
        raise CommandError(schema_check.sentence(found))


def _interrupt(*_arguments) -> None:
    raise KeyboardInterrupt


def _kept_node_port(root: Path) -> int:
    """The practice node's port: kept between starts, because the node's row names it."""
    kept = root / "port"
    if not kept.exists():
        root.mkdir(parents=True, exist_ok=True)
        kept.write_text(str(free_port()))
    return int(kept.read_text())
