"""`Idempotency-Key`: a POST that is sent again is done once."""

import threading
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.utils import timezone
from rest_framework.test import APIClient

from delivery.operation.retention import apply_rules
from engagements.models import ApiToken, Customer, IdempotentRequest, Role
from engagements.serializers import CustomerSerializer
from engagements.services import create_token
from tests.workers.shell_kind import ShellKind
from workers.kinds import base as registry
from workers.models import Artifact, Job


def api_of(owner, **facts) -> APIClient:
    _token, key = create_token(actor=owner, owner=owner, name="script",
                               **{"scope": "write", **facts})
    return APIClient(HTTP_AUTHORIZATION=f"Token {key}")


@pytest.fixture
def api(people) -> APIClient:
    return api_of(people[Role.CONSULTANT])


@pytest.fixture
def shell_job(monkeypatch, engagement, node) -> dict:
    monkeypatch.setitem(registry._kinds, ShellKind.code, ShellKind())
    return {"kind": ShellKind.code, "engagement": engagement.pk, "node": node.pk,
            "parameters": {"script": "true", "cards": 0}}


def sent(api, body, key="k1", path="jobs", **more):
    return api.post(f"/api/v1/{path}/", body, headers={"idempotency-key": key},
                    **{"format": "json", **more})


def test_two_requests_one_job(api, shell_job):
    first, again = sent(api, shell_job), sent(api, shell_job, '"k1"')
    assert (first.status_code, again.status_code, Job.objects.count()) == (201, 201, 1)
    assert again.json() == first.json()
    assert again["Idempotency-Replayed"] == "true"
    assert "Idempotency-Replayed" not in first
    sent(api, shell_job, "k2")
    assert Job.objects.count() == 2


def test_another_body_is_refused_and_other_accounts_have_their_own_keys(people, api, shell_job):
    sent(api, shell_job)
    other = sent(api, {**shell_job, "parameters": {"script": "false", "cards": 0}})
    assert (other.status_code, other.json()["title"]) == (422, "idempotency_key_reused")
    assert sent(api_of(people[Role.MANAGER]), shell_job).status_code == 201
    assert Job.objects.count() == 2
    read_only = api_of(people[Role.CONSULTANT], scope="read")
    assert sent(read_only, shell_job).status_code == 422  # not shown what it may not do


def test_a_refusal_is_remembered_and_a_failure_is_not(api, people, monkeypatch):
    manager = api_of(people[Role.MANAGER])
    assert sent(manager, {}, path="customers").status_code == 400
    assert sent(manager, {}, path="customers")["Idempotency-Replayed"] == "true"
    manager.raise_request_exception = False
    with monkeypatch.context() as broken:  # after the service has written the row
        broken.setattr(CustomerSerializer, "to_representation", None)
        assert sent(manager, {"name": "某公司"}, "k3", "customers").status_code == 500
    assert not Customer.objects.exists()
    assert sent(manager, {"name": "某公司"}, "k3", "customers").status_code == 201
    assert Customer.objects.count() == 1


def test_a_key_that_is_shown_once_is_not_stored(client, people):
    client.force_login(people[Role.CONSULTANT])
    answers = [client.post("/api/v1/tokens/", {"name": "x"}, headers={"idempotency-key": "k1"})
               for _ in range(2)]
    key = answers[0].json()["token"]
    assert answers[1].json()["token"] == key
    assert ApiToken.objects.count() == 1
    assert key not in str(list(IdempotentRequest.objects.values_list()))


def test_files_are_compared_by_their_bytes(api, engagement):
    def upload(content: bytes):
        return sent(api, {"engagement": engagement.pk,
                          "upload": SimpleUploadedFile("a.log", content)},
                    path="artifacts/upload", format="multipart")

    assert [upload(b"x").status_code, upload(b"x").status_code, upload(b"y").status_code] == [
        201, 201, 422]
    assert Artifact.objects.count() == 1


def test_keys_are_forgotten_after_a_day(api, shell_job):
    sent(api, shell_job)
    IdempotentRequest.objects.update(created_at=timezone.now() - timedelta(hours=25))
    sent(api, shell_job)
    assert Job.objects.count() == 2
    assert apply_rules(timezone.now() + timedelta(hours=25))["idempotency_keys"] == 1


@pytest.mark.parametrize("key", ["", "a b", "x" * 201, "é"])
def test_nonsense_is_no_key(api, shell_job, key):
    answer = sent(api, shell_job, key)
    assert (answer.status_code, answer.json()["title"]) == (400, "invalid_idempotency_key")


def test_the_client_whose_answer_is_lost_starts_one_job(api, shell_job, monkeypatch):
    monkeypatch.syspath_prepend(Path(settings.BASE_DIR) / "client")
    from desk_cli import retries

    lost = []

    def answered(_transport, request):
        response = api.generic("POST", request.url.path, request.read(), "application/json",
                               headers=dict(request.headers))
        if not lost:
            lost.append(response.status_code)
            raise httpx.ReadError("connection reset")
        return httpx.Response(response.status_code, content=response.content)

    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", answered)
    monkeypatch.setattr(retries.time, "sleep", lambda _seconds: None)
    with httpx.Client(transport=retries.RetryTransport(), base_url="http://localhost") as client:
        answer = client.post("/api/v1/jobs/", json=shell_job)
    assert (lost, answer.status_code, Job.objects.count()) == ([201], 201, 1)
    assert answer.json()["id"] == Job.objects.get().pk


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_at_the_same_moment(api, shell_job):
    """Eight at once: one job; the others are told that it runs, or get its answer."""
    found, start = [], threading.Barrier(8)

    def send():
        start.wait()
        try:
            found.append(sent(APIClient(**api.defaults), shell_job))
        finally:
            connection.close()

    threads = [threading.Thread(target=send) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Job.objects.count() == 1
    statuses = [answer.status_code for answer in found]
    assert set(statuses) <= {201, 409}
    assert len(statuses) == 8
    assert all("Retry-After" in answer for answer in found if answer.status_code == 409)
