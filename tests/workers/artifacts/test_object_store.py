"""Uploads and downloads with files in S3-compatible object storage (a real HTTP server: moto)."""

import urllib.request

import boto3
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from engagements.errors import InvalidInput
from workers import services
from workers.artifacts.artifact_store import is_intact

LOG = b"".join(
    b" iteration %8d/     100 | lm loss: %.6E |\n" % (step, 10 / step) for step in range(1, 101))


@pytest.fixture
def bucket(settings, monkeypatch):
    """An empty bucket; artifacts go there for the length of the test."""
    from moto.server import ThreadedMotoServer

    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    client = boto3.client("s3", endpoint_url=url)
    urllib.request.urlopen(urllib.request.Request(f"{url}/moto-api/reset", method="POST")).close()
    client.create_bucket(Bucket="artifacts")
    settings.STORAGES = {**settings.STORAGES, "default": {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {"bucket_name": "artifacts", "endpoint_url": url, "file_overwrite": False}}}
    yield client
    server.stop()


def test_upload_is_stored_read_and_given_back(bucket, people, engagement, client):
    artifact = services.upload_artifact(
        actor=people["consultant"], engagement=engagement,
        upload=SimpleUploadedFile("train.log", LOG))
    [entry] = bucket.list_objects_v2(Bucket="artifacts")["Contents"]
    assert (entry["Key"], entry["Size"]) == (artifact.file.name, len(LOG))
    assert artifact.readings.get().values["loss"]["points"] == 100
    client.force_login(people["consultant"])
    answer = client.get(reverse("workers:artifact_download", args=[artifact.pk]))
    assert b"".join(answer.streaming_content) == LOG


def test_file_changed_in_the_bucket_is_noticed(bucket, people, engagement):
    artifact = services.upload_artifact(
        actor=people["consultant"], engagement=engagement,
        upload=SimpleUploadedFile("train.log", LOG))
    assert is_intact(artifact)
    bucket.put_object(Bucket="artifacts", Key=artifact.file.name, Body=LOG.replace(b"1", b"2"))
    assert not is_intact(artifact)


def test_too_large_upload_is_refused_and_leaves_nothing(settings, people, engagement):
    settings.UPLOAD_LIMIT_BYTES = 1000
    with pytest.raises(InvalidInput, match=r"train\.log"):
        services.upload_artifact(actor=people["consultant"], engagement=engagement,
                                 upload=SimpleUploadedFile("train.log", LOG))
    assert not engagement.artifacts.exists()
