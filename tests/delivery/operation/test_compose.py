"""The compose file as it is, started: a job goes on through restarts, an upgrade and a restore.

Needs its images (deploy/container) and podman-compose or docker compose:
DESK_TEST_COMPOSE    the command, for example `docker compose`
DESK_TEST_ENGINE     the engine, for example `docker`
DESK_TEST_IMAGE      the image of this version
DESK_TEST_OLD_IMAGE  an image of an older version, to upgrade from; without it, from this one
"""

import os
import secrets
import shutil
import ssl
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from django.conf import settings
from django.urls import reverse

from tests.delivery.operation.container_jobs import (
    ENDED,
    QUEUE_A_JOB,
    end_job,
    job_on,
    log_bytes_of_one_run,
    until,
)
from tests.ports import free_port
from tests.workers.sshd import can_run, running_sshd

COMPOSE, ENGINE = (os.environ.get(f"DESK_TEST_{name}", "") for name in ("COMPOSE", "ENGINE"))
IMAGE = os.environ.get("DESK_TEST_IMAGE", "")
OLD_IMAGE = os.environ.get("DESK_TEST_OLD_IMAGE", IMAGE)
DEPLOY = Path(settings.BASE_DIR, "deploy")
DATA = ("desk-data", "database", "redis", "store")  # all volumes but the backups and the proxy's
BACKUP = ["backup", "/backups", "--keep", "14"]
PATIENCE = 900  # seconds, for a busy machine
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (COMPOSE and ENGINE and IMAGE), reason="needs DESK_TEST_COMPOSE, "
                       "DESK_TEST_ENGINE and DESK_TEST_IMAGE"),
    pytest.mark.skipif(not can_run(), reason="needs sshd")]


class Project:
    """The compose file in a folder and under a name of its own."""

    def __init__(self, folder: Path) -> None:
        self.name, self.folder = f"desk-{secrets.token_hex(4)}", folder / "deploy/container"
        shutil.copytree(DEPLOY, folder / "deploy")
        self.http, self.https, self.image = free_port(), free_port(), OLD_IMAGE
        password = secrets.token_hex(16)
        self.write("database-password", password)
        self.fill_in("store.env", {"AWS_ACCESS_KEY_ID": secrets.token_hex(10),
                                   "AWS_SECRET_ACCESS_KEY": secrets.token_hex(20)})
        self.fill_in("desk.env", {
            "DESK_PUBLIC_URL": "https://localhost", "DESK_TRUSTED_ORIGINS": "https://localhost",
            "DESK_ALLOWED_HOSTS": "localhost,127.0.0.1,portal",
            "DATABASE_URL": f"postgresql://desk:{password}@database/desk",
            "DESK_SECRET_KEY": secrets.token_hex(40), "DESK_AUDIT_KEY": secrets.token_hex(40),
            "DESK_CREDENTIAL_KEYS": Fernet.generate_key().decode(),
            "DESK_METRICS_TOKEN": secrets.token_hex(20)})

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def fill_in(self, name: str, values: dict[str, str]) -> None:
        """The example of that name with these values in the places of its own."""
        lines = (self.folder / f"{name}.example").read_text().splitlines()
        known = [line.partition("=")[0] for line in lines]
        assert set(values) <= set(known)
        self.write(name, "\n".join(
            f"{key}={values[key]}" if key in values else line
            for key, line in zip(known, lines, strict=True)))
        assert "CHANGE-ME" not in (self.folder / name).read_text()

    def compose(self, *words: str, text: str = "") -> str:
        return run(*COMPOSE.split(), "-p", self.name, *words, text=text, cwd=self.folder, env={
            **os.environ, "DESK_IMAGE": self.image, "DESK_HTTP_PORT": str(self.http),
            "DESK_HTTPS_PORT": str(self.https)})

    def manage(self, *how: str, command: list[str], text: str = "") -> str:
        """A command of manage.py in a container that runs, or in one of its own."""
        return self.compose(*how, "python", "manage.py", *command, text=text)

    def up(self) -> None:
        self.compose("up", "-d")
        until(lambda: self.answer("/healthz")[0] == 200, PATIENCE)

    def containers(self, service: str) -> list[str]:
        return run(*ENGINE.split(), "ps", "-q", "--filter",
                   f"label=com.docker.compose.project={self.name}", "--filter",
                   f"label=com.docker.compose.service={service}").split()

    def gateway(self) -> str:
        """This machine as the project's containers reach it."""
        [address] = run(*ENGINE.split(), "network", "inspect", f"{self.name}_outside", "--format",
                        GATEWAY["podman" if "podman" in run(*ENGINE.split(), "--version")
                                else "docker"]).split()
        return address

    def answer(self, path: str) -> tuple[int, dict[str, str]]:
        """Through the proxy, whose certificate is of an authority of its own."""
        trusting = ssl._create_unverified_context()
        try:
            with urllib.request.urlopen(f"https://localhost:{self.https}{path}", timeout=10,
                                        context=trusting) as answer:
                return answer.status, dict(answer.headers)
        except urllib.error.HTTPError as error:
            return error.code, dict(error.headers)
        except OSError:
            return 0, {}

    def job(self) -> tuple[str, int, int]:
        """State, attempt and stored bytes of the log of the only job."""
        state, attempt, stored = self.compose(
            "exec", "-T", "database", "psql", "-U", "desk", "-d", "desk", "-Atc",
            "SELECT state, attempt, log_stored FROM workers_job").split()[-1].split("|")
        return state, int(attempt), int(stored)

    def until_log_grows(self) -> None:
        stored = self.job()[2]
        until(lambda: self.job()[2] > stored, PATIENCE)

    def remove(self, *volumes: str) -> None:
        self.compose("down")
        for name in volumes:
            run(*ENGINE.split(), "volume", "rm", f"{self.name}_{name}")


GATEWAY = {"podman": "{{range .Subnets}}{{.Gateway}} {{end}}",
           "docker": "{{range .IPAM.Config}}{{.Gateway}} {{end}}"}


def run(*words: str, text: str = "", **more) -> str:
    done = subprocess.run(words, capture_output=True, text=True, input=text, check=False, **more)
    assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture
def project(tmp_path):
    tmp_path.chmod(0o755)
    made = Project(tmp_path)
    yield made
    made.compose("down", "-v")


def test_a_job_outlives_restarts_an_upgrade_and_a_restore(project, tmp_path):
    project.up()
    status, headers = project.answer(reverse("login"))
    assert (status, "Strict-Transport-Security" in headers) == (200, True)
    assert [project.answer(path)[0] for path in ("/metrics", "/readyz")] == [404, 404]
    assert len(project.containers("worker")) == 2

    with running_sshd(tmp_path / "node", project.gateway(), BOOK=tmp_path / "book") as server:
        shown = project.manage("exec", "-T", "portal", command=["shell", "-c", QUEUE_A_JOB],
                               text=job_on(server))
        assert "queued" in shown
        until(lambda: project.job()[0] == "running" and project.job()[2] > 0, PATIENCE)

        project.compose("restart", "portal")
        run(*ENGINE.split(), "kill", "-s", "KILL", project.containers("worker")[0])
        project.until_log_grows()

        project.manage("exec", "-T", "clock", command=BACKUP)
        project.image = IMAGE
        project.compose("up", "-d", "--no-deps", "--force-recreate", "portal", "worker", "clock")
        until(lambda: project.answer("/healthz")[0] == 200, PATIENCE)
        assert project.job()[0] == "running"
        project.until_log_grows()

        project.manage("exec", "-T", "clock", command=BACKUP)
        project.remove(*DATA)
        for command in (["create_bucket", "--wait", "60"], ["restore", "/backups"]):
            project.manage("run", "--rm", "-T", "clock", command=command)
        assert project.job()[0] == "running"
        project.up()
        project.until_log_grows()
        end_job(tmp_path / "book")
        until(lambda: project.job()[0] in ENDED, PATIENCE)
    assert project.job() == ("succeeded", 1, log_bytes_of_one_run(tmp_path / "book"))
    assert " files read" in project.manage("exec", "-T", "portal",
                                           command=["scrub", "--language", "en"])
