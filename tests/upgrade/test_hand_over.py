"""An upgrade while jobs run: workers of the older version hand over to this one, and no job is
lost or run twice. Two checkouts: an earlier commit of this repository, and this one."""

import collections
import getpass
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from django.conf import settings

from tests.workers.sshd import SSHD, Sshd
from workers.models.job import FINAL_STATES

NEW = Path(settings.BASE_DIR)
JOBS = 6
SCRIPT = """
echo job-{number} >> {root}/book
for n in 1 2 3 4 5 6 7 8 9 10; do echo "iteration $n/10 | lm loss: 1.$n"; sleep {pause}; done
echo job-{number} > key.txt
"""
PREPARE = """
import django, sys; django.setup()
from pathlib import Path
from engagements.models import Role, User
from workers import services
from workers.nodes import ssh
root, port = Path(sys.argv[1]), int(sys.argv[2])
operator = User.objects.create_user("operator", role=Role.OPERATOR)
node = services.enrol_node(
    actor=operator, name="node", host="127.0.0.1", username=sys.argv[3], port=port,
    private_key=(root / "client_key").read_text(), scratch_dir=str(root / "jobs"), is_practice=True)
node = services.confirm_host_key(
    actor=operator, node=node, fingerprint=ssh.fingerprint(node.offered_host_key))
for script in sorted(root.glob("job-*.sh")):
    services.queue_job(actor=operator, kind="test.counted", node=node,
                       parameters={"script": str(script), "cards": 0})
"""
STATES = """
import django, json; django.setup()
from workers.artifacts.artifact_store import is_intact
from workers.models import Job
print(json.dumps([[job.state, job.attempt, sorted(
    file.name for file in job.artifacts.all() if is_intact(file))]
    for job in Job.objects.order_by("pk")]))
"""


def git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=NEW, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def older_commit() -> str:
    """The newest release that lacks a migration of today; empty without history."""
    releases = git("log", "-G^version = ", "--format=%H", "--", "pyproject.toml").splitlines()
    return next((commit for commit in releases if git(
        "diff", "--diff-filter=A", "--name-only", commit, "--", "*/migrations/0*.py")), "")


class Installation:
    """One database, queue and store, worked on from either checkout."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.running: list[subprocess.Popen] = []

    def environment(self, tree: Path, **more) -> dict[str, str]:
        return {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.faults.settings",
                "DESK_VAR_DIR": str(self.folder / "var"), "REDIS_URL": "",
                "DATABASE_URL": f"sqlite:///{self.folder / 'desk.sqlite3'}",
                "DESK_LOG_LEVEL": "ERROR", "PYTHONPATH": str(tree), "PYTHONWARNINGS": "ignore",
                **more}

    def run(self, tree: Path, *command: str, is_expected_to_fail=False, **more) -> str:
        done = subprocess.run([sys.executable, *command], cwd=tree, capture_output=True, text=True,
                              check=False, timeout=600, env=self.environment(tree, **more))
        assert bool(done.returncode) == is_expected_to_fail, done.stdout + done.stderr[-4000:]
        return done.stdout + done.stderr

    def start(self, tree: Path) -> None:
        """Worker and clock of a checkout."""
        celery = [sys.executable, "-m", "celery", "-q", "-A", "delivery"]
        for words in (["worker", "-P", "threads", "-c", "4"], ["beat", "--pidfile="]):
            self.running.append(subprocess.Popen(
                [*celery, *words, "--loglevel", "error"], cwd=tree, env=self.environment(tree),
                stdout=(self.folder / "log").open("ab"), stderr=subprocess.STDOUT))

    def stop(self) -> None:
        """As a service manager does: asked to end, waited for."""
        for process in self.running:
            process.send_signal(signal.SIGTERM)
        for process in self.running:
            process.wait(120)
        self.running.clear()

    def jobs(self, tree: Path) -> list[list]:
        """State, attempt and the names of intact files of each job."""
        return json.loads(self.run(tree, "-c", STATES).splitlines()[-1])

    def wait_until(self, tree: Path, holds, what: str) -> list[list]:
        ends_at = time.monotonic() + 400
        while not holds(jobs := self.jobs(tree)):
            assert time.monotonic() < ends_at, f"{what}: {jobs} {(self.folder / 'log').read_text()}"
            time.sleep(1)
        return jobs


@pytest.fixture
def old(tmp_path) -> Path:
    commit = older_commit()
    if not commit:
        pytest.skip("needs the repository's history: git finds no earlier commit with migrations")
    tree = tmp_path / "old"
    tree.mkdir()
    archive = subprocess.run(["git", "archive", commit], cwd=NEW, capture_output=True, check=True)
    subprocess.run(["tar", "-x", "-C", tree], input=archive.stdout, check=True)
    return tree


@pytest.fixture
def node(tmp_path):
    root = tmp_path / "node"
    server = Sshd(root).start()
    for number in range(JOBS):
        (root / f"job-{number}.sh").write_text(SCRIPT.format(
            number=number, root=root, pause=1 + 2 * number))
    yield server
    server.process.terminate()
    server.process.wait()


@pytest.fixture
def desk(tmp_path):
    found = Installation(tmp_path / "desk")
    found.folder.mkdir()
    yield found
    found.stop()


def migrations(desk: Installation, tree: Path) -> int:
    """How many the database has."""
    return desk.run(tree, "manage.py", "showmigrations", "--plan").count("[X]")


@pytest.mark.everything
@pytest.mark.skipif(not Path(SSHD).exists(), reason="needs sshd (package openssh-server)")
def test_jobs_run_through_an_upgrade_and_one_that_is_taken_back(desk, old, node, tmp_path):
    desk.run(old, "manage.py", "migrate", "--noinput")
    desk.run(old, "-c", PREPARE, str(node.root), str(node.port), getpass.getuser())
    before = migrations(desk, old)
    upgrade = ("manage.py", "upgrade", "--no-start", "--backups", str(tmp_path / "backups"),
               "--language", "en")
    reported = desk.run(NEW, *upgrade, is_expected_to_fail=True,
                        DESK_ARTIFACT_DIR=str(Path(__file__) / "not-a-folder"))
    assert "The upgrade failed and was taken back: Artifact store: " in reported
    assert migrations(desk, old) == before

    desk.start(old)
    desk.wait_until(old, lambda jobs: any(state == "running" for state, *_rest in jobs), "started")
    reported = desk.run(NEW, *upgrade)  # while workers of the older version go on
    assert re.search(r"^[1-9]\d* migrations to apply", reported, re.M)
    desk.stop()
    states = collections.Counter(state for state, *_rest in desk.jobs(NEW))
    assert states["succeeded"] < JOBS, "all jobs ended before the hand-over: nothing was shown"
    desk.start(NEW)
    jobs = desk.wait_until(NEW, lambda jobs: all(
        state in FINAL_STATES for state, *_rest in jobs), "ended")
    desk.stop()
    assert [row[:2] for row in jobs] == [["succeeded", 1]] * JOBS
    assert all("key.txt" in files for _state, _attempt, files in jobs)
    book = (node.root / "book").read_text().split()
    assert sorted(book) == [f"job-{number}" for number in range(JOBS)]  # each ran once
    desk.run(NEW, "manage.py", "verify", "--audit")
