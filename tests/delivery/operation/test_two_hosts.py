"""Two hosts with a portal and a worker each, which share what docs/operation.md names and nothing
else: database, Redis, artifact store and live logs. Each request goes to the other portal."""

import itertools
import os
import re
import shutil
import subprocess
import sys
import time

import pytest
import requests
from django.conf import settings

from tests.ports import free_port

PREPARE = """
import django, sys; django.setup()
from django.contrib.auth.hashers import make_password
from engagements import services
from engagements.models import Membership, Role, User
from tests.practice_nodes import enrolled
from types import SimpleNamespace
manager = User.objects.create_user("manager", role=Role.MANAGER, password="Trial-2026!")
operator = User.objects.create_user("operator", role=Role.OPERATOR)
customer = services.create_customer(actor=manager, name="c")
engagement = services.create_engagement(actor=manager, customer=customer, code="EP1", name="e")
Membership.objects.get_or_create(engagement=engagement, user=manager, role=Role.MANAGER)
node = enrolled(operator, SimpleNamespace(
    host=sys.argv[1], port=int(sys.argv[2]), username=sys.argv[3], private_key_text=sys.argv[4]))
node.command_roles = ["manager"]
node.save()
"""
SECONDS = 90
PART = b"iteration 1/2 | lm loss: 1.5\n" * 5000


class Hosts:
    """The processes of both, and a browser whose requests go to one and the other by turns."""

    def __init__(self, folder, migrated) -> None:
        redis, self.ports, self.processes = free_port(), [free_port(), free_port()], []
        shutil.copy(migrated, folder / "desk.sqlite3")
        shared = {"DATABASE_URL": f"sqlite:///{folder / 'desk.sqlite3'}",
                  "REDIS_URL": f"redis://127.0.0.1:{redis}/0", "DESK_DEBUG": "1",
                  "DESK_SECRET_KEY": "k" * 50, "DESK_AUDIT_KEY": "a" * 50,
                  "DESK_ARTIFACT_DIR": str(folder / "artifacts"),
                  "DESK_LIVE_LOG_DIR": str(folder / "live-logs"),
                  "DJANGO_SETTINGS_MODULE": "delivery.settings",
                  "PYTHONPATH": str(settings.BASE_DIR)}
        self.environments = [{**os.environ, **shared, "DESK_VAR_DIR": str(folder / name)}
                             for name in ("host-a", "host-b")]
        self.log = (folder / "log").open("ab")
        self._start(0, "redis-server", "--port", str(redis), "--save", "")
        self.turn = itertools.cycle(self.ports)
        self.browser = requests.Session()

    def prepare(self, node) -> None:
        subprocess.run([sys.executable, "-c", PREPARE, node.host, str(node.port), node.username,
                        node.private_key_text], cwd=settings.BASE_DIR, check=True,
                       env=self.environments[0])
        for host, port in enumerate(self.ports):
            self._start(host, sys.executable, "-m", "gunicorn", "delivery.wsgi:application",
                        "--bind", f"127.0.0.1:{port}", "--threads", "4")
            self._start(host, sys.executable, "-m", "celery", "-q", "-A", "delivery", "worker",
                        "-P", "threads", "-c", "2", "--loglevel", "error")
        self._start(0, sys.executable, "-m", "celery", "-q", "-A", "delivery", "beat",
                    "--loglevel", "error", "--pidfile=")
        for port in self.ports:
            until(lambda port=port: self._is_up(port))

    def _start(self, host: int, *command: str) -> None:
        self.processes.append(subprocess.Popen(
            command, cwd=settings.BASE_DIR, env=self.environments[host], stdout=self.log,
            stderr=self.log))

    def _is_up(self, port: int) -> bool:
        try:
            return requests.get(f"http://127.0.0.1:{port}/healthz", timeout=5).ok
        except requests.RequestException:  # not yet
            return False

    def ask(self, method: str, path: str, **more) -> requests.Response:
        root = f"http://127.0.0.1:{next(self.turn)}"
        headers = {"Referer": root, "X-CSRFToken": self.browser.cookies.get("csrftoken", ""),
                   **more.pop("headers", {})}
        answer = self.browser.request(method, root + path, headers=headers, timeout=60,
                                      allow_redirects=False, **more)
        assert answer.status_code < 400, answer.text[:2000]
        return answer

    def json(self, method: str, path: str, **more):
        return self.ask(method, f"/api/v1/{path}", **more).json()

    def stop(self) -> None:
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait(30)


def until(found, seconds=SECONDS):
    deadline = time.monotonic() + seconds
    while not (answer := found()):
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.3)
    return answer


@pytest.fixture
def hosts(tmp_path, migrated_file):
    found = Hosts(tmp_path, migrated_file)
    yield found
    found.stop()


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("redis-server"), reason="needs redis-server")
def test_either_portal_and_either_worker_goes_on_with_what_the_other_began(hosts, ssh_server):
    hosts.prepare(ssh_server)
    page = hosts.ask("GET", "/login/").text
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)[1]
    hosts.ask("POST", "/login/", data={"csrfmiddlewaretoken": token, "username": "manager",
                                       "password": "Trial-2026!"})
    for _portal in hosts.ports:
        assert "EP1" in hosts.ask("GET", "/portfolio/").text

    upload = hosts.json("POST", "uploads/", json={
        "engagement": "EP1", "name": "train.log", "size": 2 * len(PART)})
    for number in range(2):
        upload = hosts.json("PUT", f"uploads/{upload['id']}/content/", data=PART, headers={
            "Content-Type": "application/octet-stream", "Upload-Offset": str(number * len(PART))})
    stored = f"artifacts/{upload['artifact']}/"
    until(lambda: hosts.json("GET", stored)["reading_state"] != "being_read")
    for _portal in hosts.ports:
        assert hosts.ask("GET", f"/artifacts/{upload['artifact']}/download/").content == PART * 2

    [node] = hosts.json("GET", "nodes/")["results"]
    jobs = [hosts.json("POST", "jobs/", json={
        "engagement": "EP1", "kind": "run.command", "node": node["id"], "parameters": {
            "script": "for n in 1 2 3 4 5 6; do echo line $n; sleep 1; done", "cards": 0}})
        for _job in range(3)]
    for _portal in hosts.ports:
        until(lambda: "line 1" in hosts.json("GET", f"jobs/{jobs[0]['id']}/log/")["text"])
    for job in jobs:
        until(lambda job=job: hosts.json("GET", f"jobs/{job['id']}/")["state"] == "succeeded")
        for _portal in hosts.ports:
            assert hosts.json("GET", f"jobs/{job['id']}/log/")["text"].split("\n")[:6] == [
                f"line {n}" for n in range(1, 7)]
