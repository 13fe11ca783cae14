"""Pages go on where the cache cannot be reached or written."""

import errno
import os
import socket
import time

import pytest
from celery import Celery
from django.core.cache import cache
from kombu.exceptions import OperationalError

from delivery.operation import readiness
from engagements.models import Role
from engagements.optional_cache import OptionalFileCache, OptionalRedisCache
from engagements.web.address_limit import count_request, requests_so_far
from tests.ports import free_port


@pytest.fixture
def redis_gone(settings, monkeypatch):
    """Nobody listens at the address."""
    settings.CACHES = {"default": {
        "BACKEND": "engagements.optional_cache.OptionalRedisCache",
        "LOCATION": f"redis://127.0.0.1:{free_port()}/0"}}
    monkeypatch.setattr(OptionalRedisCache, "asked_from", 0.0)


def test_pages_answer_without_redis(redis_gone, client, people, engagement, caplog):
    client.force_login(people[Role.MANAGER])
    for url in ("/", "/portfolio/", "/jobs/", f"/engagements/{engagement.code}/"):
        assert client.get(url).status_code == 200
    assert "pages go on without it" in caplog.text
    ready = client.get("/readyz")
    assert (ready.status_code, ready.json()["cache"]) == (200, "failed")
    assert (count_request("log-in", "10.0.0.1", 60), requests_so_far("log-in", "10.0.0.1", 60)) == (
        0, 0)


def test_a_host_that_is_gone_is_asked_once_in_a_while(redis_gone, caplog):
    for _look in range(20):
        assert cache.get_many(["a"]) == {}
        assert cache.add("a", 1) is False
    assert caplog.text.count("pages go on without it") == 1


def test_a_broker_that_is_silent_is_no_broker(monkeypatch):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
        monkeypatch.setattr(readiness, "app", Celery(broker=address, set_as_current=False))
        monkeypatch.setattr(readiness, "BROKER_SECONDS", 0.2)
        began = time.monotonic()
        with pytest.raises(OperationalError):
            readiness.broker()
        assert time.monotonic() - began < 5


def test_a_full_disk_makes_an_empty_cache(tmp_path, monkeypatch, caplog):
    full = OptionalFileCache(str(tmp_path), {})

    def no_space(**_arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("django.core.cache.backends.filebased.tempfile.mkstemp", no_space)
    full.set("a", 1)
    assert (full.get("a", "nothing"), full.get_or_set("a", lambda: 2)) == ("nothing", 2)
    assert "No space left on device" in caplog.text
    monkeypatch.undo()
    full.set("a", 3)
    assert full.get("a") == 3
