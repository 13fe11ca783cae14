"""The portal as the site of a crowd."""

import os
import re
import subprocess
import threading

from benchmarks.fleet.__main__ import prepare
from benchmarks.load.crowd import Log, Person, Site

PASSWORD = "Practice-2026"
WRITTEN = "load "  # to-dos begin with it


class Consultant(Person):
    """A consultant of the world, with an engagement under way."""

    token, token_field = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"'), (
        "csrfmiddlewaretoken")

    def __init__(self, base: str, row: tuple[str, int, str, int], *more) -> None:
        username, self.key, self.code, self.engagement_key = row
        super().__init__(base, username, *more)

    def log_in(self) -> int:
        return self.send("/login/", "/login/", {"username": self.username, "password": PASSWORD})

    def turns(self) -> dict:
        of = f"/engagements/{self.code}/"
        return {
            "list": lambda: self.get("/", "/engagements/", "/jobs/", "/quotes/", "/documents/",
                                     "/notices/", f"/search/?q={self.code}"),
            "engagement": lambda: self.get(of, of + "plan/", of + "control/", of + "changes/",
                                           of + "criteria/"),
            "board": lambda: self.get("/board/"),
            "API poll": lambda: self.get(f"/api/v1/jobs/?engagement={self.engagement_key}"),
            "write": self.write}

    def write(self) -> int:
        text = f"{WRITTEN}{self.username} {threading.get_ident()} {self.random.random()}"
        form = f"/engagements/{self.code}/control/todos/new/"
        status = self.send(form, form, {"text": text, "owner": str(self.key),
                                        "due_on": "2027-01-01"})
        if status == 200:
            self.log.written.append(text)
        return status


class Portal(Site):
    """gunicorn as `./desk run` starts it, on the database that DATABASE_URL names."""

    name = "portal"

    def __init__(self, port: int, engagements: int | None) -> None:
        prepare(engagements)
        self.port, self.process = port, None

    def __enter__(self) -> "Portal":
        from django.conf import settings
        from django.db import connection

        from delivery.demo.child_processes import wait_for, web_command

        self._written().delete()
        connection.close()
        self.process = subprocess.Popen(
            web_command("127.0.0.1", self.port), start_new_session=True,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "DESK_SECRET_KEY": settings.SECRET_KEY,
                 "DESK_TASKS_EAGER": "false"})
        wait_for("127.0.0.1", self.port)
        return self

    def __exit__(self, *_about) -> None:
        self.process.terminate()
        self.process.wait(20)

    def crowd(self, users: int, log: Log, ends: float, think: float) -> list[Person]:
        from engagements.models import Engagement, Membership

        found = Membership.objects.filter(
            role="consultant", engagement__state=Engagement.State.ACTIVE,
            user__username__startswith="consultant-").select_related("user", "engagement")
        by_user = {row.user_id: row for row in found.order_by("user", "pk")}
        rows = [(row.user.username, key, row.engagement.code, row.engagement_id)
                for key, row in list(by_user.items())[:users]]
        return [Consultant(f"http://127.0.0.1:{self.port}", row, log, ends, think) for row in rows]

    def kept_writes(self, log: Log) -> bool:
        stored = sorted(self._written().values_list("text", flat=True))
        print(f"{len(log.written)} writes acknowledged, {len(stored)} stored, "
              f"{len(set(stored))} different")
        return set(log.written) <= set(stored) and len(stored) == len(set(stored))

    @staticmethod
    def _written():
        from delivery.planning.models import Todo

        return Todo.objects.filter(text__startswith=WRITTEN)
