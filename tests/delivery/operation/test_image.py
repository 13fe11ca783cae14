"""The image in containers: a job goes on while portal and worker restart, and through a restore.

Needs an image built of this repository (deploy/container/Containerfile), named by DESK_TEST_IMAGE,
and the engine that holds it in DESK_TEST_ENGINE, with PostgreSQL and Redis on this machine:
DATABASE_URL names a database that may create others, REDIS_URL the broker.
"""

import os
import secrets
import subprocess
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.delivery.operation.container_jobs import (
    ENDED,
    QUEUE_A_JOB,
    end_job,
    job_on,
    log_bytes_of_one_run,
    until,
)
from tests.ports import free_port
from tests.workers.podman import RUN_OPTIONS
from tests.workers.sshd import can_run, running_sshd

IMAGE, ENGINE = os.environ.get("DESK_TEST_IMAGE", ""), os.environ.get("DESK_TEST_ENGINE", "")
SERVER, BROKER = os.environ.get("DATABASE_URL", ""), os.environ.get("REDIS_URL", "")
OWNER = 10001  # of the Containerfile
CONFINED = ("--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "--security-opt",
            "no-new-privileges", "--network", "host", *RUN_OPTIONS.split())
WORKER = ("celery", "-A", "delivery", "worker", "-P", "threads", "-c", "4", "--loglevel", "warning",
          "--without-gossip", "--without-mingle", "-n")
COMMANDS = {
    "portal": ("gunicorn", "delivery.wsgi:application", "--threads", "8", "--worker-tmp-dir",
               "/dev/shm", "--bind"),  # and the address
    "worker-1": (*WORKER, "one@%h"), "worker-2": (*WORKER, "two@%h"),
    "clock": ("celery", "-A", "delivery", "beat", "--loglevel", "warning", "--pidfile="),
}
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (IMAGE and ENGINE), reason="needs DESK_TEST_IMAGE, DESK_TEST_ENGINE"),
    pytest.mark.skipif(not (SERVER.startswith("postgresql") and BROKER),
                       reason="needs PostgreSQL and Redis"),
    pytest.mark.skipif(not can_run(), reason="needs sshd")]


class Installation:
    """Containers of one installation; its data folder and its database."""

    def __init__(self, folder: Path, port: int, mark: str) -> None:
        self.folder, self.port, self.mark = folder, port, mark
        self.keys = {name: secrets.token_urlsafe(60) for name in (
            "DESK_SECRET_KEY", "DESK_AUDIT_KEY", "DESK_BACKUP_PASSPHRASE")}

    def use(self, name: str) -> None:
        """A data folder and a database of that name, both empty."""
        self.data = self.folder / name
        self.data.mkdir(mode=0o700)
        os.chown(self.data, OWNER, OWNER)
        with psycopg.connect(SERVER, autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "desk_{self.mark}_{name}"')
        self.database = urlsplit(SERVER)._replace(path=f"/desk_{self.mark}_{name}").geturl()

    def words(self) -> list[str]:
        given = {**self.keys, "DATABASE_URL": self.database, "REDIS_URL": BROKER,
                 "DESK_ALLOWED_HOSTS": "127.0.0.1", "DESK_PUBLIC_URL": "http://127.0.0.1"}
        return [*CONFINED, "-v", f"{self.data}:/data", "-v", f"{self.folder}/shared:/shared",
                *(word for name, value in given.items() for word in ("-e", f"{name}={value}"))]

    def manage(self, *words: str, text: str = "") -> str:
        """A command of manage.py in a container of its own."""
        return engine("run", "--rm", "-i", *self.words(), IMAGE, "python", "manage.py", *words,
                      text=text)

    def start(self) -> None:
        for name, command in COMMANDS.items():
            more = [f"127.0.0.1:{self.port}"] if name == "portal" else []
            engine("run", "-d", "--name", self.name(name), *self.words(), IMAGE, *command, *more)

    def name(self, part: str) -> str:
        return f"desk-{self.mark}-{part}"

    def remove(self) -> None:
        for part in COMMANDS:
            engine("rm", "-f", "-t", "5", "--ignore", self.name(part))

    def job(self) -> tuple[str, int]:
        """State of the only job and how much of its log is stored."""
        with psycopg.connect(self.database) as connection:
            return connection.execute("SELECT state, log_stored FROM workers_job").fetchone()

    def until_ready(self) -> None:
        until(lambda: _answer(f"http://127.0.0.1:{self.port}/readyz") == 200)


def engine(*words: str, text: str = "") -> str:
    done = subprocess.run([*ENGINE.split(), *words], capture_output=True, text=True, input=text,
                          check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _answer(address: str) -> int:
    try:
        return urllib.request.urlopen(address, timeout=5).status
    except OSError:
        return 0


@pytest.fixture
def installation(tmp_path):
    tmp_path.chmod(0o755)
    (tmp_path / "shared").mkdir()
    os.chown(tmp_path / "shared", OWNER, OWNER)
    made = Installation(tmp_path, free_port(), secrets.token_hex(4))
    yield made
    made.remove()
    with psycopg.connect(SERVER, autocommit=True) as connection:
        for name in ("first", "second"):
            connection.execute(f'DROP DATABASE IF EXISTS "desk_{made.mark}_{name}" (FORCE)')


def test_a_job_outlives_restarts_and_a_restore(installation, tmp_path):
    installation.use("first")
    installation.manage("migrate", "--noinput")
    installation.start()
    installation.until_ready()
    with running_sshd(tmp_path / "node", BOOK=tmp_path / "book") as server:
        shown = installation.manage("shell", "-c", QUEUE_A_JOB, text=job_on(server))
        assert "queued" in shown
        until(lambda: installation.job()[0] == "running" and installation.job()[1] > 0)
        engine("restart", "-t", "10", installation.name("portal"))
        engine("kill", "-s", "KILL", installation.name("worker-1"))
        installation.until_ready()
        stored = installation.job()[1]
        until(lambda: installation.job()[1] > stored)  # the other worker goes on

        installation.manage("backup", "/shared/backup", "--keys", "/shared/desk-keys")
        installation.remove()
        installation.use("second")
        installation.manage("restore", "/shared/backup")
        assert installation.job()[0] == "running"
        installation.start()
        installation.until_ready()
        stored = installation.job()[1]
        until(lambda: installation.job()[1] > stored)
        end_job(tmp_path / "book")
        until(lambda: installation.job()[0] in ENDED)
    assert installation.job() == ("succeeded", log_bytes_of_one_run(tmp_path / "book"))
