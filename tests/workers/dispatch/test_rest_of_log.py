"""A command that ends while much of its log is still on the node: its end is seen at once."""

import time

import pytest
from django.utils.translation import override

from tests.workers.shell_kind import ShellKind
from tests.workers.sshd import USER, can_run, running_sshd
from workers import services
from workers.dispatch import node_polling, rest_of_log, runner
from workers.kinds import base as registry
from workers.logs import live_log
from workers.models import Job, JobState
from workers.nodes import ssh

SCRIPT = ("head -c 3000000 /dev/zero | tr '\\0' 'x' | fold -w 99; "
          "word=hunter22; echo password=$word; echo the last line; exit 3")


@pytest.fixture
def job(people, node, monkeypatch):
    monkeypatch.setitem(registry._kinds, ShellKind.code, ShellKind())
    monkeypatch.setattr(rest_of_log, "PART", 800_000)
    return services.queue_job(actor=people["operator"], kind=ShellKind.code, node=node,
                              parameters={"script": SCRIPT})


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_end_is_known_before_the_log_is_here_and_nothing_of_it_is_lost(job, node):
    states = []
    for _turn in range(200):
        node_polling.poll_nodes([node.pk])
        job.refresh_from_db()
        if job.state not in (JobState.QUEUED, JobState.LEASING, JobState.STARTING,
                             JobState.RUNNING):
            break
        Job.objects.update(next_step_at=job.created_at)
    assert (job.state, job.exit_status) == (JobState.COLLECTING, 3)
    size = job.remote[rest_of_log.SIZE]
    with override("en"):
        assert f"with exit status 3; 0.5 of {size / 10**6:.1f} MB of its log" in job.sentence
    runner.advance_while_due(job.pk, most=1)
    job.refresh_from_db()
    assert job.results["log_tail"].endswith("password=******\nthe last line\n")
    while rest_of_log.is_missing(job):
        states.append((job.state, job.log_offset))
        runner.advance_while_due(job.pk, most=1)
        job.refresh_from_db()
    assert {state for state, _offset in states} == {JobState.COLLECTING}
    assert len(states) > 2
    job = runner.drive(job)
    assert (job.state, "log_tail" in job.results) == (JobState.FAILED, False)
    text = b"".join(live_log.pieces(job))
    assert len(text) == size - len("hunter22") + len("******")
    assert text.endswith(b"xpassword=******\nthe last line\n")


@pytest.mark.slow
@pytest.mark.skipif(not can_run(), reason="needs sshd")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("megabytes", [1, 200])
def test_an_end_is_seen_within_five_seconds_whatever_the_size_of_the_log(
        people, monkeypatch, tmp_path, megabytes):
    monkeypatch.setitem(registry._kinds, ShellKind.code, ShellKind())
    with running_sshd(tmp_path / "sshd") as server:
        node = services.enrol_node(
            actor=people["operator"], name="real", host="127.0.0.1", port=server.port,
            username=USER, private_key=server.key, scratch_dir=f"{server.home}/jobs")
        node = services.confirm_host_key(actor=people["operator"], node=node,
                                         fingerprint=ssh.fingerprint(node.offered_host_key))
        job = services.queue_job(
            actor=people["operator"], kind=ShellKind.code, node=node, parameters={
                "script": f"yes 'iteration 7/9 loss: 2.0' | head -c {megabytes}000000; exit 3"})
        deadline = time.monotonic() + 120
        while job.exit_status is None:
            assert time.monotonic() < deadline, (job.state, job.sentence, job.log_offset)
            node_polling.poll_nodes(node_polling.due_nodes()[0])
            job.refresh_from_db()
            time.sleep(0.05)
        if megabytes > 1:
            runner.advance_while_due(job.pk, most=1)
            job.refresh_from_db()
            assert job.results["log_tail"].count("iteration 7/9") > 300
        after = time.time() - (server.home / "jobs" / job.directory_name / "exit").stat().st_mtime
        ssh.close_all()
    assert after <= 5, f"{after:.1f} s"
