"""`desk-cli` as its own process against a real server: what one types, and what it says."""

import hashlib
import json
import time

import pytest
from django.core.files.base import ContentFile
from django.utils import timezone

from delivery.reports.models import Document, DocumentFile
from engagements import services
from engagements.models import ApiToken, Membership, Role
from engagements.services import api_tokens
from tests.workers.shell_kind import ShellKind
from workers.dispatch import runner
from workers.kinds import base as registry
from workers.models import Artifact, Job, ReadingRequest
from workers.services import reading_requests

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def key(live_server, people, engagement) -> dict[str, str]:
    """The consultant's token in the environment."""
    _token, key = api_tokens.create_token(actor=people[Role.CONSULTANT],
                                          owner=people[Role.CONSULTANT], name="t", scope="write")
    return {"DESK_URL": live_server.url, "DESK_TOKEN": key}


@pytest.fixture
def shell_kind(monkeypatch):
    monkeypatch.setitem(registry._kinds, ShellKind.code, ShellKind())


def test_log_in_stores_a_token_that_log_out_revokes(desk, live_server, people, tmp_path):
    status, out, _errors = desk("login", live_server.url, "--username", Role.CONSULTANT, "--scope",
                                "read", typed="Trial-2026!\n")
    stored = tmp_path / "home" / ".config" / "desk-cli" / "login.json"
    token = ApiToken.objects.get()
    assert (status, str(stored) in out, stored.stat().st_mode & 0o777) == (0, True, 0o600)
    assert (token.owner, token.scope, token.name) == (people[Role.CONSULTANT], "read", "desk-cli")
    assert json.loads(stored.read_text())["token"].startswith(token.key_start)
    assert desk("engagements", "list")[0] == 0
    assert desk("logout")[0] == 0
    token.refresh_from_db()
    assert (token.is_in_force, stored.exists()) == (False, False)
    assert desk("engagements", "list")[0] == 1


def test_refusals_are_sentences(desk, live_server, people):
    status, _out, errors = desk("login", live_server.url, "--username", "nobody", typed="wrong\n")
    assert (status, "Unable to log in" in errors, "Traceback" in errors) == (1, True, False)
    assert desk("engagements", "list")[2].strip() == "Error: Sign in first: desk-cli login URL"
    away = {"DESK_URL": "http://127.0.0.1:1", "DESK_TOKEN": "x"}
    status, _out, errors = desk("jobs", "list", **away)
    assert (status, "cannot be reached" in errors, "Traceback" in errors) == (3, True, False)
    revoked = {"DESK_URL": live_server.url, "DESK_TOKEN": "desk_unknown"}
    status, _out, errors = desk("jobs", "list", **revoked)
    assert (status, "unknown, revoked or expired" in errors) == (1, True)


def test_engagements_are_one_s_own(desk, key, engagement, people):
    services.add_model(actor=people[Role.MANAGER], engagement=engagement, code="LLM",
                       name="巡检大模型")
    status, out, _errors = desk("engagements", "list", **key)
    assert (status, "EP2501" in out, engagement.name in out) == (0, True, True)
    assert "LLM · 巡检大模型" in desk("engagements", "show", "EP2501", **key)[1]
    assert json.loads(desk("engagements", "show", "EP2501", "--json", **key)[1])["code"] == "EP2501"
    Membership.objects.filter(user=people[Role.CONSULTANT]).delete()
    assert desk("engagements", "list", **key)[1] == ""
    assert desk("engagements", "show", "EP2501", **key)[0] == 1


def test_a_job_is_run_and_followed_to_its_end(start, key, node, shell_kind):
    process = start("jobs", "run", "test.shell", "--engagement", "EP2501", "--node", node.name,
                    "-p", "script=echo 开始; printf 'x\\033[31my'; echo; sleep 1; echo a > a.txt",
                    "-p", "cards=0", "--follow", **key)
    _wait_for(Job.objects.exists, process)
    job = runner.drive(Job.objects.get())
    out, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
    assert out.startswith(f"Job {job.pk} is queued.\n开始\nx [31my\n")
    assert out.endswith(f"job: {job.pk}\nstate: succeeded\nsentence: status 0\n")
    assert job.parameters["cards"] == 0


def test_a_failed_job_is_an_exit_status(desk, key, node, shell_kind, people, engagement):
    from workers.services import queue_job

    job = runner.drive(queue_job(
        actor=people[Role.CONSULTANT], kind="test.shell", node=node, engagement=engagement,
        parameters={"script": "echo broken; exit 3", "cards": 0}))
    status, out, _errors = desk("jobs", "follow", job.pk, **key)
    assert (status, "broken" in out, "state: failed" in out) == (1, True, True)
    assert "failed" in desk("jobs", "list", "--engagement", "EP2501", **key)[1]
    assert desk("jobs", "list", "--state", "succeeded", **key)[1] == ""


def test_cancel_waits_for_the_node(start, key, node, shell_kind, people, engagement):
    from workers.services import queue_job

    job = queue_job(actor=people[Role.CONSULTANT], kind="test.shell", node=node,
                    engagement=engagement, parameters={"script": "sleep 60", "cards": 0})
    process = start("jobs", "cancel", job.pk, "--wait", **key)
    _wait_for(lambda: Job.objects.get().cancel_requested_at or Job.objects.get().finished_at,
              process)
    runner.drive(job)
    assert "state: cancelled" in process.communicate(timeout=60)[0]


def test_wrong_parameters_are_named(desk, key, node, shell_kind):
    run = ("jobs", "run", "test.shell", "--engagement", "EP2501", "--node", node.name)
    assert desk(*run, "-p", "cards=many", **key)[0] == 2
    status, _out, errors = desk(*run, "-p", "cards=1", **key)
    assert (status, "script" in errors) == (1, True)
    assert Job.objects.count() == 0
    assert "script: string, required" in desk("jobs", "parameters", "test.shell", **key)[1]


def test_files_go_there_and_back(desk, key, engagement, tmp_path):
    content = b"step 1 loss 0.5\n" * 200_000
    (tmp_path / "work" / "训练.log").write_bytes(content)
    status, out, errors = desk("files", "put", "训练.log", "--engagement", "EP2501",
                               "--note", "from the node", **key)
    artifact = Artifact.objects.get()
    digest = hashlib.sha256(content).hexdigest()
    assert (status, errors, artifact.sha256, artifact.note) == (0, "", digest, "from the node")
    assert f"file {artifact.pk}" in out
    got = desk("files", "get", artifact.pk, "-o", "back", **key)
    assert (got[0], (tmp_path / "work" / "back" / "训练.log").read_bytes()) == (0, content)
    assert "is there already" in desk("files", "get", artifact.pk, "-o", "back", **key)[1]
    (tmp_path / "work" / "back" / "训练.log").write_text("other")
    status, _out, errors = desk("files", "get", artifact.pk, "-o", "back", **key)
    assert (status, "other content" in errors) == (1, True)


@pytest.mark.workers_read
def test_a_file_put_is_waited_for_until_a_worker_has_read_it(start, key, engagement, tmp_path):
    (tmp_path / "work" / "loss.csv").write_text("step,loss\n1,3.5\n2,3.25\n3,3.0\n")
    putting = start("files", "put", "loss.csv", "--engagement", "EP2501", **key)
    deadline = time.monotonic() + 60
    while not ReadingRequest.objects.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert putting.poll() is None
    assert reading_requests.read_requested(ReadingRequest.objects.get().pk)
    out, errors = putting.communicate(timeout=60)
    assert (putting.returncode, errors, out.strip().endswith(", training_log")) == (0, "", True)


def test_names_from_a_node_stay_below_the_folder(desk, key, engagement, tmp_path, people):
    from workers.artifacts.artifact_store import store_file

    stored = store_file(stream=ContentFile(b"x"), name="x.txt", engagement=engagement)
    Artifact.objects.filter(pk=stored.pk).update(name="../../../escaped.txt")
    assert desk("files", "get", stored.pk, "-o", "out", **key)[0] == 0
    assert (tmp_path / "work" / "out" / "escaped.txt").read_bytes() == b"x"


def test_verdicts_of_an_engagement_without_criteria_are_no_all_clear(desk, key, engagement):
    status, out, errors = desk("verdicts", "EP2501", **key)
    assert (status, out, errors) == (1, "", "Nothing found.\n")


@pytest.fixture
def report(engagement, people):
    """An issued test report with a file in both languages."""
    document = Document.objects.create(engagement=engagement, kind="TR", number="TR-EP2501-1",
                                       state="issued", issued_at=timezone.now(),
                                       created_by=people[Role.MANAGER])
    for language in ("zh-hans", "en"):
        content = f"%PDF {language}".encode()
        DocumentFile.objects.create(
            document=document, language=language, file=ContentFile(content, "x.pdf"),
            size=len(content), sha256=hashlib.sha256(content).hexdigest())
    return document


def test_issued_files_are_fetched_and_compared(desk, key, report, tmp_path):
    assert "TR-EP2501-1" in desk("documents", "list", "EP2501", **key)[1]
    assert desk("documents", "get", "EP2501", "-o", "got", **key)[0] == 0
    assert {path.name: path.read_bytes() for path in (tmp_path / "work" / "got").iterdir()} == {
        f"TR-EP2501-1-V1.0-{language}.pdf": f"%PDF {language}".encode()
        for language in ("zh-hans", "en")}
    DocumentFile.objects.filter(language="en").update(sha256="0" * 64)
    status, _out, errors = desk("documents", "get", "EP2501", "--language", "en", "-o", "new",
                                **key)
    assert (status, "nothing was kept" in errors) == (1, True)
    assert not (tmp_path / "work" / "new").exists()
    status, _out, errors = desk("documents", "get", "EP2501", "--kind", "FA", **key)
    assert (status, "no such files" in errors) == (1, True)


def _wait_for(condition, process) -> None:
    for _ in range(300):
        if condition():
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
    raise AssertionError("nothing came")
