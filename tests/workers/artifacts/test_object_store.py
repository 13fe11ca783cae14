"""Files in S3-compatible object storage: a server process of somebody else's (moto), by sockets.

With DESK_TEST_S3 the address of another store, which knows the key `testing`, `testing`.
"""

import hashlib
import os
import secrets
import subprocess
import sys
import threading
import time
import urllib.request
from base64 import b64encode
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO

import boto3
import pytest
from botocore.exceptions import ClientError
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from delivery.operation.audit_archiving import archive_old
from delivery.operation.evidence_locks import lock_evidence
from delivery.operation.management.commands.create_bucket import PAUSE
from delivery.operation.models import DamagedFile, EvidenceLock
from delivery.operation.stored_file_checks import walk_everything
from delivery.reports.models import Document
from engagements.audit import audit_log
from engagements.errors import InvalidInput
from tests.ports import free_port
from workers import services
from workers.artifacts import arriving_files
from workers.artifacts.artifact_store import is_intact, store_file
from workers.models import PendingUpload
from workers.services.resumable_uploads import append_part, start_upload

LOG = b"".join(
    b" iteration %8d/     100 | lm loss: %.6E |\n" % (step, 10 / step) for step in range(1, 101))
OTHER_STORE = os.environ.get("DESK_TEST_S3", "")
DAYS = 10


@pytest.fixture(scope="module")
def server():
    """The address of a server process."""
    if OTHER_STORE:
        yield OTHER_STORE
        return
    port = free_port()
    with subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "DJANGO_SETTINGS_MODULE": ""}) as process:
        url = f"http://127.0.0.1:{port}"
        for _try in range(300):
            try:
                urllib.request.urlopen(f"{url}/moto-api/").close()
                break
            except OSError:
                assert process.poll() is None
                time.sleep(0.2)
        yield url
        process.terminate()


@pytest.fixture
def bucket(server, settings, monkeypatch):
    """An empty bucket with object lock; artifacts go there for the length of the test."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    client = boto3.client("s3", endpoint_url=server)
    name = f"artifacts-{secrets.token_hex(8)}"
    client.create_bucket(Bucket=name, ObjectLockEnabledForBucket=True)
    settings.STORAGES = {**settings.STORAGES, "default": {
        "BACKEND": "workers.artifacts.object_storage.ObjectStorage",
        "OPTIONS": {"bucket_name": name, "endpoint_url": server, "file_overwrite": False,
                    "max_memory_size": 2**20}}}
    return client


def own() -> str:
    """The name of the test's bucket."""
    return default_storage.bucket_name


@pytest.fixture
def _locked(settings):
    settings.OBJECT_LOCK_DAYS = DAYS


def uploaded(people, engagement):
    return services.upload_artifact(actor=people["consultant"], engagement=engagement,
                                    upload=SimpleUploadedFile("train.log", LOG))


def test_upload_is_stored_read_and_given_back(bucket, people, engagement, client):
    artifact = uploaded(people, engagement)
    [entry] = bucket.list_objects_v2(Bucket=own())["Contents"]
    assert (entry["Key"], entry["Size"]) == (artifact.file.name, len(LOG))
    assert artifact.readings.get().values["loss"]["points"] == 100
    client.force_login(people["consultant"])
    answer = client.get(reverse("workers:artifact_download", args=[artifact.pk]))
    assert b"".join(answer.streaming_content) == LOG


def test_the_store_keeps_the_sha256_that_it_compared(bucket, people, engagement):
    artifact = uploaded(people, engagement)
    stored = bucket.head_object(Bucket=own(), Key=artifact.file.name, ChecksumMode="ENABLED")
    assert stored["ChecksumSHA256"] == b64encode(hashlib.sha256(LOG).digest()).decode()


@pytest.mark.slow
def test_a_large_file_goes_up_in_parts_and_the_same_bytes_once(bucket, engagement):
    content = os.urandom(20 * 2**20)
    first, second = (store_file(stream=BytesIO(content), name=name, engagement=engagement)
                     for name in ("a.bin", "b.bin"))
    [entry] = bucket.list_objects_v2(Bucket=own())["Contents"]
    assert (entry["Size"], entry["ETag"].strip('"').partition("-")[2]) == (len(content), "3")
    assert len(bucket.list_object_versions(Bucket=own())["Versions"]) == 1
    assert first.file.name == second.file.name == entry["Key"]
    assert hashlib.sha256(b"".join(default_storage.pieces(entry["Key"]))).hexdigest() == (
        first.sha256)


@pytest.mark.slow
def test_an_upload_whose_parts_went_to_two_portals(bucket, people, engagement, settings, tmp_path):
    content = os.urandom(2**20)
    upload = start_upload(actor=people["consultant"], engagement=engagement, name="a.bin",
                          size=len(content))
    for portal, offset in enumerate((0, 2**19)):
        settings.VAR_DIR = tmp_path / f"portal-{portal}"
        upload = append_part(actor=people["consultant"], upload=upload, offset=offset,
                             pieces=[content[offset:offset + 2**19]])
    assert upload.artifact.file.read() == content
    [version] = bucket.list_object_versions(Bucket=own())["Versions"]  # not one of a part
    assert version["Key"] == upload.artifact.file.name


@pytest.mark.slow
def test_parts_that_were_never_finished_leave_the_bucket(bucket, people, engagement):
    upload, going_on = (start_upload(
        actor=people["consultant"], engagement=engagement, name="a", size=9) for _each in range(2))
    for each in (upload, going_on):
        append_part(actor=people["consultant"], upload=each, offset=0, pieces=[b"part"])
    PendingUpload.objects.filter(pk=upload.pk).update(
        created_at=timezone.now() - arriving_files.RETENTION - timedelta(hours=1))
    assert arriving_files.remove_forgotten(timezone.now()) == 1
    [version] = bucket.list_object_versions(Bucket=own())["Versions"]
    assert version["Key"] == going_on.parts.get().name


def test_file_changed_or_removed_in_the_bucket_is_noticed(bucket, people, engagement):
    artifact = uploaded(people, engagement)
    assert is_intact(artifact)
    bucket.put_object(Bucket=own(), Key=artifact.file.name, Body=LOG.replace(b"1", b"2"))
    assert not is_intact(artifact)
    found = []
    walk_everything(now=timezone.now(), found=found.append)
    assert [(row.name, row.fault) for row in found] == [(artifact.file.name, "changed")]
    bucket.delete_object(Bucket=own(), Key=artifact.file.name)
    walk_everything(now=timezone.now(), found=found.append)
    assert found[-1].fault == DamagedFile.Fault.MISSING


@pytest.mark.usefixtures("_locked")
def test_what_was_issued_is_locked_and_nothing_else(bucket):
    issued = default_storage.save("documents/2026/01/FA-1.pdf", ContentFile(b"%PDF"))
    draft = default_storage.save("sha256/ab/abc", ContentFile(b"draft"))
    held = bucket.head_object(Bucket=own(), Key=issued)
    left = held["ObjectLockRetainUntilDate"] - timezone.now()
    assert (held["ObjectLockMode"], round(left / timedelta(days=1))) == ("GOVERNANCE", DAYS)
    assert "ObjectLockMode" not in bucket.head_object(Bucket=own(), Key=draft)
    with pytest.raises(ClientError, match="AccessDenied"):
        bucket.delete_object(Bucket=own(), Key=issued, VersionId=held["VersionId"])
    default_storage.delete(issued)  # hides the newest version; the bytes stay
    [version] = bucket.list_object_versions(Bucket=own(), Prefix=issued)["Versions"]
    assert version["VersionId"] == held["VersionId"]


@pytest.mark.slow
@pytest.mark.usefixtures("_locked")
def test_raw_files_are_locked_when_their_document_is_issued(bucket, people, engagement):
    artifact, other = uploaded(people, engagement), store_file(
        stream=ContentFile(b"other"), name="other.log", engagement=engagement)
    document = Document.objects.create(
        engagement=engagement, kind="TR", number="TR-1", state="draft", content_hash="0" * 64,
        created_by=people["manager"], snapshot={"evidence": [{"id": artifact.pk}]})
    now = timezone.now()
    assert lock_evidence(now=now) == 0
    document.state, document.issued_at = Document.State.ISSUED, now
    document.save()
    assert lock_evidence(now=now) == 1
    assert lock_evidence(now=now) == 0  # once
    assert EvidenceLock.objects.get().files == 1
    held = bucket.head_object(Bucket=own(), Key=artifact.file.name)
    assert held["ObjectLockRetainUntilDate"] == (now + timedelta(days=DAYS)).replace(microsecond=0)
    assert "ObjectLockMode" not in bucket.head_object(Bucket=own(), Key=other.file.name)


def test_a_longer_lock_stays(bucket, settings):
    name, now = default_storage.save("documents/x", ContentFile(b"x")), timezone.now()
    later = (now + timedelta(days=99)).replace(microsecond=0)
    default_storage.lock(name, later)
    default_storage.lock(name, now + timedelta(days=1))
    assert bucket.head_object(Bucket=own(), Key=name)["ObjectLockRetainUntilDate"] == later


def test_a_bucket_without_object_lock_is_told(bucket, server):
    assert default_storage.fault_of_lock() == ""
    plain = f"plain-{own()}"
    bucket.create_bucket(Bucket=plain)
    default_storage.bucket_name = plain
    assert "does not exist" in default_storage.fault_of_lock()


def test_the_bucket_is_created_once_and_can_lock(bucket, capsys):
    default_storage.bucket_name = f"made-{own()}"
    for language, shown in (("en", "Bucket {} created with object lock."),
                            ("en", "Bucket {} is there."), ("zh-hans", "存储桶 {} 已存在。")):
        call_command("create_bucket", language=language)
        assert capsys.readouterr().out == shown.format(own()) + "\n"
    assert default_storage.fault_of_lock() == ""


@pytest.fixture
def silent_store(bucket, settings):
    """The bucket's name, at an address where nothing listens."""
    options = settings.STORAGES["default"]["OPTIONS"]
    settings.STORAGES = {**settings.STORAGES, "default": {
        **settings.STORAGES["default"],
        "OPTIONS": {**options, "endpoint_url": f"http://127.0.0.1:{free_port()}"}}}
    return options["bucket_name"]


def test_a_store_that_does_not_answer_is_a_sentence(silent_store):
    with pytest.raises(CommandError, match=f"Bucket {silent_store}: Could not connect"):
        call_command("create_bucket", language="en")


def test_a_store_that_starts_is_waited_for(silent_store, server, capsys, monkeypatch):
    def starts(_seconds):
        default_storage.endpoint_url = server
        default_storage._connections = threading.local()

    monkeypatch.setattr("time.sleep", starts)
    call_command("create_bucket", wait=60, language="en")
    assert capsys.readouterr().out == f"Bucket {silent_store} is there.\n"


class NotReady(BaseHTTPRequestHandler):
    def do_HEAD(self):
        self.send_response(503)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_args):
        pass


@pytest.mark.slow
def test_a_store_that_says_it_is_not_ready_is_waited_for(silent_store, server, capsys, monkeypatch):
    waiting = ThreadingHTTPServer(("127.0.0.1", 0), NotReady)
    threading.Thread(target=waiting.serve_forever, daemon=True).start()
    default_storage.endpoint_url = f"http://127.0.0.1:{waiting.server_port}"
    pauses = []

    def starts(seconds):
        pauses.append(seconds)
        default_storage.endpoint_url = server
        default_storage._connections = threading.local()

    monkeypatch.setattr("time.sleep", starts)
    call_command("create_bucket", wait=60, language="en")
    waiting.shutdown()
    waiting.server_close()
    assert PAUSE in pauses
    assert capsys.readouterr().out == f"Bucket {silent_store} is there.\n"


def test_no_bucket_without_object_storage():
    with pytest.raises(CommandError, match="DESK_ARTIFACT_BUCKET is not set"):
        call_command("create_bucket", language="en")


def test_too_large_upload_is_refused_and_leaves_nothing(settings, people, engagement):
    settings.UPLOAD_LIMIT_BYTES = 1000
    with pytest.raises(InvalidInput, match=r"train\.log"):
        uploaded(people, engagement)
    assert not engagement.artifacts.exists()


@pytest.mark.slow
@pytest.mark.usefixtures("_locked")
def test_an_archive_of_the_audit_log_is_locked_and_read_from_the_bucket(bucket, people):
    at = timezone.now() + timedelta(days=90)
    audit_log.record(actor=None, action="user.logout", target=people["manager"])
    [archive] = archive_old(now=at, days=1)
    held = bucket.head_object(Bucket=own(), Key=archive.file.name)
    assert held["ObjectLockMode"] == "GOVERNANCE"
    assert list(audit_log.findings()) == []
    bucket.put_object(Bucket=own(), Key=archive.file.name, Body=b"")
    assert [one.problem for one in audit_log.findings()] == ["unreadable"]
