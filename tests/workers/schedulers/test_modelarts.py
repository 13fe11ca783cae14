"""Jobs as training jobs of a server that speaks ModelArts' API."""

import pytest

from tests.workers.modelarts_server import SECRET, running_modelarts
from tests.workers.shell_kind import ShellKind
from tests.workers.sshd import USER, can_run, running_sshd
from workers import services
from workers.kinds import base as registry
from workers.models import Job, JobState
from workers.nodes import ssh
from workers.services import node_edits

from .test_slurm import ended, shown, stored, until

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True),
              pytest.mark.skipif(not can_run(), reason="needs sshd")]


@pytest.fixture
def modelarts(tmp_path):
    with running_modelarts(tmp_path) as found:
        yield found


@pytest.fixture
def sshd(tmp_path):
    with running_sshd(tmp_path / "sshd") as server:
        yield server
    ssh.close_all()


@pytest.fixture
def node(people, sshd, modelarts):
    found = services.enrol_node(
        actor=people["operator"], name="cluster", host="127.0.0.1", port=sshd.port, username=USER,
        private_key=sshd.key, scratch_dir=f"{sshd.home}/jobs", scheduler="modelarts",
        scheduler_options=modelarts.options(sshd.home), scheduler_secret=SECRET)
    return services.confirm_host_key(actor=people["operator"], node=found,
                                     fingerprint=ssh.fingerprint(found.offered_host_key))


@pytest.fixture
def queue(monkeypatch, people, engagement, node):
    monkeypatch.setitem(registry._kinds, ShellKind.code, ShellKind())

    def go(script, cards=0, **options) -> Job:
        type(node).objects.filter(pk=node.pk).update(
            scheduler_options={**node.scheduler_options, **options})
        node.refresh_from_db()
        return services.queue_job(actor=people["consultant"], kind="test.shell", node=node,
                                  engagement=engagement,
                                  parameters={"script": script, "cards": cards})

    return go


def runs(job: Job) -> bool:
    return job.state == JobState.RUNNING


def test_a_job_runs_and_its_files_come_back(queue):
    job = until(queue("echo cards $ASCEND_VISIBLE_DEVICES; echo hi > a.txt", cards=2), ended)
    assert (job.state, job.exit_status) == (JobState.SUCCEEDED, 0), (shown(job), job.results)
    assert job.results["cards"] == [0, 1]
    assert (stored(job)["state"], stored(job)["image"]) == ("Completed", "firm/cann:8.0")
    assert stored(job)["accounting"]["given"] == "1 × modelarts.bm.npu.arm.2snt9b"
    assert job.artifacts.get(name="a.txt").file.read() == b"hi\n"
    assert job.artifacts.get(name="log.txt").file.read() == b"cards 0,1\n"


def test_an_answer_that_was_lost_creates_nothing_twice(queue, modelarts, monkeypatch, sshd):
    from workers.schedulers.modelarts import api

    job, lost, ask = queue(f"echo once >> {sshd.home}/book"), [], api.ask

    def breaks(node, method, path, body=None):
        answer = ask(node, method, path, body)
        if path == "training-jobs" and len(lost) < 2:
            lost.append(answer)
            raise api.SchedulerAway("the connection broke")
        return answer

    monkeypatch.setattr(api, "ask", breaks)
    until(job, ended)
    assert (job.state, len(lost), len(modelarts.jobs)) == (JobState.SUCCEEDED, 1, 1), shown(job)
    assert (sshd.home / "book").read_text() == "once\n"


def test_two_jobs_of_one_name_run_the_command_once(queue, modelarts, sshd):
    job = until(queue(f"echo once >> {sshd.home}/book; sleep 2"), runs)
    [made] = modelarts.jobs.values()
    modelarts.create({name: made[name] for name in ("kind", "metadata", "algorithm", "spec")})
    until(job, ended)
    assert job.state == JobState.SUCCEEDED
    assert (sshd.home / "book").read_text() == "once\n"


def test_queue_and_cancellation(queue, people, modelarts):
    jobs = [until(queue("trap '' TERM; while :; do sleep 0.1; done", cards=8), runs)
            for _n in range(2)]
    waiting = until(queue("echo never", cards=1), lambda job: "Pending" in shown(job))
    assert waiting.state == JobState.STARTING
    for job in (waiting, *jobs):
        services.cancel_job(actor=people["consultant"], job=job)
        until(job, ended)
        assert (job.state, shown(job)) == (JobState.CANCELLED,
                                           "Cancelled; nothing of it runs any more.")
    assert {job["status"]["phase"] for job in modelarts.jobs.values()} == {"Terminated"}


def test_a_job_that_somebody_terminates_there_says_so(queue, modelarts):
    job = until(queue("echo begun; sleep 300"), runs)
    modelarts.terminate(stored(job)["job_id"])
    until(job, ended)
    assert (job.state, "not through the desk" in shown(job)) == (JobState.CANCELLED, True)


def test_all_nodes_run_the_command_and_know_their_ranks(queue):
    job = until(queue("echo $NODE_RANK of $NNODES at $MASTER_ADDR > rank-$NODE_RANK.txt; "
                      "while ! [ -f rank-1.txt ]; do sleep 0.1; done", nodes=2), ended)
    assert job.state == JobState.SUCCEEDED, shown(job)
    assert job.artifacts.get(name="rank-1.txt").file.read() == b"1 of 2 at worker-0.example\n"


def test_what_modelarts_refuses_fails_with_its_words(queue):
    job = until(queue("true", flavor="nowhere"), ended)
    assert (job.state, "Invalid flavor_id" in shown(job)) == (JobState.FAILED, True)


def test_a_wrong_secret_is_told(node, people):
    from engagements.errors import InvalidInput

    node_edits.try_login(actor=people["operator"], access=node)
    edited = node_edits.edit_node(actor=people["operator"], node=node, scheduler_secret="wrong")
    with pytest.raises(InvalidInput, match="verify aksk failed"):
        node_edits.try_login(actor=people["operator"], access=edited)
