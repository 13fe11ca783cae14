"""Runs everything `./desk run` promises and restarts what ends; Ctrl-C stops it all.

On a first start the practice engagements are played in the background; a later start goes on where
that was stopped. A database made ready for real work (`manage.py begin`, `--empty`) gets no sample,
and a practice node only where `--practice-node` has asked for one, from then on at every start.
"""

import fcntl
import io
import os
import secrets
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection
from django.db.migrations.exceptions import InconsistentMigrationHistory

from delivery.demo import process_groups, schema_check
from delivery.demo.child_processes import (
    Children,
    free_port,
    is_port_free,
    node_command,
    practice_command,
    wait_for,
    web_command,
    worker_command,
)
from delivery.demo.practice_removal import remove_practice
from delivery.demo.sample_firm import LOGINS
from delivery.demo.sample_node import (
    enrol_practice_node,
    follow_port,
    practice_node_is_wanted,
    withdraw_wish,
)
from delivery.demo.sample_setup import holds_real_work, load_sample, practice_node_is_enrolled
from delivery.demo.scenario_runs import is_played
from delivery.portal.management.commands.begin import VARIABLE
from engagements.errors import DeskError
from engagements.models import Role, User

PLAIN_PORT = 8000
PLAIN_URL = f"http://127.0.0.1:{PLAIN_PORT}"  # what the setting is where nobody set it


class Command(BaseCommand):
    help = "Starts the portal, a worker with its clock, and the practice node."
    requires_system_checks = []  # they import every page, as the portal does a moment later

    def add_arguments(self, parser):
        parser.add_argument("--port", type=int, default=PLAIN_PORT)
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--empty", action="store_true",
                            help="without practice data; removes what is there of it")
        parser.add_argument("--practice-node", action="store_true",
                            help="enrols a practice node, marked as one, beside real work, too")
        parser.add_argument("--sample-only", action="store_true",
                            help="the sample engagement alone; nothing is played")

    def handle(self, *args, port, host, empty, practice_node, sample_only, **options):
        lock = _alone()  # held by this process until it ends
        for name in process_groups.end_left_behind():
            self.stdout.write(f"{name} of an earlier start was still running and was ended")
        if not is_port_free(host, port):
            raise CommandError(
                f"Port {port} is taken by another program. Stop it, or choose another port: "
                f"DESK_PORT={port + 1} ./desk run")
        if port != PLAIN_PORT and settings.PUBLIC_URL == PLAIN_URL:  # mails name the real address
            os.environ["DESK_PUBLIC_URL"] = f"http://{host}:{port}"
        children = Children()
        signal.signal(signal.SIGTERM, _interrupt)
        note = Path(settings.VAR_DIR) / "up.pid"  # `manage.py upgrade` takes over from it
        note.write_text(str(os.getpid()))
        try:
            self._start(children, host, port, empty, practice_node, sample_only)
            while True:
                time.sleep(0.2)
                if "practice node" not in children.running and practice_node_is_wanted():
                    self._start_wanted_node(children)
                for name in children.restart_ended():
                    self.stdout.write(f"{name} had ended and was started again")
        except KeyboardInterrupt:
            self.stdout.write("\nStopping …")
        finally:
            children.stop()
            note.unlink(missing_ok=True)
            lock.close()

    def _start(self, children: Children, host: str, port: int, empty: bool, practice_node: bool,
               sample_only: bool) -> None:
        _prepare()
        if empty:
            self._empty()
        is_practice = not empty and not holds_real_work()
        if is_practice or practice_node or practice_node_is_enrolled():
            self._start_practice_node(children, load_sample if is_practice else None)
        connection.close()
        children.start("portal", web_command(host, port))
        children.start("worker", worker_command())
        wait_for(host, port)
        self._greet(host, port, is_practice)
        if is_practice and not sample_only and not is_played():
            self._play(children)

    def _play(self, children: Children) -> None:
        """What it prints goes to a file; how far it is stands in the portal."""
        connection.close()
        with (Path(settings.VAR_DIR) / "practice.log").open("a") as output:
            children.start("practice scenario", practice_command(), output=output,
                           is_finite=True)

    def _empty(self) -> None:
        """No practice data; an administrator, so that somebody can sign in."""
        try:
            if not holds_real_work() and User.objects.exists():
                remove_practice(actor=None)
        except DeskError as error:
            raise CommandError(str(error)) from error
        if not User.objects.filter(role=Role.ADMINISTRATOR, is_active=True).exists():
            password = os.environ.get(VARIABLE) or secrets.token_urlsafe(9)
            os.environ[VARIABLE] = password
            call_command("begin", "admin", stdout=io.StringIO())
            self.stdout.write(f"The first administrator: admin   {password}")

    def _start_practice_node(self, children: Children, meanwhile: Callable[[], object] | None
                             ) -> None:
        """The practice node comes up, and is enrolled once; the sample is written meanwhile."""
        root = Path(settings.VAR_DIR) / "practice-node"
        node_port = _stored_node_port(root)
        children.start("practice node", node_command(root, node_port))
        if meanwhile:
            meanwhile()
        wait_for("127.0.0.1", node_port)
        if practice_node_is_enrolled():
            follow_port(root, node_port)
        else:
            enrol_practice_node(root, "127.0.0.1", node_port)

    def _start_wanted_node(self, children: Children) -> None:
        """Somebody has asked for it on the page of nodes."""
        try:
            self._start_practice_node(children, None)
        except (DeskError, CommandError) as error:
            self.stdout.write(f"The practice node could not be enrolled: {error}")
        withdraw_wish()
        connection.close()

    def _greet(self, host: str, port: int, is_practice: bool) -> None:
        self.stdout.write(self.style.SUCCESS(
            f"\nDelivery Desk 迁移交付台 is running: http://{host}:{port}\n"))
        if is_practice:
            self.stdout.write("Log-ins of the sample (practice data):")
            for username, password, what in LOGINS:
                self.stdout.write(f"  {username:<12} {password:<16} {what}")
        elif not practice_node_is_enrolled():
            self.stdout.write("No NPU at hand? ./desk run --practice-node enrols a practice node; "
                              "what comes of it is marked.")
        self.stdout.write("\nCtrl-C stops everything.")
        self.stdout.flush()


def _alone() -> IO:
    """The lock of the data folder. Raises CommandError where another start holds it: the second
    would end the processes of the first and run the same jobs beside it."""
    lock = (Path(settings.VAR_DIR) / "up.lock").open("a")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        raise CommandError(
            f"Delivery Desk runs already on the data folder {settings.VAR_DIR}. Stop it first; for "
            "a second one beside it set DESK_VAR_DIR to another folder.") from None
    return lock


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


def _stored_node_port(root: Path) -> int:
    """The practice node's port: kept between starts, because the node's row names it. One that
    another program has taken meanwhile, as the desk that this one is a copy of, is replaced."""
    file = root / "port"
    if not file.exists() or not is_port_free("127.0.0.1", int(file.read_text())):
        root.mkdir(parents=True, exist_ok=True)
        file.write_text(str(free_port()))
    return int(file.read_text())
