"""What the log-in user of a node may not read, over OpenSSH's own server; the node is not away."""

import pytest
from django.urls import reverse
from django.utils import translation

from tests.workers.shell_kind import InputKind
from tests.workers.sshd import USER, can_run, running_sshd
from workers import services
from workers.dispatch import job_files, runner
from workers.kinds import base as registry
from workers.models import JobState
from workers.nodes import ssh
from workers.remote import replies, scripts

pytestmark = [pytest.mark.django_db(transaction=True),
              pytest.mark.skipif(not can_run(), reason="needs sshd")]


class LogsKind(InputKind):
    code = "test.logs"

    def log_globs(self, parameters):
        return ("logs/*.log",)


class OnlyLogsKind(LogsKind):
    code = "test.only-logs"
    collect = ()


SCRIPT = ("mkdir -p out/closed; echo 1 > out/a; echo 2 > out/x; echo 3 > out/closed/c;"
          "echo 4 > b.txt; head -c 5000000 /dev/zero > out/large;"
          "chmod 000 out/x out/large out/closed")


@pytest.fixture
def server(tmp_path):
    with running_sshd(tmp_path / "sshd", is_ordinary=True) as server:
        yield server
    ssh.close_all()


@pytest.fixture
def node(people, server, monkeypatch):
    for kind in (InputKind, LogsKind, OnlyLogsKind):
        monkeypatch.setitem(registry._kinds, kind.code, kind())
    node = services.enrol_node(
        actor=people["operator"], name="n1", host="127.0.0.1", port=server.port, username=USER,
        private_key=server.key, file_roots=f"{server.home}/data")
    return services.confirm_host_key(actor=people["operator"], node=node,
                                     fingerprint=ssh.fingerprint(node.offered_host_key))


@pytest.fixture
def queue(people, node, engagement):
    def go(script, data="/dev/null", kind=InputKind):
        return services.queue_job(
            actor=people["consultant"], kind=kind.code, node=node, engagement=engagement,
            parameters={"script": script, "data": data})

    return go


@pytest.mark.slow
def test_unreadable_files_are_named_and_the_others_collected(queue, node, client, people):
    job = runner.drive(queue(SCRIPT))
    node.refresh_from_db()
    assert (job.state, node.unreachable_since, node.contacts.count()) == (
        JobState.SUCCEEDED, None, 0)
    files = {a.name: a.file.read() for a in job.artifacts.all()}
    assert sorted(files) == ["b.txt", "log.txt", "not-collected.txt", "out/a"]
    whose = f"{USER}:{USER}"
    assert job.results["not_collected"] == {"n": 3, "files": [
        ["out/closed", whose, "d---------", "Permission denied"],
        ["out/x", whose, "----------", "Permission denied"],
        ["out/large", whose, "----------", "Permission denied"]]}
    for name in ("log.txt", "not-collected.txt"):
        for shown in ("out/closed", "out/x", "out/large", whose, "----------"):
            assert shown in files[name].decode()
    assert len(files["log.txt"]) == job.log_stored
    client.force_login(people["consultant"])
    page = client.get(reverse("workers:job", args=[job.pk])).content.decode()
    assert f"out/x ({whose} ----------): Permission denied" in page
    answer = client.get(f"/api/v1/jobs/{job.pk}/").json()
    assert answer["results"]["not_collected"]["n"] == 3


@pytest.mark.slow
def test_a_closed_folder_goes_with_the_job_s_folder(queue, node, server):
    job = runner.drive(queue("mkdir -p out/closed; echo 1 > out/closed/c;"
                             "chmod 000 out/closed out"))
    work = server.home / node.scratch_dir.removeprefix("~/") / job.directory_name / "work"
    assert work.exists()
    ssh.run(node, scripts.remove_script(replies.place(job)))
    assert not work.exists()


@pytest.mark.slow
def test_a_closed_work_folder_is_named(queue):
    job = runner.drive(queue("echo 1 > b.txt; chmod 000 ."))
    assert [(name, mode) for name, _owner, mode, _why in job.results["not_collected"]["files"]] == [
        (".", "d---------")]


@pytest.mark.slow
@pytest.mark.parametrize("kind", [LogsKind, OnlyLogsKind])
def test_an_unreadable_further_log_is_named_and_the_others_followed(queue, kind):
    job = runner.drive(queue("mkdir logs; echo 1 > logs/a.log; echo 2 > logs/b.log; : > logs/c.log;"
                             "chmod 000 logs/[ac].log", kind=kind))
    assert [log.name for log in job.logs.all()] == ["logs/b.log"]
    assert job.results["not_collected"] == {"n": 1, "files": [
        ["logs/a.log", f"{USER}:{USER}", "----------", "Permission denied"]]}


@pytest.mark.slow
def test_a_node_without_tar_sends_files_one_by_one(queue, monkeypatch):
    monkeypatch.setattr(scripts, "pack_script",
                        lambda *_args: "echo $data_mark; echo tar: not found >&2; exit 127\n")
    job = runner.drive(queue("echo 1 > b.txt; echo 2 > c.txt"))
    assert {a.name: a.file.read() for a in job.artifacts.exclude(name="log.txt")} == {
        "b.txt": b"1\n", "c.txt": b"2\n"}


@pytest.mark.slow
@pytest.mark.parametrize("is_cancelled", [False, True])
def test_a_script_that_fails_is_no_absence_and_does_not_hold_the_job(
        queue, node, people, monkeypatch, is_cancelled):
    for name in ("pack_script", "read_script"):
        monkeypatch.setattr(scripts, name,
                            lambda *_args: "echo $data_mark; echo cat: broken >&2; exit 3\n")
    monkeypatch.setattr(job_files, "FAILED_SCRIPTS", 1000 if is_cancelled else 1)
    job = queue("echo 1 > b.txt")
    while job.troubles == 0:
        runner.advance_while_due(job.pk)
        job.refresh_from_db()
    node.refresh_from_db()
    assert (job.state, node.unreachable_since) == (JobState.COLLECTING, None)
    assert job.technical_cause == "cat: broken (exit status 3)"
    with translation.override("en"):
        assert job.sentence.startswith("The node answers, but a script of the system failed")
    if is_cancelled:
        services.cancel_job(actor=people["consultant"], job=job)
    job = runner.drive(job)
    assert job.state == (JobState.CANCELLED if is_cancelled else JobState.SUCCEEDED)
    assert job.results["not_collected"]["files"] == [
        ["b.txt", "", "", "cat: broken (exit status 3)"]]


def test_an_unreadable_input_fails_the_job_and_not_the_node(queue, node, server):
    data = server.home / "data"
    data.mkdir()
    (data / "weights").write_text("x")
    (data / "weights").chmod(0)
    job = runner.drive(queue("true", f"desk:node/{node.pk}{data}/weights"))
    assert job.state == JobState.FAILED
    with translation.override("en"):
        assert "the node where it lies does not give it" in job.sentence
        assert "Permission denied" in job.sentence


@pytest.mark.slow
def test_links_pipes_and_files_beyond_the_limit_are_named(queue, client, people, monkeypatch):
    monkeypatch.setattr(job_files, "MOST_FILES", 2)
    job = runner.drive(queue("mkdir out; ln -s /etc/hostname out/l; mkfifo out/p;"
                             "for n in 1 2 3; do echo $n > out/$n; done; ln -s x elsewhere"))
    assert job.results["not_collected"] == {"n": 3, "files": [
        ["out/l", "", "", "link"], ["out/p", "", "", "pipe"], ["out/3", "", "", "limit"]]}
    client.force_login(people["consultant"])
    with translation.override("en"):
        page = client.get(reverse("workers:job", args=[job.pk]),
                          headers={"accept-language": "en"}).content.decode()
    assert "out/l: " in page
    assert "not-collected.txt" in page


@pytest.mark.slow
def test_a_job_that_left_only_a_link_says_so(queue):
    job = runner.drive(queue("mkdir out; ln -s /etc/hostname out/l"))
    assert job.results["not_collected"]["files"] == [["out/l", "", "", "link"]]
