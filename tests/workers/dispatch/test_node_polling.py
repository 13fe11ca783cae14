"""Many jobs of one node, started, polled and finished together."""

import time
from datetime import timedelta

import pytest
from django.utils import timezone

from workers import services
from workers.dispatch import endings, node_polling, runner
from workers.models import Job, JobState
from workers.nodes import ssh

pytestmark = pytest.mark.django_db(transaction=True)


def visit_until_final(node, seconds=120):  # for a busy machine
    deadline = time.monotonic() + seconds
    while Job.objects.in_flight().exists() and time.monotonic() < deadline:
        for job_id in node_polling.due_jobs():
            runner.advance_while_due(job_id)
        node_polling.poll_nodes([node.pk])
        time.sleep(0.05)


def log_of(job):
    return job.artifacts.get(name="log.txt").file.read().decode()


@pytest.mark.slow
def test_jobs_of_a_node_travel_together_and_stay_apart(queue, node, ssh_server):
    jobs = [queue(f"echo n{n}; exit {n % 2}") for n in range(6)]
    jobs.append(queue("printf abc > a.txt; echo files"))
    visit_until_final(node)
    states = [Job.objects.get(pk=job.pk).state for job in jobs]
    assert states == [JobState.SUCCEEDED, JobState.FAILED] * 3 + [JobState.SUCCEEDED]
    assert [log_of(job) for job in jobs] == [f"n{n}\n" for n in range(6)] + ["files\n"]
    assert jobs[-1].artifacts.get(name="a.txt").file.read() == b"abc"


@pytest.mark.slow
def test_a_long_log_is_fetched_to_its_end_before_the_job_ends(queue, node):
    jobs = [queue("head -c 2000000 /dev/zero | tr '\\0' x; echo; echo end; exit 0"),
            queue("seq 200000")]
    visit_until_final(node)
    assert {Job.objects.get(pk=job.pk).state for job in jobs} == {JobState.SUCCEEDED}
    assert [len(log_of(job)) for job in jobs] == [2_000_005, 1_288_895]
    assert log_of(jobs[0]).endswith("x\nend\n")


@pytest.mark.parametrize(("age", "waited", "pause"), [
    (3600, 0, 5), (3600, 3, 2), (3600, 2.5, 2.5), (3600, 10, 2), (120, 1.5, 2), (1, 1, 0.3)])
def test_a_slow_answer_does_not_put_off_the_next_look(age, waited, pause, monkeypatch):
    now = timezone.now()
    monkeypatch.setattr(endings.timezone, "now", lambda: now)
    found = endings.next_poll(Job(started_at=now - timedelta(seconds=age)),
                              asked_at=now - timedelta(seconds=waited))
    assert (found - now).total_seconds() == pause


@pytest.mark.slow
def test_one_script_starts_all_that_wait(queue, node, monkeypatch):
    for n in range(5):
        queue(f"sleep 1; echo {n}")
    sent = []
    run_many = ssh.run_many
    monkeypatch.setattr(ssh, "run_many", lambda scripts: (sent.extend(scripts),
                                                           run_many(scripts))[1])
    node_polling.poll_nodes([node.pk])
    assert len(sent) == 1
    assert set(Job.objects.values_list("state", flat=True)) == {JobState.RUNNING}
    visit_until_final(node)
    assert set(Job.objects.values_list("state", flat=True)) == {JobState.SUCCEEDED}


def test_what_ends_at_once_is_finished_by_the_visit_that_starts_it(queue, node):
    jobs = [queue("echo one"), queue("exit 3"), queue("printf abc > a.txt")]
    node_polling.poll_nodes([node.pk])
    found = [Job.objects.get(pk=job.pk) for job in jobs]
    assert [job.state for job in found] == [
        JobState.SUCCEEDED, JobState.FAILED, JobState.COLLECTING]
    assert log_of(found[0]) == "one\n"
    assert all(job.started_at and job.remote["pid"] for job in found)


@pytest.mark.slow
def test_who_waits_for_cards_does_not_hold_up_the_others(queue, node):
    first, waiting, free = queue("sleep 30", cards=8), queue("true", cards=1), queue("sleep 1")
    node_polling.poll_nodes([node.pk])
    assert [Job.objects.get(pk=job.pk).state for job in (first, waiting, free)] == [
        JobState.RUNNING, JobState.LEASING, JobState.RUNNING]
    services.cancel_job(actor=first.created_by, job=first)
    visit_until_final(node)
    assert [Job.objects.get(pk=job.pk).state for job in (first, waiting, free)] == [
        JobState.CANCELLED, JobState.SUCCEEDED, JobState.SUCCEEDED]


@pytest.mark.slow
def test_lost_answer_to_a_start_does_not_start_it_twice(queue, node, ssh_server, monkeypatch):
    job = queue("echo ran >> $HOME/visited; echo done")
    run_many = ssh.run_many

    def cut(scripts):
        for asked, _answer in run_many(scripts):
            yield asked, ssh.Unreachable("the connection broke")

    with monkeypatch.context() as patch:
        patch.setattr(ssh, "run_many", cut)
        node_polling.poll_nodes([node.pk])
    job.refresh_from_db()
    assert (job.state, job.state_before_unknown) == (JobState.UNKNOWN, JobState.STARTING)
    Job.objects.update(next_step_at=timezone.now())
    visit_until_final(node)
    assert Job.objects.get(pk=job.pk).state == JobState.SUCCEEDED
    assert (ssh_server.root / "home" / "visited").read_text() == "ran\n"


def test_cut_answer_is_no_answer(queue, node, monkeypatch):
    jobs = [queue("true"), queue("true")]
    run_many = ssh.run_many

    def cut(scripts):
        for asked, answer in run_many(scripts):
            yield asked, ssh.Answer(0, answer.stdout[:30], b"")

    with monkeypatch.context() as patch:
        patch.setattr(ssh, "run_many", cut)
        node_polling.poll_nodes([node.pk])
    rows = [Job.objects.get(pk=job.pk) for job in jobs]
    assert {(row.state, row.troubles) for row in rows} == {(JobState.STARTING, 1)}
    assert all(row.message.startswith("The node answers") for row in rows)
