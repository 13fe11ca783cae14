"""Scanning an upload: stored with its checksum, shown, filtered, patched; roles and strangers."""

import hashlib
import io
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from engagements import services as engagements
from engagements.errors import InvalidInput, NotAllowed
from engagements.models import AuditEntry
from workers.models import Artifact
from workers.services import scans

SOURCE = "import torch\nx = x.cuda()\nif b == 'nccl':\n    pass\n"


def archive(text=SOURCE) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as packed:
        packed.writestr("train.py", text)
    return stream.getvalue()


@pytest.fixture
def model(people, engagement):
    return engagements.add_model(actor=people["manager"], engagement=engagement, code="LLM",
                                 name="模型")


@pytest.fixture
def scan(people, engagement, model):
    return scans.scan_upload(actor=people["consultant"], engagement=engagement, model=model,
                             upload=SimpleUploadedFile("src.zip", archive()))


def test_archive_and_findings_are_kept(scan, model):
    artifact = scan.artifact
    with artifact.file.open("rb") as stream:
        assert artifact.sha256 == hashlib.sha256(stream.read()).hexdigest()
    assert (artifact.model, scan.values["by_severity"]["block"]) == (model, 1)
    assert AuditEntry.objects.filter(action="source.scan").count() == 1


def test_what_cannot_be_scanned_is_refused_and_not_kept(people, engagement):
    with pytest.raises(InvalidInput, match=r"x\.zip"):
        scans.scan_upload(actor=people["consultant"], engagement=engagement,
                          upload=SimpleUploadedFile("x.zip", b"no archive"))
    assert Artifact.objects.count() == 0


def test_sales_may_not_scan(people, engagement):
    with pytest.raises(NotAllowed):
        scans.scan_upload(actor=people["sales"], engagement=engagement,
                          upload=SimpleUploadedFile("x.zip", archive()))


def test_upload_page_leads_to_the_scan(client, people, engagement):
    client.force_login(people["consultant"])
    url = reverse("workers:scan_new") + f"?engagement={engagement.code}"
    answer = client.post(url, {"upload": SimpleUploadedFile("s.zip", archive()), "note": ""},
                         follow=True)
    assert "train.py:2" in answer.content.decode()


def test_page_filters(client, people, scan):
    client.force_login(people["consultant"])
    page = client.get(reverse("workers:scan", args=[scan.pk]) + "?severity=block").content.decode()
    assert "train.py:3" in page
    assert "train.py:2" not in page


def test_patch_is_a_file(client, people, scan):
    client.force_login(people["consultant"])
    answer = client.get(reverse("workers:scan_patch", args=[scan.pk]))
    assert "attachment" in answer["Content-Disposition"]
    assert "+from torch_npu.contrib import transfer_to_npu" in answer.content.decode()


def test_api(client, people, stranger, engagement, scan):
    client.force_login(people["consultant"])
    answer = client.post("/api/v1/source-scans/upload/", {
        "engagement": engagement.pk, "upload": SimpleUploadedFile("s.zip", archive())})
    assert (answer.status_code, answer.json()["values"]["files"]) == (201, 1)
    assert client.get(f"/api/v1/source-scans/{scan.pk}/patch_file/").status_code == 200
    rules = client.get("/api/v1/rules/?family=R-PAR").json()
    assert [r["code"] for r in rules] == [f"R-PAR-0{n}" for n in range(1, 8)]
    client.force_login(stranger)
    assert client.get(f"/api/v1/source-scans/{scan.pk}/").status_code == 404
    client.force_login(people["reviewer"])
    assert client.get("/api/v1/rules/").status_code == 403
    assert client.get("/api/v1/source-scans/").status_code == 403


def test_rules_page_filters(client, people):
    client.force_login(people["sales"])
    page = client.get(reverse("workers:rules") + "?family=R-ENV&severity=block").content.decode()
    assert "R-ENV-18" in page
    assert "R-ENV-16" not in page
    assert "R-PAR-01" not in page
