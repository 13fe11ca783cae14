"""Jobs on a real Slurm (controller and node on this machine) behind OpenSSH's own server."""

import os
import shutil
import tempfile
import time
from pathlib import Path

import pytest

from tests.workers import podman
from tests.workers.schedulers.slurm_jobs import ended, runs, shown, until
from tests.workers.shell_kind import ShellKind
from tests.workers.slurm_cluster import missing, running_slurm
from tests.workers.sshd import USER, can_run, running_sshd
from workers import services
from workers.dispatch import node_polling, runner
from workers.kinds import base as registry
from workers.models import CardLease, Job, JobState
from workers.nodes import ssh
from workers.services import node_edits, runtimes

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True),
              pytest.mark.skipif(bool(missing()) or not can_run(),
                                 reason=missing() or "needs sshd")]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with running_slurm(tmp_path_factory.mktemp("slurm")) as found:
        yield found


@pytest.fixture
def sshd(tmp_path, cluster):
    with running_sshd(tmp_path / "sshd", SLURM_CONF=cluster.config) as server:
        yield server
    ssh.close_all()


@pytest.fixture
def node(people, sshd):
    found = services.enrol_node(
        actor=people["operator"], name="cluster", host="127.0.0.1", port=sshd.port, username=USER,
        private_key=sshd.key, scheduler="slurm", scheduler_options={"partition": "npu"})
    return services.confirm_host_key(actor=people["operator"], node=found,
                                     fingerprint=ssh.fingerprint(found.offered_host_key))


@pytest.fixture
def queue(monkeypatch, people, engagement, node):
    monkeypatch.setitem(registry._kinds, ShellKind.code, ShellKind())

    def go(script, cards=0, **options) -> Job:
        if options:
            type(node).objects.filter(pk=node.pk).update(scheduler_options=options)
        node.refresh_from_db()
        return services.queue_job(actor=people["consultant"], kind="test.shell", node=node,
                                  engagement=engagement,
                                  parameters={"script": script, "cards": cards})

    return go


def stored(job: Job) -> dict:
    return job.results["scheduler"]


def test_a_job_runs_with_cards_that_slurm_chose(queue):
    job = until(queue("echo cards $ASCEND_RT_VISIBLE_DEVICES of $SLURM_JOB_ID; echo hi > a.txt",
                      cards=2), ended)
    assert (job.state, job.exit_status) == (JobState.SUCCEEDED, 0), shown(job)
    assert stored(job)["cards"] == job.results["cards"] == [0, 1]
    assert stored(job)["cards_source"] == "scontrol"
    assert (stored(job)["state"], stored(job)["exit_code"]) == ("COMPLETED", "0:0")
    assert "disabled" in stored(job)["accounting_error"]  # no slurmdbd here
    assert not CardLease.objects.exists()
    assert job.artifacts.get(name="a.txt").file.read() == b"hi\n"
    log = job.artifacts.get(name="log.txt").file.read().decode()
    assert log == f"cards 0,1 of {stored(job)['job_id']}\n"


def test_many_jobs_are_handed_over_and_polled_with_one_script_each(queue, node, monkeypatch):
    jobs, asked = [queue(f"echo {n}; exit {n % 2}") for n in range(6)], []
    run_many = ssh.run_many
    monkeypatch.setattr(ssh, "run_many", lambda scripts: asked.extend(scripts) or run_many(scripts))
    deadline = time.monotonic() + 60
    while Job.objects.in_flight().exists():
        assert time.monotonic() < deadline
        Job.objects.update(next_step_at=None)
        node_polling.poll_nodes([node.pk])
        for pk in node_polling.due_jobs():
            runner.advance_while_due(pk)
        time.sleep(0.5)
    for number, job in enumerate(jobs):
        job.refresh_from_db()
        assert job.state == (JobState.FAILED if number % 2 else JobState.SUCCEEDED)
        assert job.exit_status == number % 2
    assert asked[0][1].count("\nlaunch ") == 6
    assert all(script.count("\nask_queue ") == 1 for _node, script in asked)


TRACKED = ("Cancelled; Slurm shows nothing of it any more. Its process tracking "
           "(proctrack/linuxproc) does not hold processes that left the job's tree.")


def test_the_reason_for_waiting_is_shown_and_a_waiting_job_is_cancelled(queue, people):
    first = until(queue("sleep 60", cards=8), lambda job: job.state == JobState.RUNNING)
    second = until(queue("echo never", cards=1), lambda job: "Resources" in shown(job)
                   or "Priority" in shown(job))
    assert second.state == JobState.STARTING
    assert second.started_at is None
    for job in (second, first):
        services.cancel_job(actor=people["consultant"], job=job)
        until(job, ended)
        assert job.state == JobState.CANCELLED
        # One that never began left nothing; the other's tree is followed as its cluster does.
        assert shown(job) == ("Cancelled; nothing of it runs any more." if job == second
                              else TRACKED)
    assert not second.artifacts.exists()


def test_stubborn_processes_are_killed_and_looked_for(queue, people, cluster):
    job = queue("trap '' TERM; setsid sh -c \"trap '' TERM; sleep 98765\" & "
                "while :; do sleep 1; done")
    until(job, lambda job: job.state == JobState.RUNNING and runs("sleep 98765"))
    services.cancel_job(actor=people["consultant"], job=job)
    until(job, ended)
    assert (job.state, shown(job)) == (JobState.CANCELLED, TRACKED)
    assert not runs("sleep 98765")
    assert cluster.ask("squeue", "--noheader", "--name", job.directory_name) == ""


def test_an_answer_that_was_lost_submits_nothing_twice(queue, monkeypatch, cluster):
    """Connections break while sbatch runs; in the end there is one job of that name."""
    job, run, lost = queue("echo once >> $HOME/book"), ssh.run, []

    def breaks(access, script, timeout=60):
        answer = run(access, script, timeout)
        if "start_all" in script and len(lost) < 2:
            lost.append(answer)
            raise ssh.Unreachable("the connection broke")
        return answer

    monkeypatch.setattr(ssh, "run", breaks)
    until(job, ended)
    assert (job.state, len(lost)) == (JobState.SUCCEEDED, 2)
    names = cluster.ask("squeue", "--noheader", "--states=all", "--format=%j").split()
    assert names.count(job.directory_name) == 1


def test_a_claim_whose_answer_never_came_is_looked_up_first(queue, cluster, sshd):
    """The submitter died after sbatch: the next one finds the job by its name."""
    job = queue("echo once >> $HOME/book")
    folder = sshd.home / "desk-jobs" / job.directory_name
    (folder / "work").mkdir(parents=True)
    (folder / "claim.1").write_text("1\n")
    os.utime(folder / "claim.1", (time.time() - 600,) * 2)
    number = cluster.ask("sbatch", "--parsable", f"--job-name={job.directory_name}",
                         "--begin=now+1hour", "--wrap=true").strip()
    until(job, lambda job: stored(job).get("job_id") if "scheduler" in job.results else None)
    assert stored(job)["job_id"] == number
    cluster.ask("scancel", number)
    until(job, ended)
    assert (job.state, stored(job)["state"]) == (JobState.CANCELLED, "CANCELLED")
    assert "not through the desk" in shown(job)


def test_a_job_that_another_cancels_in_slurm_says_so(queue, cluster):
    job = until(queue("echo begun; sleep 300"), lambda job: job.state == JobState.RUNNING)
    cluster.ask("scancel", stored(job)["job_id"])
    until(job, ended)
    assert (job.state, "not through the desk" in shown(job)) == (JobState.CANCELLED, True)
    assert b"begun" in job.artifacts.get(name="log.txt").file.read()


def test_what_slurm_refuses_fails_with_its_words(queue):
    job = until(queue("true", partition="nowhere"), ended)
    assert job.state == JobState.FAILED
    assert "invalid partition specified: nowhere" in shown(job)
    job = until(queue("true", cards=9, partition="npu"), ended)
    assert "Requested node configuration is not available" in shown(job)


def test_the_trial_of_the_log_in_asks_the_scheduler(node, people):
    node_edits.try_login(actor=people["operator"], access=node)
    node.refresh_from_db()
    names = {row["name"]: row["gres"] for row in node.scheduler_facts["partitions"]}
    assert names == {"npu*": "npu:8", "short": "npu:8"}
    assert (node.scheduler_facts["has_accounting"], node.trouble) == (False, "")


def test_slurms_own_time_limit_is_the_reason(queue):
    job = until(queue("echo begun; echo 1 > a.txt; sleep 300", partition="npu", minutes=1), ended,
                150)
    assert (job.state, job.exit_status in (None, 143)) == (JobState.TIMED_OUT, True)
    assert "at Slurm's time limit (TIMEOUT)" in shown(job)
    assert "DUE TO TIME LIMIT" in job.technical_cause
    assert {artifact.name for artifact in job.artifacts.all()} == {"log.txt", "a.txt"}


def test_a_controller_that_is_away_loses_nothing(queue, cluster, node):
    job = until(queue("sleep 6; echo done"), lambda job: job.state == JobState.RUNNING)
    cluster.stop_controller()
    try:
        until(job, lambda job: job.state == JobState.UNKNOWN)
        assert shown(job) == ("The cluster's scheduler does not answer; the job's true state is "
                              "not known.")
        node.refresh_from_db()
        assert (node.trouble, bool(node.unreachable_since)) == ("queue", True)
    finally:
        cluster.start_controller()
    until(job, ended)
    assert job.state == JobState.SUCCEEDED, shown(job)


def test_a_cancel_while_the_controller_is_away_waits_for_it(queue, cluster, people):
    job = until(queue("sleep 5432"), lambda job: job.state == JobState.RUNNING
                and runs("sleep 5432"))
    cluster.stop_controller()
    try:
        services.cancel_job(actor=people["consultant"], job=job)
        until(job, lambda job: job.state == JobState.UNKNOWN)
        assert (job.cancel_requested_at is None, runs("sleep 5432")) == (False, True)
    finally:
        cluster.start_controller()
    until(job, ended, 90)
    assert (job.state, runs("sleep 5432")) == (JobState.CANCELLED, False), shown(job)


def test_a_job_that_is_submitted_while_the_controller_is_away_starts_later(queue, cluster):
    cluster.stop_controller()
    try:
        job = until(queue("echo hello"), lambda job: job.state == JobState.UNKNOWN)
    finally:
        cluster.start_controller()
    until(job, ended)
    assert job.state == JobState.SUCCEEDED, shown(job)


@pytest.fixture
def engine():
    """With a store of its own, below a short path."""
    folder = Path(tempfile.mkdtemp(prefix="podman-"))
    yield podman.engine_in(folder)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.skipif(bool(podman.missing()), reason=podman.missing() or "-")
@pytest.mark.parametrize("place", ["container", "running"])
def test_a_job_in_a_container_runs_and_is_cancelled_inside(queue, node, people, sshd, cluster,
                                                           engine, place):
    image, name = podman.make_image(engine), f"desk-test-{os.getpid()}"
    first, second, third = (f"sleep {os.getpid()}{n}" for n in range(3))  # other tests run, too
    type(node).objects.filter(pk=node.pk).update(
        container_engine=engine, container_options=podman.RUN_OPTIONS)
    options = {"image": image} if place == "container" else {"container": name}
    runtimes.choose_runtime(actor=people["operator"], node=node, runtime=runtimes.save_runtime(
        actor=people["operator"], name=place, place=place, options={**options, "devices": "none"}))
    if place == "running":
        podman.podman("run", "-d", "--name", name, *podman.RUN_OPTIONS.split(), "--network=host",
                      "-v", f"{sshd.home}/desk-jobs:/jobs", image, "sleep", "300", engine=engine)
    try:
        job = until(queue("cat /etc/version > a.txt; echo $ASCEND_RT_VISIBLE_DEVICES", cards=2),
                    ended)
        assert job.state == JobState.SUCCEEDED, (shown(job), job.technical_cause)
        assert job.artifacts.get(name="a.txt").file.read() == b"busybox image\n"
        assert job.artifacts.get(name="log.txt").file.read() == b"0,1\n"
        job = queue(f"trap '' TERM; setsid {first} & touch begun; while :; do sleep 1; done")
        until(job, lambda job: list(sshd.home.glob(f"desk-jobs/{job.directory_name}/work/begun")))
        services.cancel_job(actor=people["consultant"], job=job)
        assert until(job, ended, 90).state == JobState.CANCELLED
        assert not runs(first)
        job = until(queue(f"setsid {second} & touch begun; {third}"), lambda job: list(
            sshd.home.glob(f"desk-jobs/{job.directory_name}/work/begun")) and "scheduler" in
            job.results and stored(job).get("job_id"))
        cluster.ask("scancel", "--signal=KILL", "--full", stored(job)["job_id"])
        assert until(job, ended, 150).state == JobState.CANCELLED
        assert "not through the desk" in shown(job)
        assert not runs(second)
        assert not runs(third)
        if place == "container":  # a next job on the compute node forgets what has ended by then
            def is_forgotten():
                heart = sshd.home / "desk-jobs" / job.directory_name / "heartbeat"
                os.utime(heart, (time.time() - 600,) * 2)
                until(queue("true"), ended)
                return job.directory_name not in podman.podman(
                    "ps", "-a", "--format", "{{.Names}}", engine=engine)

            assert any(is_forgotten() for _attempt in range(3))
    finally:
        podman.podman("rm", "-f", "-t", "0", "--ignore", name, engine=engine)
