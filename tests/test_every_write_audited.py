"""Every write, log-in and download is in the audit log (DOMAIN AR-12)."""

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.base import ContentFile
from rest_framework.test import APIClient

from engagements.models import AuditEntry, Role
from workers.artifacts.artifact_store import store_file

APPS = ("engagements", "workers", "assessments", "delivery")
# Services with an actor that write no entry of their own, and why.
KEPT = "a quote's draft keeps every change in its revisions; submit, approve, issue are recorded"
SILENT = {
    "measure_disk": "keeps what a look at the node showed",
    **dict.fromkeys(("update_quote", "add_estimated", "add_line", "add_free_line",
                     "add_resources", "remove_line",
                     "update_line"), KEPT),
    "confirm": "one half of confirming a criteria set or a baseline, whose services record it",
    **dict.fromkeys(("mark_read", "mark_all_read"), "one's own inbox"),
    "check_for_models": "looks at a job that is not queued; nothing is written",
    "plan_job": "says what a job would be; nothing is written",
    "order_preview": "files of a draft, for its authors; issuing is recorded",
    "read_again": "the worker that reads the file writes the entry, in that person's name",
    "requeue_render_jobs": "files that were ordered before; nothing else comes of it",
}
ENTRY_POINT = re.compile(r"/views/|/api/|/views\.py$|/api\.py$")


@dataclass(frozen=True)
class Function:
    path: str
    node: ast.FunctionDef

    @property
    def calls(self) -> set[str]:
        """Names that are called, or handed to a call."""
        found = set()
        for one in ast.walk(self.node):
            if isinstance(one, ast.Call):
                found.add(one.func.attr if isinstance(one.func, ast.Attribute)
                          else getattr(one.func, "id", ""))
                found |= {arg.id for arg in one.args if isinstance(arg, ast.Name)}
        return found

    @property
    def appends(self) -> bool:
        """Whether it calls `audit_log.record` itself."""
        called = [one.func for one in ast.walk(self.node)
                  if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute)]
        return any((getattr(one.value, "id", ""), one.attr) == ("audit_log", "record")
                   for one in called)


def sources() -> list[Path]:
    return [path for app in APPS for path in (Path(settings.BASE_DIR) / app).rglob("*.py")
            if "migrations" not in path.parts]


@cache
def functions() -> list[Function]:
    """All functions and methods of our code."""
    return [Function(str(path), node) for path in sources()
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.FunctionDef)]


def recording() -> set[tuple[str, str]]:
    """File and name of every function that reaches `audit_log.record`.

    A name that is called is that of the same file, where there is one; otherwise it counts only
    if every public function of that name reaches it. Nothing calls a view or an API action.
    """
    inside = [one for one in functions() if not ENTRY_POINT.search(one.path)]
    places: dict[str, set[str]] = {}
    for one in inside:
        places.setdefault(one.node.name, set()).add(one.path)
    found = {(one.path, one.node.name) for one in inside if one.appends}
    calls = {(one.path, one.node.name): one.calls & set(places) for one in inside}
    while True:
        fresh = {(path, name) for (path, name), names in calls.items() if any(
            (path, called) in found if path in places[called]
            else all((place, called) in found for place in places[called])
            for called in names)} - found
        if not fresh:
            return found
        found |= fresh


def services() -> set[tuple[str, str]]:
    """Writes: public functions with a keyword-only actor."""
    return {(one.path, one.node.name) for one in functions()
            if "actor" in {arg.arg for arg in one.node.args.kwonlyargs}
            and not one.node.name.startswith("_")
            and one.node.name not in ("record", "announce", "recipients")}


def test_every_service_with_an_actor_writes_an_entry():
    assert len(services()) > 100
    silent = {name for _path, name in services() - recording()}
    assert silent == set(SILENT)


def actions() -> list[str]:
    return list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))


def test_logins_and_refusals(client, people):
    page = {"username": "manager", "password": "wrong"}
    client.post("/login/", page)
    client.post("/login/", {**page, "username": "nobody"})
    client.post("/login/", {**page, "password": "Trial-2026!"})
    client.post("/logout/")
    assert actions() == ["user.login_refused", "user.login", "user.logout"]
    assert AuditEntry.objects.first().data == {"from": "127.0.0.1"}
    APIClient().post("/api/v1/token/", {"username": "manager", "password": "Trial-2026!"})
    assert actions()[-1] == "token.create"
    assert "wrong" not in str(list(AuditEntry.objects.values()))


@pytest.mark.parametrize("path", ["/artifacts/{}/download/", "/api/v1/artifacts/{}/download/"])
def test_downloads_name_who_and_what(client, people, engagement, stranger, path):
    artifact = store_file(stream=ContentFile(b"x"), name="loss.csv", engagement=engagement)
    client.force_login(stranger)
    assert client.get(path.format(artifact.pk)).status_code == 404
    client.force_login(people[Role.REVIEWER])
    answer = client.get(path.format(artifact.pk))
    assert (answer.status_code, b"".join(answer.streaming_content)) == (200, b"x")
    [entry] = AuditEntry.objects.filter(action="file.download")
    assert (entry.actor, entry.target_id, entry.engagement, entry.data["file"]) == (
        people[Role.REVIEWER], str(artifact.pk), engagement, "loss.csv")
