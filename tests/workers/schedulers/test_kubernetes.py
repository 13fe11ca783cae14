"""Jobs as pods of a cluster that speaks Kubernetes' API; their folders behind a real sshd."""

import time

import pytest
from django.core.files.base import ContentFile
from django.utils.translation import override

from tests.ports import free_port
from tests.workers.kubernetes_cluster import IMAGE, FakeKubernetes
from tests.workers.shell_kind import InputKind, ShellKind
from tests.workers.sshd import USER, can_run, running_sshd
from workers import services
from workers.artifacts.artifact_store import store_file
from workers.kinds import base as registry
from workers.models import CardLease, Job, JobState
from workers.nodes import ssh
from workers.schedulers.pods import manifests
from workers.services import node_edits, runtimes

from .test_slurm import ended, stored, until

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True),
              pytest.mark.skipif(not can_run(), reason="needs sshd")]
BOTH = pytest.mark.parametrize("scheduler", ["kubernetes", "volcano"], indirect=True)
KUBERNETES = pytest.mark.parametrize("scheduler", ["kubernetes"], indirect=True)
VOLCANO = pytest.mark.parametrize("scheduler", ["volcano"], indirect=True)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    found = FakeKubernetes(tmp_path_factory.mktemp("kubernetes") / "server", free_port()).start()
    yield found
    found.stop()


@pytest.fixture
def sshd(tmp_path):
    with running_sshd(tmp_path / "sshd") as server:
        yield server
    ssh.close_all()


@pytest.fixture
def scheduler(request):
    return request.param


@pytest.fixture
def node(people, sshd, cluster, scheduler):
    found = services.enrol_node(
        actor=people["operator"], name="cluster", host="127.0.0.1", port=sshd.port, username=USER,
        private_key=sshd.key, scratch_dir=f"{sshd.home}/jobs", scheduler=scheduler,
        scheduler_options=cluster.options(sshd.home), scheduler_secret=cluster.token)
    return services.confirm_host_key(actor=people["operator"], node=found,
                                     fingerprint=ssh.fingerprint(found.offered_host_key))


@pytest.fixture
def queue(monkeypatch, people, engagement, node):
    monkeypatch.setitem(registry._kinds, ShellKind.code, ShellKind())

    def go(script, cards=0, runtime=None, **options) -> Job:
        node.refresh_from_db()
        type(node).objects.filter(pk=node.pk).update(
            scheduler_options={**node.scheduler_options, **options})
        node.refresh_from_db()
        return services.queue_job(
            actor=people["consultant"], kind="test.shell", node=node, engagement=engagement,
            runtime=runtime, parameters={"script": script, "cards": cards})

    return go


def runs(job: Job) -> bool:
    return job.state == JobState.RUNNING


def shown(job: Job) -> str:
    with override("en"):
        return job.sentence


@BOTH
def test_a_job_runs_with_cards_that_the_cluster_chose(queue, scheduler):
    job = until(queue("echo cards $ASCEND_VISIBLE_DEVICES on $DESK_POD_NODE; echo hi > a.txt",
                      cards=2), ended)
    assert (job.state, job.exit_status) == (JobState.SUCCEEDED, 0), (shown(job), job.results)
    assert job.results["cards"] == stored(job)["cards"] == [0, 1]
    assert stored(job)["cards_source"] == "ASCEND_VISIBLE_DEVICES"
    assert stored(job)["nodes"] == "worker-0"
    assert stored(job)["accounting"]["given"] == "huawei.com/Ascend910=2"
    assert stored(job)["image"] == IMAGE
    assert not CardLease.objects.exists()
    assert job.artifacts.get(name="a.txt").file.read() == b"hi\n"
    given = "Ascend910-0,Ascend910-1" if scheduler == "volcano" else "0,1"
    assert job.artifacts.get(name="log.txt").file.read().decode() == (
        f"cards {given} on worker-0\n")


@BOTH
def test_a_stored_file_is_brought_to_the_volume(monkeypatch, people, engagement, node):
    monkeypatch.setitem(registry._kinds, InputKind.code, InputKind())
    weights = store_file(stream=ContentFile(b"weights"), name="w.bin", engagement=engagement)
    job = until(services.queue_job(
        actor=people["consultant"], kind=InputKind.code, node=node, engagement=engagement,
        parameters={"script": 'cat "$1" > out.txt', "data": f"desk:file/{weights.pk}"}), ended)
    assert job.state == JobState.SUCCEEDED, shown(job)
    assert job.artifacts.get(name="out.txt").file.read() == b"weights"
    assert job.inputs.get().way == "copied"


@KUBERNETES
def test_an_exit_status_is_the_commands(queue):
    job = until(queue("echo broken; exit 3"), ended)
    assert (job.state, job.exit_status) == (JobState.FAILED, 3)
    assert "left_behind" not in job.results


@BOTH
def test_an_answer_that_was_lost_submits_nothing_twice(queue, cluster, monkeypatch, sshd):
    """The server has made the job, and the desk never hears of it."""
    job, lost = queue(f"echo once >> {sshd.home}/book"), []
    from workers.schedulers.pods import api

    ask = api.ask

    def breaks(call, *arguments, **options):
        answer = ask(call, *arguments, **options)
        if "create" in call.__name__ and len(lost) < 2:
            lost.append(answer)
            raise api.SchedulerAway("the connection broke")
        return answer

    monkeypatch.setattr(api, "ask", breaks)
    until(job, ended)
    assert job.state == JobState.SUCCEEDED, shown(job)
    assert lost
    assert cluster.ask("_test/none")["jobs"].count(job.directory_name) == 1
    assert (sshd.home / "book").read_text() == "once\n"


@BOTH
def test_the_reason_for_waiting_is_shown_and_a_waiting_job_is_cancelled(queue, people, cluster):
    first = until(queue("sleep 60", cards=8), runs)
    second = until(queue("sleep 60", cards=8), runs)
    third = until(queue("echo never", cards=1), lambda job: "Insufficient" in shown(job))
    assert (third.state, third.started_at) == (JobState.STARTING, None)
    assert "2 Insufficient huawei.com/Ascend910" in shown(third)
    for job in (third, second, first):
        services.cancel_job(actor=people["consultant"], job=job)
        until(job, ended)
        assert (job.state, shown(job)) == (JobState.CANCELLED,
                                           "Cancelled; nothing of it runs any more.")
        _until_gone(cluster, job)


def _until_gone(cluster, job) -> None:
    """The Job itself follows its last pod."""
    deadline = time.monotonic() + 60
    while job.directory_name in cluster.ask("_test/none")["jobs"]:
        assert time.monotonic() < deadline
        time.sleep(0.1)


@BOTH
def test_stubborn_processes_are_killed_and_gone(queue, people, sshd):
    job = queue(f"trap '' TERM; echo begun; while :; do date > {sshd.home}/beat; sleep 0.1; done")
    until(job, lambda job: runs(job) and (sshd.home / "beat").exists())
    begun = time.monotonic()
    services.cancel_job(actor=people["consultant"], job=job)
    until(job, ended)
    assert (job.state, shown(job)) == (JobState.CANCELLED,
                                       "Cancelled; nothing of it runs any more.")
    assert time.monotonic() - begun < 25  # not the pod's own half minute
    (sshd.home / "beat").unlink()
    time.sleep(0.4)
    assert not (sshd.home / "beat").exists()
    assert b"begun" in job.artifacts.get(name="log.txt").file.read()


@KUBERNETES
def test_a_command_that_listens_ends_by_term(queue, people, sshd):
    job = queue("trap 'echo told; exit 9' TERM; touch begun; while :; do sleep 0.1; done")
    until(job, lambda job: runs(job) and list(
        sshd.home.glob(f"jobs/{job.directory_name}/work/begun")))
    services.cancel_job(actor=people["consultant"], job=job)
    until(job, ended)
    assert (job.state, job.exit_status) == (JobState.CANCELLED, 9)
    assert b"told" in job.artifacts.get(name="log.txt").file.read()


@KUBERNETES
def test_an_image_that_cannot_be_pulled_is_told_and_comes_later(queue, cluster, people):
    missing = IMAGE.replace("cann@", "other@")
    own = runtimes.save_runtime(actor=people["operator"], name="other", place="container",
                                options={"image": missing, "shm_gb": 1})
    job = until(queue("echo hello", runtime=own), lambda job: "ImagePullBackOff" in shown(job))
    assert missing in shown(job)
    cluster.ask("_test/image/other")
    until(job, ended)
    assert (job.state, stored(job)["image"]) == (JobState.SUCCEEDED, missing)


@KUBERNETES
def test_a_volume_that_is_missing_is_told(queue, people, sshd):
    job = queue("true", volumes=f"pvc:elsewhere:{sshd.home}")
    until(job, lambda job: "FailedMount" in shown(job))
    assert 'persistentvolumeclaim "elsewhere" not found' in shown(job)
    services.cancel_job(actor=people["consultant"], job=job)
    assert until(job, ended).state == JobState.CANCELLED


@BOTH
@pytest.mark.parametrize(("what", "state", "words"), [
    ("oom", JobState.FAILED, "took more memory than it was given"),
    ("evicted", JobState.FAILED, "The compute node evicted it (worker-0, Evicted)"),
    ("lost", JobState.LOST, "The compute node was lost while it ran"),
])
def test_how_the_cluster_ended_it_is_the_reason(queue, cluster, what, state, words):
    job = until(queue("echo begun; echo 1 > a.txt; sleep 300"), runs)
    until(job, lambda job: job.log_offset > 0)
    cluster.suffer(job, what) if what != "lost" else _meanwhile(cluster, job, what)
    until(job, ended, 90)
    assert (job.state, words in shown(job)) == (state, True), shown(job)
    assert {artifact.name for artifact in job.artifacts.all()} == {"log.txt", "a.txt"}


def _meanwhile(cluster, job, what) -> None:
    import threading

    threading.Thread(target=cluster.suffer, args=[job, what]).start()


@KUBERNETES
def test_a_job_that_somebody_deletes_in_the_cluster_is_lost(queue, cluster):
    job = until(queue("echo begun; sleep 300"), runs)
    cluster.suffer(job, "oom")
    cluster.ask(f"_test/drop/{job.directory_name}")
    until(job, ended, 120)
    assert (job.state, "not through the desk" in shown(job)) == (JobState.LOST, True)


@KUBERNETES
def test_the_clusters_own_time_limit_is_the_reason(queue):
    job = until(queue("echo begun; sleep 300", minutes=1), ended)
    assert (job.state, shown(job)) == (
        JobState.TIMED_OUT, "Kubernetes ended it at the pod's time limit (DeadlineExceeded).")


@VOLCANO
def test_all_pods_of_a_job_start_together_and_know_their_ranks(queue, sshd):
    job = until(queue('echo rank $NODE_RANK of $NNODES at $MASTER_ADDR > rank-$NODE_RANK.txt; '
                      'while ! [ -f rank-0.txt ] || ! [ -f rank-1.txt ]; do sleep 0.1; done',
                      cards=8, nodes=2), ended)
    assert job.state == JobState.SUCCEEDED, (shown(job), job.technical_cause)
    assert stored(job)["nodes"] == "worker-0,worker-1"
    meeting = f"{job.directory_name}-node-0.{job.directory_name}"
    for rank in range(2):
        assert job.artifacts.get(name=f"rank-{rank}.txt").file.read().decode() == (
            f"rank {rank} of 2 at {meeting}\n")


@VOLCANO
def test_pods_start_all_or_none(queue, people):
    first = until(queue("sleep 60", cards=8, nodes=1), runs)
    both = until(queue("echo never", cards=8, nodes=2), lambda job: "Insufficient" in shown(job))
    for job in (both, first):
        services.cancel_job(actor=people["consultant"], job=job)
        until(job, ended)


@KUBERNETES
def test_a_server_that_is_away_loses_nothing(queue, cluster, node):
    job = until(queue("sleep 4; echo done"), runs)
    cluster.process.send_signal(19)  # STOP
    try:
        until(job, lambda job: job.state == JobState.UNKNOWN)
        assert shown(job) == ("The cluster's scheduler does not answer; the job's true state is "
                              "not known.")
    finally:
        cluster.process.send_signal(18)
    until(job, ended)
    assert job.state == JobState.SUCCEEDED, shown(job)


@KUBERNETES
def test_what_the_cluster_refuses_fails_with_its_words(queue, monkeypatch):
    monkeypatch.setattr(manifests, "CONTAINER", {"no": "name"})
    job = until(queue("true"), ended)
    assert (job.state, "refused the job" in shown(job)) == (JobState.FAILED, True)


@BOTH
def test_the_trial_of_the_log_in_asks_the_cluster(node, people):
    node_edits.try_login(actor=people["operator"], access=node)
    node.refresh_from_db()
    assert node.scheduler_facts["version"] == "v1.36.0"
    assert {row["name"]: row["gres"] for row in node.scheduler_facts["partitions"]} == {
        "worker-0": "huawei.com/Ascend910=8", "worker-1": "huawei.com/Ascend910=8"}


@KUBERNETES
def test_a_wrong_token_and_a_foreign_authority_are_told(node, people, cluster, tmp_path):
    from engagements.errors import InvalidInput

    edited = node_edits.edit_node(actor=people["operator"], node=node, scheduler_secret="wrong")
    with pytest.raises(InvalidInput, match="401"):
        node_edits.try_login(actor=people["operator"], access=edited)
    other = FakeKubernetes(tmp_path / "other", cluster.port)
    edited = node_edits.edit_node(
        actor=people["operator"], node=node, scheduler_secret=cluster.token,
        scheduler_options={**node.scheduler_options, "authority": other.authority})
    with pytest.raises(InvalidInput, match="CERTIFICATE_VERIFY_FAILED"):
        node_edits.try_login(actor=people["operator"], access=edited)
