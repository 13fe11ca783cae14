"""Files from a node: strange names, links, cut lines, changing files, the store."""

import os
import subprocess

import pytest

from workers import services
from workers.artifacts import transfer
from workers.dispatch import job_files, runner
from workers.kinds import Finished, JobKind, Judgement, Parameter
from workers.kinds import base as registry
from workers.models import Artifact, Job, JobState, Node
from workers.nodes import ssh
from workers.remote import scripts

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


class WriterKind(JobKind):
    code = "test.writer"
    title = "writer"
    needs_model = False
    collect = ("*",)
    parameters = (Parameter("script", "script"),)

    def argv(self, parameters):
        return ["bash", "-c", parameters["script"]]

    def judge(self, finished: Finished) -> Judgement:
        return Judgement(finished.exit_status == 0, "status")


@pytest.fixture
def run(monkeypatch, people, node, engagement):
    monkeypatch.setitem(registry._kinds, WriterKind.code, WriterKind())

    def go(script):
        return runner.drive(services.queue_job(
            actor=people["consultant"], kind="test.writer", node=node, engagement=engagement,
            parameters={"script": script}))

    return go


def files(job) -> dict[str, bytes]:
    return {a.name: a.file.read() for a in job.artifacts.exclude(name="log.txt")}


def test_strange_names_come_back_as_they_are(run):
    job = run(r"""printf 1 > 'two words'; printf 2 > ./-n; printf 3 > $'new\nline'; """
              r"""printf 4 > $'quo\'te"'; printf 5 > 中文; printf 6 > $'\xff\xfe'""")
    assert files(job) == {"two words": b"1", "-n": b"2", "new\\nline": b"3", "quo'te\"": b"4",
                          "中文": b"5", "\\xff\\xfe": b"6"}


def test_no_name_looks_like_another_one(run):
    job = run(r"""printf 1 > $'report\u202efdp.exe'; printf 2 > $'a\tb\x1b[31m'""")
    assert set(files(job)) == {"report\\u202efdp.exe", "a\\tb\\x1b[31m"}


def test_a_million_files_and_a_sparse_terabyte_are_left_and_named(run, monkeypatch):
    monkeypatch.setattr(job_files, "MOST_FILES", 20)
    job = run("truncate -s 1T huge; for n in $(seq 100 160); do printf $n > small$n; done;"
              "mknod device c 1 5 2>/dev/null; mkfifo pipe")
    found = files(job)
    shown = found.pop("not-collected.txt").decode()
    assert job.state == JobState.SUCCEEDED
    assert list(found) == [f"small{n}" for n in range(100, 119)]
    assert shown.startswith("43 files were not collected")
    assert f"{2**40} huge" in shown


def test_a_log_without_an_end_is_stored_to_the_limit(run, settings):
    settings.LOG_LIMIT_BYTES = 100_000
    job = run("yes endless | head -c 3000000; echo done > own")
    log = job.artifacts.get(name="log.txt")
    assert job.state == JobState.SUCCEEDED
    assert 100_000 < log.size < 101_000
    assert "其余部分未保存" in log.file.read().decode()
    assert files(job) == {"own": b"done\n"}


def test_an_archive_larger_than_announced_is_refused(run, monkeypatch):
    """A node that announces a byte and sends without an end."""
    sent = []

    def endless(node, script, sink, timeout=0):
        while True:
            sink(b"\0" * 2**20)
            sent.append(1)

    monkeypatch.setattr(ssh, "download", endless)
    packed = transfer._packs(None, None, [[transfer.RemoteFile("a", 1)]])
    monkeypatch.setattr(transfer.scripts, "pack_script", lambda *_args: "")
    with pytest.raises(transfer.FileChanged):
        next(packed)
    assert len(sent) == 0


def test_link_out_of_the_folder_is_not_followed(run):
    job = run("echo own > own; ln -s /etc/passwd out; ln -s /etc dir; mkfifo pipe")
    found = files(job)
    named = found.pop("not-collected.txt").decode().splitlines()
    assert (found, named[1:]) == ({"own": b"own\n"}, ["dir: link", "out: link", "pipe: pipe"])


def test_hard_link_out_of_the_folder_is_not_collected(run, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("of somebody else")
    job = run(f"echo own > own; ln {secret} out; mkdir dir; ln {secret} 'dir/as a result.json'")
    found = files(job)
    named = found.pop("not-collected.txt").decode().splitlines()
    assert (found, named[1:]) == ({"own": b"own\n"}, [
        "dir/as a result.json: hardlink", "out: hardlink"])


@pytest.mark.parametrize("has_stat", [True, False])
def test_a_hard_link_is_told_from_a_file_with_and_without_stat(tmp_path, has_stat):
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sh", "find", "wc", "ls", *(["stat"] if has_stat else [])):
        os.symlink(f"/bin/{name}", tools / name)
    work = tmp_path / "jobs" / "desk-job-1-1-x" / "work"
    work.mkdir(parents=True)
    (work / "two words").write_text("own")
    (tmp_path / "secret").write_text("secret")
    os.link(tmp_path / "secret", work / "out")
    script = scripts.list_script([scripts.Place(str(tmp_path / "jobs"), "desk-job-1-1-x")])
    answer = subprocess.run(["/bin/sh", "-s"], input=script.encode(), capture_output=True,
                            check=True, env={"PATH": str(tools), "HOME": str(tmp_path)})
    assert transfer.read_listing(answer.stdout) == {"desk-job-1-1-x": [
        transfer.RemoteFile("out", 0, special="hardlink"), transfer.RemoteFile("two words", 3)]}


def test_the_same_bytes_are_stored_once(run):
    first, second = run("printf same > a"), run("printf same > b")
    names = set(Artifact.objects.filter(job__in=[first, second]).exclude(
        name="log.txt").values_list("file", flat=True))
    assert len(names) == 1


def test_small_and_large_files_carry_the_nodes_checksum(run):
    job = run("printf x > small; head -c 9000000 /dev/zero > large")
    assert [(a.name, a.size, a.node_sha256 == a.sha256)
            for a in job.artifacts.exclude(name="log.txt")] == [
        ("large", 9_000_000, True), ("small", 1, True)]


def test_cut_line_is_taken_up_where_it_ended(run, monkeypatch):
    download, cuts = ssh.download, []

    def cut_once(node, script, sink, timeout=3600):
        def until_half(chunk):
            if not cuts and "data_mark" in script and "large" in script:
                sink(chunk[:1000])
                cuts.append(script)
                raise ssh.Unreachable("connection lost")
            sink(chunk)

        download(node, script, until_half, timeout)

    monkeypatch.setattr(transfer.ssh, "download", cut_once)
    job = run("head -c 9000000 /dev/urandom > large")
    [artifact] = job.artifacts.exclude(name="log.txt")
    assert (len(cuts), artifact.size) == (1, 9_000_000)
    assert artifact.sha256 == artifact.node_sha256


def test_file_that_changes_while_collected_is_fetched_again(run, monkeypatch, ssh_server):
    digests, calls = transfer.digests, []

    def changed_at_first(node, place, some):
        calls.append(place)
        found = digests(node, place, some)
        return dict.fromkeys(found, "0" * 64) if len(calls) == 1 else found

    monkeypatch.setattr(transfer, "digests", changed_at_first)
    job = run("printf x > a")
    assert (job.state, len(calls), files(job)) == (JobState.SUCCEEDED, 2, {"a": b"x"})


@pytest.mark.parametrize("size", [10, 9_000_000])
def test_file_that_grows_while_collected_is_fetched_again(run, monkeypatch, ssh_server, size):
    from django.utils.translation import override

    list_files, reported = transfer.list_files, []

    def then_it_grows(node, places):
        found = list_files(node, places)
        if not reported:
            [place] = places
            with (ssh_server.root / "home" / "desk-jobs" / place.directory / "work" / "a").open(
                    "ab") as stream:
                stream.write(b"more")
        job = Job.objects.get()
        with override("en"):
            reported.append(job.sentence)
        return found

    monkeypatch.setattr(transfer, "list_files", then_it_grows)
    job = run(f"head -c {size} /dev/zero > a")
    assert (job.state, files(job)) == (JobState.SUCCEEDED, {"a": b"\0" * size + b"more"})
    assert reported[1:] == ["The file a changed while it was collected; it is fetched again."]


def test_vanished_scratch_folder_is_said(run, monkeypatch, ssh_server):
    def gone(node, places):
        return {place.directory: None for place in places}

    monkeypatch.setattr(transfer, "list_files", gone)
    job = run("true")
    assert (job.state, job.message) == (
        JobState.FAILED,
        "The job's folder on the node has vanished; its files cannot be collected.")


def test_full_store_is_waited_for(run, monkeypatch):
    from workers.artifacts import content_store

    fill, tries = content_store._fill, []

    def full_at_first(part, stream):
        tries.append(part)
        if len(tries) == 1:
            raise OSError(28, "No space left on device")
        fill(part, stream)

    monkeypatch.setattr(content_store, "_fill", full_at_first)
    job = run("printf x > a")
    assert (job.state, files(job)) == (JobState.SUCCEEDED, {"a": b"x"})


def test_node_without_a_checksum_tool_is_no_obstacle(tmp_path):
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sh", "cat"):
        os.symlink(f"/bin/{name}", tools / name)
    work = tmp_path / "jobs" / "desk-job-1-1-x" / "work"
    work.mkdir(parents=True)
    (work / "a").write_text("x")
    names = ["a", "new\nline"]
    script = scripts.digest_script(scripts.Place(str(tmp_path / "jobs"), "desk-job-1-1-x"), names)
    answer = subprocess.run(["/bin/sh", "-s"], input=script.encode(), capture_output=True,
                            check=True, env={"PATH": str(tools), "HOME": str(tmp_path)})
    assert transfer.read_digests(names, answer.stdout.decode()) == dict.fromkeys(names, "")


@pytest.mark.parametrize(("field", "value", "sentence"), [
    ("username", "nobody-here", "refuses the login"),
    ("port", 1, "does not answer"),
    ("host", "192.0.2.1.invalid", "does not answer"),
])
def test_wrong_address_or_login_is_a_clear_sentence(
        people, node, engagement, monkeypatch, field, value, sentence):
    from django.utils.translation import override

    monkeypatch.setitem(registry._kinds, WriterKind.code, WriterKind())
    ssh.close_all()
    Node.objects.filter(pk=node.pk).update(**{field: value})
    node.refresh_from_db()
    job = services.queue_job(actor=people["consultant"], kind="test.writer", node=node,
                             engagement=engagement, parameters={"script": "true"})
    runner.advance_while_due(job.pk)
    job.refresh_from_db()
    with override("en"):
        assert (job.state, sentence in job.sentence) == (JobState.UNKNOWN, True)
    node.refresh_from_db()
    assert node.contacts.get().is_reachable is False
