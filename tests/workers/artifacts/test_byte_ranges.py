"""A download that broke off goes on; a file that is there already is not sent again."""

import pytest
from django.core.files.base import ContentFile
from rest_framework.test import APIClient

from engagements.models import AuditEntry, Role
from workers.artifacts.artifact_store import store_file

CONTENT = bytes(range(256)) * 40


@pytest.fixture
def download(people, engagement):
    client = APIClient()
    client.force_login(people[Role.MANAGER])
    stored = store_file(stream=ContentFile(CONTENT), name="weights.bin", engagement=engagement,
                        uploaded_by=people[Role.MANAGER])

    def get(**headers):
        return client.get(f"/api/v1/artifacts/{stored.pk}/download/", headers=headers)

    return get


def body(answer) -> bytes:
    return b"".join(answer.streaming_content)


def test_the_rest_of_a_file(download):
    whole = download()
    assert (body(whole), whole["Accept-Ranges"]) == (CONTENT, "bytes")
    rest = download(**{"Range": "bytes=4000-", "If-Range": whole["ETag"]})
    assert (rest.status_code, rest["Content-Range"]) == (206, "bytes 4000-10239/10240")
    assert (body(rest), rest["Content-Length"]) == (CONTENT[4000:], "6240")
    assert AuditEntry.objects.filter(action="file.download").count() == 2


@pytest.mark.parametrize(("asked", "status", "expected"), [
    ("bytes=0-9", 206, CONTENT[:10]),
    ("bytes=-10", 206, CONTENT[-10:]),
    ("bytes=-99999", 206, CONTENT),
    ("bytes=10230-99999", 206, CONTENT[10230:]),
    ("bytes=0-1,5-6", 200, CONTENT),
    ("lines=1-2", 200, CONTENT),
], ids=["start", "end", "all", "beyond", "several", "other unit"])
def test_ranges(download, asked, status, expected):
    answer = download(Range=asked)
    assert (answer.status_code, body(answer)) == (status, expected)


def test_beyond_the_end(download):
    answer = download(Range="bytes=10240-")
    assert (answer.status_code, answer["Content-Range"]) == (416, "bytes */10240")


def test_of_another_file_the_whole_is_sent(download):
    answer = download(**{"Range": "bytes=5-", "If-Range": '"other"'})
    assert (answer.status_code, body(answer)) == (200, CONTENT)


def test_a_known_file_is_not_sent_again(download):
    etag = download()["ETag"]
    assert download(**{"If-None-Match": etag}).status_code == 304
