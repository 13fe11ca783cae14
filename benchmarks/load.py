"""Many people at once on the real portal: gunicorn, PostgreSQL and HTTP.

    DATABASE_URL=postgresql://… python -m benchmarks.load [--users 50] [--seconds 60] [--think 1]
                                                          [--port 28100] [--engagements N]

The database holds the world of `benchmarks.fleet` (of whatever size; filled with 1,000 engagements
where it is empty). Every user logs in
with a password, then takes turns: lists, an engagement's pages, a stage, the board, the inbox, a
poll of the API, and one turn in five a write (a checklist item ticked, a to-do added and done).
Printed per kind of turn: how many, errors, median and p95 in milliseconds; log-ins beside them.
Exit status 1 if an answer was no answer (5xx, timeout), if p95 of reads is above 300 ms, or if an
acknowledged write is missing or doubled in the database.
"""

import argparse
import os
import random
import re
import subprocess
import sys
import threading
import time
from collections import defaultdict
from statistics import median

import urllib3

from benchmarks.fleet.__main__ import prepare

PASSWORD = "Practice-2026"
P95_LIMIT_MS = 300
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


class Person(threading.Thread):
    """One user with a browser of his own."""

    def __init__(self, base: str, username: str, code: str, log: "Log", ends: float, think: float
                 ) -> None:
        super().__init__(daemon=True)
        self.base, self.username, self.code, self.log = base, username, code, log
        self.ends, self.think = ends, think
        self.pool = urllib3.PoolManager(maxsize=1, timeout=30, retries=False)
        self.cookies: dict[str, str] = {}
        self.random = random.Random(username)
        self.made: list[str] = []

    def run(self) -> None:
        self.turn("log in", self.log_in)
        turns = [("list", self.lists), ("engagement", self.engagement), ("board", self.board),
                 ("API poll", self.poll), ("write", self.write)]
        while time.monotonic() < self.ends:
            name, what = self.random.choice(turns)
            self.turn(name, what)
            time.sleep(self.random.expovariate(1 / self.think))

    def turn(self, name: str, what) -> None:
        begun = time.perf_counter()
        try:
            status = what()
        except Exception as error:
            status = type(error).__name__
        self.log.note(name, status, (time.perf_counter() - begun) * 1000)

    def ask(self, method: str, path: str, fields: dict | None = None):
        headers = {"Cookie": "; ".join(f"{k}={v}" for k, v in self.cookies.items()),
                   "Referer": self.base + path}
        options = {"encode_multipart": False} if method == "POST" else {}
        answer = self.pool.request(method, self.base + path, fields=fields, headers=headers,
                                   redirect=False, **options)
        for cookie in answer.headers.getlist("Set-Cookie"):
            name, _sign, value = cookie.split(";")[0].partition("=")
            self.cookies[name] = value
        return answer

    def post(self, path: str, form_at: str, fields: dict) -> int:
        page = self.ask("GET", form_at)
        found = TOKEN.search(page.data.decode())
        if not found:
            return page.status
        return self.ask("POST", path, {**fields, "csrfmiddlewaretoken": found[1]}).status

    def log_in(self) -> int:
        return self.post("/login/", "/login/", {"username": self.username, "password": PASSWORD})

    def lists(self) -> int:
        return self.ask("GET", self.random.choice((
            "/", "/engagements/", "/jobs/", "/quotes/", "/documents/", "/notices/",
            f"/search/?q={self.code}"))).status

    def engagement(self) -> int:
        return self.ask("GET", f"/engagements/{self.code}/" + self.random.choice((
            "", "plan/", "control/", "changes/", "criteria/"))).status

    def board(self) -> int:
        return self.ask("GET", "/board/").status

    def poll(self) -> int:
        return self.ask("GET", f"/api/v1/jobs/?engagement={self.engagement_key}").status

    def write(self) -> int:
        text = f"load {self.username} {len(self.made)}"
        status = self.post(
            f"/engagements/{self.code}/control/todos/new/",
            f"/engagements/{self.code}/control/todos/new/",
            {"text": text, "owner": str(self.key), "due_on": "2027-01-01"})
        if status == 302:
            self.made.append(text)
        return 200 if status == 302 else status


class Log:
    """What came back, by kind of turn."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = defaultdict(list)
        self.errors: dict[str, list] = defaultdict(list)
        self.lock = threading.Lock()

    def note(self, name: str, status, milliseconds: float) -> None:
        with self.lock:
            self.times[name].append(milliseconds)
            if not isinstance(status, int) or status >= 400:
                self.errors[name].append(status)

    def print(self) -> bool:
        print(f"{'turn':<14}{'count':>7}{'errors':>8}{'ms':>8}{'p95':>8}")
        is_good = True
        for name, times in sorted(self.times.items()):
            p95 = sorted(times)[round(0.95 * (len(times) - 1))]
            failed = self.errors[name]
            print(f"{name:<14}{len(times):>7}{len(failed):>8}{median(times):>8.0f}{p95:>8.0f}"
                  f"  {sorted(set(map(str, failed)))[:4] or ''}")
            is_slow = name not in ("log in", "write") and p95 > P95_LIMIT_MS
            is_good = is_good and not failed and not is_slow
        return is_good


def people(count: int) -> list[tuple[str, int, str, int]]:
    """Consultants of the fleet with an engagement under way: name, key, its code and key."""
    from engagements.models import Engagement, Membership

    found = Membership.objects.filter(
        role="consultant", engagement__state=Engagement.State.ACTIVE,
        user__username__startswith="consultant-").select_related("user", "engagement")
    by_user = {row.user_id: row for row in found.order_by("user", "pk")}
    return [(row.user.username, key, row.engagement.code, row.engagement_id)
            for key, row in list(by_user.items())[:count]]


def portal(port: int) -> subprocess.Popen:
    from django.conf import settings

    from delivery.demo.child_processes import wait_for, web_command

    process = subprocess.Popen(
        web_command("127.0.0.1", port), start_new_session=True, stdout=subprocess.DEVNULL,
        env={**os.environ, "DESK_SECRET_KEY": settings.SECRET_KEY, "DESK_TASKS_EAGER": "false"})
    wait_for("127.0.0.1", port)
    return process


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("--users", 50), ("--seconds", 60), ("--port", 28100),
                          ("--engagements", None)):
        parser.add_argument(name, type=int, default=default)
    parser.add_argument("--think", type=float, default=1)
    options = parser.parse_args()
    prepare(options.engagements)
    from django.db import connection

    from delivery.planning.models import Todo

    Todo.objects.filter(text__startswith="load ").delete()
    chosen, log = people(options.users), Log()
    connection.close()
    process = portal(options.port)
    try:
        ends = time.monotonic() + options.seconds
        crowd = []
        for username, key, code, engagement in chosen:
            person = Person(f"http://127.0.0.1:{options.port}", username, code, log, ends,
                            options.think)
            person.key, person.engagement_key = key, engagement
            crowd.append(person)
            person.start()
        for person in crowd:
            person.join(options.seconds + 60)
    finally:
        process.terminate()
        process.wait(20)
    is_good = log.print()
    stored = sorted(Todo.objects.filter(text__startswith="load ").values_list("text", flat=True))
    told = sorted(text for person in crowd for text in person.made)
    print(f"{len(told)} writes acknowledged, {len(stored)} stored, "
          f"{len(set(stored))} different")
    return 0 if is_good and set(told) <= set(stored) and len(stored) == len(set(stored)) else 1


if __name__ == "__main__":
    sys.exit(main())
