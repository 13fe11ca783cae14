"""Uploads in parts: to several portals of a cluster, checked as they come, removed if forgotten."""

import hashlib
from base64 import b64encode
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from django.utils import timezone

from workers.artifacts import arriving_files
from workers.models import Artifact, PendingUpload

HALF = 560_000
DATA = b"ab" * HALF
pytestmark = pytest.mark.workers_read  # what it holds is not asked here


@pytest.fixture
def stores(settings, tmp_path):
    """The store that the portals share; what a portal has of its own is set by `put`."""
    settings.MEDIA_ROOT = tmp_path / "artifacts"
    return tmp_path


@pytest.fixture
def url(client, people, engagement, stores):
    client.force_login(people["consultant"])
    begun = client.post("/api/v1/uploads/", {"engagement": engagement.pk, "name": "weights.bin",
                                             "size": len(DATA)}, content_type="application/json")
    return f"/api/v1/uploads/{begun.json()['id']}/"


@pytest.fixture
def put(client, settings, stores, url):
    def go(offset, part, portal="a", **headers):
        settings.VAR_DIR = stores / portal
        return client.put(f"{url}content/", part, content_type="application/octet-stream",
                          headers={"Upload-Offset": str(offset), **headers})

    return go


def bytes_of_parts() -> list[Path]:
    return [path for path in Path(default_storage.path("uploads")).rglob("*") if path.is_file()]


def test_halves_that_went_to_two_portals_are_one_file(put, stores):
    assert put(0, DATA[:HALF], "a").json()["received"] == HALF
    whole = put(HALF, DATA[HALF:], "b")
    artifact = Artifact.objects.get(pk=whole.json()["artifact"])
    assert (artifact.sha256, artifact.file.read()) == (hashlib.sha256(DATA).hexdigest(), DATA)
    assert (bytes_of_parts(), (stores / "a").exists(), (stores / "b").exists()) == (
        [], False, False)


def test_parts_beyond_what_was_announced_are_refused(put, client, url):
    for offset, part in ((0, DATA + b"x"), (len(DATA) + 1, b""), (len(DATA), b"x"), (10**9, b"x")):
        assert put(offset, part).status_code == 400
    assert (client.get(url).json()["received"], bytes_of_parts()) == (0, [])


@pytest.mark.parametrize("shown", ["sha-256=:{wrong}:", "sha-256=:c2hvcnQ=:", "sha-512=:{right}:",
                                  "sha-256={right}", "nonsense"])
def test_a_part_with_another_digest_is_refused(put, client, url, shown):
    right, wrong = (b64encode(hashlib.sha256(data).digest()).decode() for data in (DATA, b"x"))
    refused = put(0, DATA, **{"Content-Digest": shown.format(right=right, wrong=wrong)})
    assert refused.status_code == 400
    assert (client.get(url).json()["received"], bytes_of_parts()) == (0, [])
    fits = put(0, DATA, **{"Content-Digest": f"sha-512=:YQ==:, sha-256=:{right}:"})
    assert (fits.status_code, fits.json()["received"]) == (200, len(DATA))


@pytest.mark.parametrize("damage", [lambda path: path.unlink(),
                                    lambda path: path.write_bytes(b"\0" * HALF)])
def test_a_part_that_the_store_lost_is_asked_for_again(put, client, url, damage):
    put(0, DATA[:HALF])
    damage(*bytes_of_parts())
    refused = put(HALF, DATA[HALF:])
    assert (refused.status_code, refused.json()["received"]) == (409, 0)
    assert client.get(url).json()["artifact"] is None
    put(0, DATA[:HALF])
    assert Artifact.objects.get(pk=put(HALF, DATA[HALF:]).json()["artifact"]).file.read() == DATA


def test_parts_that_nobody_went_on_with_are_removed(put, stores):
    put(0, DATA[:HALF])
    orphan = stores / "artifacts" / "uploads" / "without-a-row" / "part"
    orphan.parent.mkdir()
    orphan.write_bytes(b"x")
    now = timezone.now()
    assert arriving_files.remove_forgotten(now) == 0
    assert len(bytes_of_parts()) == 1
    assert arriving_files.remove_forgotten(now + arriving_files.RETENTION + timedelta(hours=1)) == 1
    assert (bytes_of_parts(), PendingUpload.objects.count()) == ([], 0)
