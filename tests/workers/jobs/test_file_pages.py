"""Inputs chosen on pages: from a dump to its comparison, folders of nodes, archives."""

import io
import re
import tarfile
import zipfile
from html import unescape

import pytest
from django.urls import reverse

from engagements.services import add_model
from practice_node.server import running_practice_node
from workers import services
from workers.dispatch import runner
from workers.jobs.follow_ups import follow_ups
from workers.models import Artifact, Job, JobState
from workers.nodes import ssh

pytestmark = pytest.mark.django_db(transaction=True)
DUMP = {"script": "~/projects/inspection/run.py", "arguments": "dump", "ranks": 2,
        "config": "~/data/msprobe.json"}


def files_of(archive: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        return {each.name: packed.extractfile(each).read() for each in packed if each.isfile()}


@pytest.fixture
def second_node(people, tmp_path):
    with running_practice_node(tmp_path / "gpu") as server:
        node = services.enrol_node(
            actor=people["operator"], name="gpu-1", host=server.host, port=server.port,
            username=server.username, private_key=server.private_key_text, is_practice=True)
        yield services.confirm_host_key(actor=people["operator"], node=node,
                                        fingerprint=ssh.fingerprint(node.offered_host_key))
        ssh.close_all()


@pytest.mark.slow
def test_from_a_dump_to_the_comparison_in_three_clicks(
        client, people, engagement, node, second_node):
    model = add_model(actor=people["manager"], engagement=engagement, code="LLM", name="模型")
    gpu, npu = (runner.drive(services.queue_job(
        actor=people["consultant"], kind="acc.dump", node=each, model=model, parameters=DUMP))
        for each in (second_node, node))
    Job.objects.filter(pk=npu.pk).update(results={**npu.results, "device": "npu 0"})
    client.force_login(people["consultant"])
    for source, target in ((npu, node), (gpu, second_node)):
        page = client.get(reverse("workers:job", args=[source.pk])).content.decode()
        link = next(unescape(found) for found in re.findall(r'dropdown-item" href="([^"]+)"', page)
                    if "acc.compare" in found)  # first click: the menu; second: its entry
        form = client.get(link).context["form"]
        values = {name: value for name in form.fields
                  if (value := form[name].value()) is not None}
        assert (values["target"], values["golden"]) == (
            f"desk:job/{npu.pk}/dump/step0", f"desk:job/{gpu.pk}/dump/step0")
        client.post(link, {**values, "node": target.pk})  # third click
        job = runner.drive(Job.objects.filter(kind="acc.compare").first())
        assert job.state == JobState.SUCCEEDED, (job.sentence, job.technical_cause)
        assert job.results["rows"] > 0
        assert {item.way for item in job.inputs.all()} <= {"copied", "cached"}
        assert "golden" in client.get(reverse("workers:job", args=[job.pk])).content.decode()


@pytest.mark.slow
def test_folders_of_a_node_are_browsed_chosen_and_downloaded(
        client, people, engagement, node, ssh_server):
    data = ssh_server.root / "home" / "data"
    node.file_roots = str(data)
    node.save()
    client.force_login(people["consultant"])
    choose = f"{reverse('workers:choose_files')}?engagement={engagement.code}&field=id_x"
    assert f"&amp;on={node.pk}" in client.get(choose).content.decode()
    assert [client.get(f"{choose}&node={asked}").context["node"] for asked in (
        node.pk, f"{node.pk}&on=", "0")] == [node, None, None]  # it opens on the form's node
    page = client.get(f"{choose}&on={node.pk}&path={data}/dump_npu").content.decode()
    assert f'data-desk-choose="desk:node/{node.pk}{data}/dump_npu"' in page
    for outside in ("/etc", f"{data}/../keys"):
        files = reverse("workers:node_files", args=[node.pk])
        assert "alert-warning" in client.get(f"{files}?path={outside}").content.decode()
    archive = client.get(reverse("workers:node_archive", args=[node.pk]),
                         {"path": f"{data}/dump_npu"})
    assert "./dump_npu/step0/rank0/dump.json" in files_of(b"".join(archive.streaming_content))
    api = f"/api/v1/nodes/{node.pk}/files/?path={data}"
    names = {entry["name"]: entry for entry in client.get(api).json()["entries"]}
    assert names["dump_npu"]["kind"] == "folder"
    assert client.get(f"/api/v1/nodes/{node.pk}/files/?path=/etc").status_code == 400
    client.force_login(people["sales"])
    assert client.get(api).status_code == 403


@pytest.mark.slow
def test_stored_files_of_a_job_are_an_archive_and_offered(client, people, queue, engagement):
    job = runner.drive(queue("mkdir sub; echo 文 > 'sub/a b.txt'; echo 2 > b.txt"))
    client.force_login(people["consultant"])
    answer = client.get(reverse("workers:job_archive", args=[job.pk]))
    data = b"".join(answer.streaming_content)
    assert answer["Content-Length"] == str(len(data))
    assert files_of(data)["sub/a b.txt"].decode() == "文\n"
    one = b"".join(client.get(f"/api/v1/jobs/{job.pk}/archive/?path=sub").streaming_content)
    assert list(files_of(one)) == ["a b.txt"]
    zipped = client.get(f"/api/v1/jobs/{job.pk}/archive/?as=zip")
    assert (zipped["Content-Type"], ".zip" in zipped["Content-Disposition"]) == (
        "application/zip", True)
    with zipfile.ZipFile(io.BytesIO(b"".join(zipped.streaming_content))) as packed:
        assert packed.testzip() is None
        assert {info.filename: packed.read(info) for info in packed.infolist()} == files_of(data)
    page = client.get(f"{reverse('workers:choose_files')}?engagement={engagement.code}&q={job.pk}")
    assert f"desk:job/{job.pk}/sub" in page.content.decode()
    assert follow_ups(job) == []


def test_an_upload_in_parts_goes_on_after_a_cut(client, people, engagement):
    data = b"".join(b"{'loss': %d.5, 'epoch': 1.0}\n" % n for n in range(40))
    client.force_login(people["consultant"])
    begun = client.post("/api/v1/uploads/", {"engagement": engagement.pk, "name": "train.log",
                                             "size": len(data)}, content_type="application/json")
    url = f"/api/v1/uploads/{begun.json()['id']}/"

    def put(offset, part):
        return client.put(f"{url}content/", part, content_type="application/octet-stream",
                          headers={"Upload-Offset": str(offset)})

    assert put(0, data[:100]).json()["received"] == 100
    refused = put(0, data)
    assert (refused.status_code, refused.json()["received"]) == (409, 100)
    assert client.get(url).json()["artifact"] is None
    assert put(100, data[100:] + b"too much").status_code == 400
    whole = put(100, data[100:]).json()
    artifact = Artifact.objects.get(pk=whole["artifact"])
    assert artifact.file.read() == data
    assert (artifact.uploaded_by, artifact.readings.get().kind) == (
        people["consultant"], "training_log")
    assert put(len(data), b"").status_code == 409
    assert client.post("/api/v1/uploads/", {"engagement": engagement.pk, "name": "x",
                                            "size": 2**50}).status_code == 400
    client.force_login(people["manager"])
    assert client.get(url).status_code == 404


def test_a_zip_of_a_folder_is_passed_on_and_leaves_links_out():
    from workers.jobs.zip_stream import zipped

    stored = io.BytesIO()
    large = bytes(range(256)) * 20_000
    with tarfile.open(fileobj=stored, mode="w") as archive:
        for name, content in (("文/大 file.bin", large), ("old.txt", b"1")):
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(content), 0 if name == "old.txt" else 1_700_000_000
            archive.addfile(info, io.BytesIO(content))
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    data = stored.getvalue()
    pieces = list(zipped(data[at:at + 1000] for at in range(0, len(data), 1000)))
    assert max(map(len, pieces)) < 2 ** 20
    assert all(pieces)
    with zipfile.ZipFile(io.BytesIO(b"".join(pieces))) as packed:
        assert packed.testzip() is None
        assert packed.namelist() == ["文/大 file.bin", "old.txt"]
        assert packed.read("文/大 file.bin") == large
