"""Files between jobs and nodes over OpenSSH's own servers: checksums, cache, cuts, links."""

import os
import shutil
import tempfile
import time
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.utils import translation

from engagements.errors import InvalidInput
from tests.workers import podman
from tests.workers.shell_kind import InputKind
from tests.workers.sshd import USER, can_run, running_sshd
from workers import services
from workers.artifacts import input_sources, input_transfer, shared_storage
from workers.artifacts.artifact_store import store_file
from workers.artifacts.input_sources import InputFile
from workers.artifacts.node_folders import Mounts
from workers.dispatch import cleanup, runner, staging
from workers.kinds import base as registry
from workers.kinds.references import reference_of
from workers.models import Job, JobInput, JobState
from workers.nodes import ssh
from workers.services import node_edits, runtimes

pytestmark = [pytest.mark.django_db(transaction=True),
              pytest.mark.skipif(not can_run(), reason="needs sshd")]
ODD = "权重 目录/it's \"a\" $b.bin"


@pytest.fixture
def servers(tmp_path):
    with running_sshd(tmp_path / "a") as one, running_sshd(tmp_path / "b") as two:
        yield one, two
    ssh.close_all()


@pytest.fixture
def nodes(people, servers, monkeypatch):
    """Two nodes on one machine; each is a practice node, as they are one machine."""
    monkeypatch.setitem(registry._kinds, InputKind.code, InputKind())
    found = []
    for number, server in enumerate(servers):
        node = services.enrol_node(
            actor=people["operator"], name=f"n{number}", host="127.0.0.1", port=server.port,
            username=USER, private_key=server.key, is_practice=True,
            file_roots=f"{server.home}/data")
        found.append(services.confirm_host_key(
            actor=people["operator"], node=node,
            fingerprint=ssh.fingerprint(node.offered_host_key)))
        (server.home / "data").mkdir()
    return found


@pytest.fixture
def queue(people, nodes, engagement):
    def go(data, script='cat "$1" > out.txt', node=1) -> Job:
        return services.queue_job(
            actor=people["consultant"], kind=InputKind.code, node=nodes[node],
            engagement=engagement, parameters={"script": script, "data": str(data)})

    return go


def stored(engagement, name, data) -> int:
    return store_file(stream=ContentFile(data), name=name, engagement=engagement).pk


def content(job, name) -> bytes:
    return job.artifacts.get(name=name).file.read()


@pytest.mark.slow
def test_a_stored_file_is_brought_once_and_taken_from_the_store_again(queue, engagement, servers):
    pk = stored(engagement, f"runs/{ODD}", b"weights")
    first = runner.drive(queue(f"desk:file/{pk}"))
    assert (first.state, content(first, "out.txt")) == (JobState.SUCCEEDED, b"weights")
    assert first.inputs.get().way == "copied"
    assert ODD.rsplit("/", 1)[-1] in content(first, "desk-inputs/data.sha256").decode()
    again = runner.drive(queue(f"desk:file/{pk}", 'stat -c %h "$1" > out.txt'))
    assert (again.inputs.get().way, content(again, "out.txt")) == ("cached", b"3\n")
    retained = next((servers[1].home / "desk-jobs/.desk-inputs").glob("file-*/*.bin"))
    retained.chmod(0o600)
    retained.write_bytes(b"changed")
    mended = runner.drive(queue(f"desk:file/{pk}"))
    assert (mended.inputs.get().way, content(mended, "out.txt")) == ("copied", b"weights")


@pytest.mark.slow
def test_what_no_job_asks_for_any_more_is_removed(queue, engagement, servers, nodes):
    runner.drive(queue(f"desk:file/{stored(engagement, 'a.bin', b'x')}"))
    retained = servers[1].home / "desk-jobs/.desk-inputs"
    cleanup.keep_house()
    assert len(list(retained.iterdir())) == 2
    old = time.time() - 86400 * (nodes[1].keep_days + 2)
    for each in retained.glob("*.sums"):
        os.utime(each, (old, old))
    cleanup.keep_house()
    assert list(retained.iterdir()) == []


@pytest.mark.slow
def test_output_of_a_job_becomes_the_input_of_one_on_another_node(queue, servers):
    make = f'mkdir -p "out/{Path(ODD).parent}" && printf x > "out/a b" && ln -s /etc out/link'
    source = runner.drive(queue("/etc/hostname", make, node=0))
    listing = '(cd "$1" && find . -type f -exec cat {} + && ls) > out.txt'
    for reference in (f"desk:job/{source.pk}/out", f"desk:work/{source.pk}/out"):
        job = runner.drive(queue(reference, listing))
        assert job.state == JobState.SUCCEEDED, (job.sentence, job.technical_cause)
        assert content(job, "out.txt") == b"xa b\n"
    assert job.inputs.get().way == "cached", "the same bytes came before, from the store"
    folder = servers[1].home / "desk-jobs" / job.directory_name
    assert not (folder / "inputs/data/out/link").exists()


@pytest.mark.slow
def test_large_folders_are_used_where_they_lie(queue, servers, nodes, people):
    data = servers[0].home / "data" / "模型 1"
    data.mkdir()
    with (data / "w.bin").open("wb") as stream:
        stream.truncate(staging.IN_PLACE_BYTES)
    job = runner.drive(queue(f"desk:node/{nodes[0].pk}{data}", 'readlink "$1" > out.txt; ls "$1"'))
    item = job.inputs.get()
    assert (item.way, item.place) == ("in_place", str(data)), job.sentence
    assert content(job, "out.txt").decode().strip() == str(data)
    assert content(job, "desk-inputs/data.files.txt").startswith(b"%d 2" % staging.IN_PLACE_BYTES)


def test_links_out_of_the_allowed_folders_and_other_paths_are_refused(
        queue, servers, nodes, engagement, people):
    root = servers[0].home / "data"
    (root / "way-out").symlink_to("/etc")
    job = runner.drive(queue(f"desk:node/{nodes[0].pk}{root}/way-out"))
    assert job.state == JobState.FAILED
    with translation.override("en"):
        assert "lies in none of the folders" in job.sentence
    for wrong in (f"desk:node/{nodes[0].pk}/etc", f"desk:node/{nodes[0].pk}{root}/../x",
                  "desk:file/99999", "desk:job/99999", "desk:else/1"):
        with pytest.raises(InvalidInput):
            queue(wrong)


@pytest.mark.slow
def test_a_cut_transfer_goes_on_where_it_ended(queue, engagement, monkeypatch):
    data = bytes(range(256)) * 40_000
    pk = stored(engagement, "big.bin", data)
    offsets, real = [], input_sources.stream

    def cut(source, files, is_packed, offset):
        offsets.append(offset)
        for number, piece in enumerate(real(source, files, is_packed, offset)):
            if len(offsets) == 1 and number == 20:
                ssh.close_all()
            yield piece

    monkeypatch.setattr(input_sources, "stream", cut)
    job = runner.drive(queue(f"desk:file/{pk}", 'wc -c < "$1" > out.txt'))
    assert (job.state, content(job, "out.txt").strip()) == (JobState.SUCCEEDED, b"%d" % len(data))
    assert len(offsets) == 2
    assert 0 < offsets[1] < len(data)


@pytest.mark.slow
def test_cancel_ends_a_slow_transfer_and_the_limit_is_kept(
        queue, engagement, nodes, people, monkeypatch):
    node_edits.edit_node(actor=people["operator"], node=nodes[1], transfer_mbit=8)
    pk = stored(engagement, "big.bin", b"x" * 2_000_000)
    began = time.monotonic()
    assert runner.drive(queue(f"desk:file/{pk}", "true")).state == JobState.SUCCEEDED
    assert time.monotonic() - began > 1.8, "2 MB at 8 Mbit/s"
    pk = stored(engagement, "big.bin", b"y" * 60_000_000)
    monkeypatch.setattr(input_transfer, "TELL_SECONDS", 0.1)
    job = queue(f"desk:file/{pk}", "true")
    real = staging._bring

    def cancelled(job, item):
        services.cancel_job(actor=people["consultant"], job=job)
        real(job, item)

    monkeypatch.setattr(staging, "_bring", cancelled)
    job = runner.drive(job)
    assert job.state == JobState.CANCELLED
    assert 0 < job.inputs.get().arrived < 60_000_000


@pytest.mark.slow
def test_a_source_that_does_not_answer_is_waited_for(queue, servers, nodes):
    source = runner.drive(queue("/etc/hostname", "echo x > out.txt", node=0))
    servers[0].stop()
    ssh.close_all()
    job = queue(f"desk:work/{source.pk}/out.txt")
    runner.advance_while_due(job.pk)
    job.refresh_from_db()
    assert (job.state, job.message) == (JobState.STAGING, staging.SOURCE_AWAY)
    servers[0].start()
    Job.objects.update(next_step_at=None)
    assert runner.drive(job).state == JobState.SUCCEEDED


def test_practice_files_make_practice_results(queue, engagement, nodes):
    nodes[1].is_practice = False
    nodes[1].save()
    pk = stored(engagement, "a.txt", b"x")
    assert not queue(f"desk:file/{pk}").is_practice
    JobInput.objects.all().delete()
    source = Job.objects.get()
    Job.objects.update(is_practice=True, state=JobState.SUCCEEDED, finished_at=source.created_at,
                       started_at=source.created_at)
    assert queue(f"desk:work/{source.pk}").is_practice


def test_two_nodes_share_what_is_mounted_from_the_same_source():
    def mounts(point, source, boot, root="/"):
        return [f"36 35 0:40 {root} {point} rw,noatime - nfs4 {source} rw",
                "22 1 8:1 / / rw - ext4 /dev/sda1 rw"]

    here = Mounts("/mnt/a b/run/w", "one", mounts("/mnt/a\\040b", "store:/x", "one"))
    there = Mounts("/", "two", mounts("/data", "store:/x", "two", "/run"))
    assert shared_storage.candidate(here, there) == "/data/w"
    assert shared_storage.candidate(here, Mounts("/", "two", mounts("/d", "other:/x", "two"))) == ""
    local = Mounts("/home/w", "one", here.lines)
    assert shared_storage.candidate(local, there) == ""
    assert shared_storage.candidate(local, Mounts("/", "one", [])) == "/home/w"


def test_the_stream_is_the_same_from_every_offset(tmp_path):
    data = {"a": b"1" * 700, "b/c": b"", "d" * 150: b"3" * 512}

    class Memory:
        def read(self, file, offset):
            yield data[file.name][offset:offset + 100]
            yield data[file.name][offset + 100:]

    files = [InputFile(name, len(text), "") for name, text in data.items()]
    whole = b"".join(input_sources.stream(Memory(), files, True, 0))
    assert len(whole) == input_sources.stream_size(files, True)
    for offset in range(0, len(whole), 37):
        assert b"".join(input_sources.stream(Memory(), files, True, offset)) == whole[offset:]
    (tmp_path / "x.tar").write_bytes(whole)
    shutil.unpack_archive(tmp_path / "x.tar", tmp_path / "out", filter="data")
    assert (tmp_path / "out" / ("d" * 150)).read_bytes() == data["d" * 150]


def test_references_are_read_strictly():
    assert str(reference_of("desk:job/4/a b/文")) == "desk:job/4/a b/文"
    for text in ("desk:job/4/../x", "desk:job/x", "desk:file/1//", "xdesk:job/1",
                 "desk:work/1/a\n"):
        assert reference_of(text) is None, text


@pytest.mark.slow
@pytest.mark.skipif(bool(podman.missing()), reason=podman.missing() or "-")
@pytest.mark.parametrize("place", ["container", "running"])
def test_a_job_in_a_container_finds_its_inputs(queue, engagement, servers, nodes, people, place):
    """A stored file, and a folder of another node, in a container with a store of its own."""
    folder = Path(tempfile.mkdtemp(prefix="podman-"))
    engine, name = podman.engine_in(folder), f"desk-inputs-{os.getpid()}"
    image, home = podman.make_image(engine), servers[1].home
    type(nodes[1]).objects.filter(pk=nodes[1].pk).update(
        container_engine=engine, container_options=podman.RUN_OPTIONS)
    options = {"image": image} if place == "container" else {"container": name}
    runtimes.choose_runtime(
        actor=people["operator"], node=nodes[1], runtime=runtimes.save_runtime(
            actor=people["operator"], name=place, place=place,
            options={**options, "devices": "none"}))
    try:
        if place == "running":
            podman.podman("run", "-d", "--name", name, *podman.RUN_OPTIONS.split(),
                          "--network=host", "-v", f"{home}/desk-jobs:/jobs", image, "sleep",
                          "300", engine=engine)
        nodes[1].refresh_from_db()
        job = runner.drive(queue(f"desk:file/{stored(engagement, ODD, b'weights')}",
                                 'cat /etc/version "$1" > out.txt'))
        assert job.state == JobState.SUCCEEDED, (job.sentence, job.technical_cause)
        assert content(job, "out.txt") == b"busybox image\nweights"
        source = servers[0].home / "data/set"
        source.mkdir()
        (source / "a.txt").write_text("1")
        job = runner.drive(queue(f"desk:node/{nodes[0].pk}{source}", 'cp "$1"/a.txt got.txt'))
        assert (job.state, content(job, "got.txt")) == (JobState.SUCCEEDED, b"1"), job.sentence
    finally:
        podman.podman("rm", "-f", "-t", "0", "--ignore", name, engine=engine)
        shutil.rmtree(folder, ignore_errors=True)
