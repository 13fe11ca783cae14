"""Scanning an upload: stored with its checksum, shown, filtered, patched; roles and strangers."""

import hashlib
import io
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
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


MEDIA = ("import acl\nacl.init()\nacl.init()\nacl.media.dvpp_jpeg_decode_async(c)\n"
         "p = acl.rt.malloc(8, 0)\n")


def test_page_and_command_say_the_same_of_what_rules_forbid(
    client, people, engagement, tmp_path, capsys,
):
    """A second acl.init and media memory are no findings of their own: rules judge them."""
    scan = scans.scan_upload(actor=people["consultant"], engagement=engagement,
                             upload=SimpleUploadedFile("m.zip", archive(MEDIA)))
    client.force_login(people["consultant"])
    page = client.get(reverse("workers:scan", args=[scan.pk])).content.decode()
    (tmp_path / "train.py").write_text(MEDIA)
    call_command("scan", str(tmp_path))
    said = capsys.readouterr().out
    for rule, place in (("R-INF-14", "train.py:3"), ("R-INF-16", "train.py:5")):
        assert rule in page
        assert place in page
        line = next(line for line in said.splitlines() if f"({rule})" in line or rule in line)
        assert place in line
    assert "train.py:5: setting: media_memory = ['acl.rt.malloc']" in said


def test_one_acl_init_and_media_memory_break_no_rule(tmp_path, capsys):
    (tmp_path / "train.py").write_text(MEDIA.replace("acl.init()\n", "", 1).replace(
        "acl.rt.malloc(8, 0)", "acl.media.dvpp_malloc(8)"))
    call_command("scan", str(tmp_path))
    said = capsys.readouterr().out
    assert "R-INF-14" not in said
    assert "R-INF-16" not in said
    assert "acl_init_calls = 1" in said


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
