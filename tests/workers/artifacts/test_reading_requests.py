"""Uploads are stored by the web process and read by workers: at once, once, and to an end."""

import signal
import subprocess
import sys
import threading
import time
from urllib.request import Request, urlopen

import pytest
from django.conf import settings as django_settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from assessments import services as assessing
from engagements.errors import WrongState
from engagements.models import AuditEntry, Role
from toolreaders.base import ReadError
from workers import services, tasks
from workers.artifacts import artifact_store, reading_state
from workers.models import Artifact, ReadingRequest, StoredReading
from workers.services import reading_requests

pytestmark = [pytest.mark.django_db, pytest.mark.workers_read]
LOG = b"step,loss\n1,3.5\n2,3.25\n3,3.0\n"


def read_all() -> list[bool]:
    """What workers do with the messages of all requests."""
    return [reading_requests.read_requested(pk)
            for pk in ReadingRequest.objects.values_list("pk", flat=True)]


@pytest.fixture
def upload(people, engagement):
    def go(content=LOG, name="loss.csv"):
        return services.upload_artifact(actor=people[Role.CONSULTANT], engagement=engagement,
                                        upload=SimpleUploadedFile(name, content))

    return go


def actions() -> list[str]:
    return list(AuditEntry.objects.filter(action__startswith="artifact.").order_by("pk")
                .values_list("action", flat=True))


def test_the_upload_is_answered_before_anybody_reads(client, people, engagement, monkeypatch):
    client.force_login(people[Role.CONSULTANT])
    with monkeypatch.context() as web:
        web.setattr(artifact_store, "read_stored", None)  # nobody may call it
        answer = client.post("/api/v1/artifacts/upload/", {
            "engagement": engagement.pk, "upload": SimpleUploadedFile("loss.csv", LOG)})
        row = answer.json()
        assert (answer.status_code, row["size"], row["reading_state"], row["readings"]) == (
            201, len(LOG), "being_read", [])
        page = client.get(reverse("workers:artifact", args=[row["id"]])).content.decode()
        assert "正在读取" in page
        assert 'hx-select="#file-facts"' in page
        assert "没有" not in page.partition('id="file-facts"')[2].partition("</main>")[0]
    assert actions() == ["artifact.store", "artifact.upload"]
    assert read_all() == [True]
    row = client.get(f"/api/v1/artifacts/{row['id']}/").json()
    assert (row["reading_state"], row["refusal"], [r["kind"] for r in row["readings"]],
            row["rules"] != {}) == ("read", "", ["training_log"], True)
    page = client.get(reverse("workers:artifact", args=[row["id"]])).content.decode()
    assert "hx-select" not in page.partition('id="file-facts"')[2].partition(">")[0]
    assert actions() == ["artifact.store", "artifact.upload", "artifact.read"]


def test_a_message_that_comes_twice_reads_once(upload):
    artifact = upload()
    assert [*read_all(), *read_all()] == [True, False]
    assert (artifact.readings.count(), actions().count("artifact.read")) == (1, 1)


def test_the_message_follows_the_commit(upload, django_capture_on_commit_callbacks, monkeypatch):
    sent = []
    monkeypatch.setattr("engagements.queue.enqueue",
                        lambda task, *args, **_options: sent.append((task, args)))
    with django_capture_on_commit_callbacks(execute=True):
        artifact = upload()
        assert sent == []
    assert sent == [("workers.read_upload", (artifact.reading_request.pk,))]


def test_a_lost_message_is_sent_again_until_the_file_is_read(upload, monkeypatch):
    upload()
    monkeypatch.setattr(reading_requests, "enqueue",
                        lambda _task, pk, **_options: tasks.read_upload(pk))
    tasks.wake_readings()
    assert ReadingRequest.objects.get().state == "read"
    monkeypatch.setattr(reading_requests, "enqueue", None)  # nothing is due
    tasks.wake_readings()


def test_a_refused_file_says_which_why_and_what_to_do(client, people, upload, monkeypatch):
    def refuse(_function, _artifact, *, anew):
        raise ReadError("truncated_file", "The table ends in the middle of line 17.")

    monkeypatch.setattr(artifact_store, "read_stored", refuse)
    artifact = upload()
    assert read_all() == [True]
    artifact.refresh_from_db()
    assert artifact.note == "truncated_file: The table ends in the middle of line 17."
    client.force_login(people[Role.CONSULTANT])
    row = client.get(f"/api/v1/artifacts/{artifact.pk}/", headers={"Accept-Language": "en"}).json()
    assert (row["reading_state"], row["refusal"]) == ("refused", (
        "loss.csv was not read: The table ends in the middle of line 17 (truncated_file). "
        "Upload the tool's own file, whole and unmodified."))
    page = client.get(reverse("workers:artifact", args=[artifact.pk])).content.decode()
    assert "line 17" in page
    assert 'hx-select="#file-facts"' not in page


def test_a_store_that_fails_is_tried_again_and_given_up_in_the_end(upload, monkeypatch):
    def fail(_artifact):
        raise OSError("the store does not answer")

    monkeypatch.setattr(artifact_store, "found_in", fail)
    upload()
    for _attempt in range(reading_requests.MOST_ATTEMPTS):
        assert read_all() == [False]
        assert read_all() == [False]  # held until the claim ends
        ReadingRequest.objects.update(claimed_until=timezone.now())
    assert read_all() == [True]
    asked = ReadingRequest.objects.get()
    assert (asked.state, asked.refusal_code) == ("refused", "reading_given_up")


def test_who_lost_the_claim_keeps_nothing(upload, monkeypatch):
    artifact, read = upload(), artifact_store.found_in

    def slowly(found):
        ReadingRequest.objects.update(claim_token="another worker")
        return read(found)

    monkeypatch.setattr(artifact_store, "found_in", slowly)
    assert read_all() == [False]
    assert (artifact.readings.count(), actions().count("artifact.read")) == (0, 0)


@pytest.mark.slow
def test_a_step_that_needs_the_file_waits_and_says_so(people, upload, engagement, monkeypatch):
    from engagements import services as engagements

    model = engagements.add_model(actor=people[Role.MANAGER], engagement=engagement, code="LLM",
                                  name="模型")
    monkeypatch.setattr(reading_state, "WAIT_SECONDS", 0.3)
    artifact = upload()
    reading_state.wait_until_read(artifact)
    with pytest.raises(WrongState, match=f"{artifact.pk}"):
        assessing.measure_file(actor=people[Role.CONSULTANT], model=model, artifact=artifact)
    assert read_all() == [True]
    assert assessing.measure_file(actor=people[Role.CONSULTANT], model=model,
                                  artifact=artifact) == []  # no criteria yet


WORKER = """
import django; django.setup()
import sys, time
from django.utils import timezone
from workers.artifacts import artifact_store, reading_state
from workers.models import ReadingRequest, StoredReading
from engagements.models import AuditEntry
from workers.services import reading_requests
step = sys.argv[1]
if step == "upload":
    from django.core.management import call_command
    from engagements.models import Customer, Engagement, Membership, Role, User
    from workers.services import upload_artifact
    from django.core.files.uploadedfile import SimpleUploadedFile
    call_command("migrate", verbosity=0)
    manager = User.objects.create_user("manager", role=Role.MANAGER)
    engagement = Engagement.objects.create(
        code="EP2501", customer=Customer.objects.create(credit_code="91350100M000100Y43"))
    Membership.objects.create(engagement=engagement, user=manager, role=manager.role)
    upload_artifact(actor=manager, engagement=engagement,
                    upload=SimpleUploadedFile("loss.csv", b"step,loss\\n1,3.5\\n2,3.25\\n3,3.0\\n"))
elif step == "killed":
    def endless(*_which, **_how):
        print("reading", flush=True)
        time.sleep(600)
    artifact_store.read_stored = endless
    reading_requests.read_requested(ReadingRequest.objects.get().pk)
elif step == "next":
    asked = ReadingRequest.objects.get()
    print(asked.state, asked.attempts, StoredReading.objects.count())
    assert not reading_requests.read_requested(asked.pk)  # the dead worker's claim still holds
    reading_requests.enqueue_due_readings()
    later = timezone.now() + reading_requests.CLAIM
    timezone.now = lambda: later
    assert reading_requests.read_requested(asked.pk)
    asked.refresh_from_db()
    print(asked.state, asked.attempts, StoredReading.objects.count())
    assert not reading_requests.read_requested(asked.pk)
    print(*AuditEntry.objects.filter(action__startswith="artifact.").order_by("pk").values_list(
        "action", flat=True))
"""


@pytest.mark.slow
def test_a_file_whose_worker_was_killed_is_read_by_the_next(migrated_database):
    def start(step: str) -> subprocess.Popen:
        return subprocess.Popen([sys.executable, "-c", WORKER, step], env=migrated_database,
                                cwd=django_settings.BASE_DIR, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    first = start("upload")
    assert (first.communicate(timeout=900)[1], first.returncode) == ("", 0)
    killed = start("killed")
    assert killed.stdout.readline() == "reading\n"
    killed.send_signal(signal.SIGKILL)
    killed.communicate(timeout=60)
    following = start("next")
    printed, errors = following.communicate(timeout=900)
    assert following.returncode == 0, errors
    assert printed.splitlines() == ["being_read 1 0", "read 2 1",
                                    "artifact.store artifact.upload artifact.read"]


def seconds_of(url: str, session: str) -> float:
    began = time.monotonic()
    with urlopen(Request(url, headers={"Cookie": f"sessionid={session}"})) as answer:
        assert "one-line.log" in answer.read().decode()
    return time.monotonic() - began


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_pages_answer_while_a_line_of_30_mb_is_read(live_server, people, engagement, settings,
                                                    client):
    settings.READ_PROCESS = True
    data = b"{'loss': 1.5, 'epoch': 1.0, 'x': '" + b"abc, " * (30 * 2**20 // 5) + b"'}"
    client.force_login(people[Role.CONSULTANT])
    began = time.monotonic()
    row = client.post("/api/v1/artifacts/upload/", {
        "engagement": engagement.pk, "upload": SimpleUploadedFile("one-line.log", data)}).json()
    uploaded = time.monotonic() - began
    page = reverse("workers:artifact", args=[row["id"]])
    times: list[float] = []

    def work() -> None:
        try:
            read_all()
        finally:
            connection.close()

    worker = threading.Thread(target=work)
    began = time.monotonic()
    worker.start()
    while worker.is_alive():
        times.append(seconds_of(live_server.url + page, client.cookies["sessionid"].value))
    worker.join()
    reading = time.monotonic() - began
    print(f"uploaded in {uploaded:.2f} s, read in {reading:.2f} s; {len(times)} pages meanwhile, "
          f"the slowest after {max(times):.2f} s")
    assert ReadingRequest.objects.get().state in ("read", "refused")
    assert len(times) > 1  # the worker was still reading when a page had been answered
    assert Artifact.objects.get().size == len(data)
    assert StoredReading.objects.count() <= 1
