"""A cluster in the form, on its page, and what the desk's own queue leaves to it."""

import pytest
from django.utils import timezone
from django.utils.translation import override

from engagements.errors import InvalidInput
from tests.workers.sshd import make_key
from workers import services
from workers.dispatch import transitions
from workers.models import CardLease, Job, JobState, Node
from workers.nodes import ssh
from workers.services import node_edits

pytestmark = pytest.mark.django_db
FIELDS = {"name": "c1", "host": "login.example", "port": 22, "username": "u", "cards_total": 8,
          "ring_size": 4, "scratch_dir": "jobs", "keep_days": 14, "bastion_port": 22,
          "scheduler": "slurm", "scheduler_partition": "npu", "scheduler_gres": "npu",
          "scheduler_nodes": 2, "scheduler_words": "--exclusive"}


@pytest.fixture
def cluster(people, client, monkeypatch, tmp_path):
    make_key(tmp_path / "key")
    monkeypatch.setattr(ssh, "fetch_host_key", lambda node: (tmp_path / "key.pub").read_text())
    client.force_login(people["operator"])
    answer = client.post("/nodes/new/", FIELDS)
    assert answer.status_code == 302, answer.context["form"].errors
    return Node.objects.get(name="c1")


def test_the_form_keeps_the_options_and_refuses_those_of_the_desk(cluster, client):
    assert cluster.scheduler == "slurm"
    assert cluster.scheduler_options == {"partition": "npu", "gres": "npu", "nodes": 2,
                                         "words": "--exclusive"}
    page = client.get(f"/nodes/{cluster.pk}/edit/").content.decode()
    assert 'name="scheduler_words" value="--exclusive"' in page
    refused = client.post(f"/nodes/{cluster.pk}/edit/", {**FIELDS, "scheduler_words": "--array=1"})
    assert "--array=1" in str(refused.context["form"].errors)


def test_its_page_shows_partitions(cluster, client):
    Node.objects.update(scheduler_facts={
        "version": "slurm-wlm 22.05.8", "has_accounting": False, "partitions": [
            {"name": "npu*", "up": "up", "nodes": "2", "state": "idle", "time_limit": "1:00",
             "gres": "npu:910b:8"}]})
    page = client.get(f"/nodes/{cluster.pk}/").content.decode()
    assert "npu:910b:8" in page
    assert "22.05.8" in page
    assert '<h2 class="card-title">NPU' not in page  # which are free the desk does not know
    for list_page in ("/nodes/", "/jobs/queue/"):
        assert "Slurm" in client.get(list_page).content.decode()


@pytest.mark.parametrize(("limit", "refused"), [
    ("5:00", True), ("1-00:00:00", False), ("infinite", False)])
def test_a_time_limit_beyond_the_partition_s_is_refused_before_it_is_submitted(
        people, engagement, limit, refused):
    node = Node.objects.create(
        name="c2", host="127.0.0.1", username="u", state=Node.State.READY, scheduler="slurm",
        cards_total=8, scheduler_options={"partition": "npu"}, scheduler_facts={"partitions": [
            {"name": "debug*", "time_limit": "1:00"}, {"name": "npu", "time_limit": limit}]})
    order = {"actor": people["operator"], "kind": "env.npu_info", "node": node}
    if not refused:
        services.queue_job(**order)
        return
    with override("en"), pytest.raises(InvalidInput, match="partition “npu” allows 5, so"):
        services.queue_job(**order)
    assert not Job.objects.exists()


def test_no_cards_are_leased_on_a_cluster_and_its_scheduler_stays_while_jobs_are_there(
        cluster, people):
    Node.objects.update(state=Node.State.READY)
    job = Job.objects.create(kind="env.npu_info", node=cluster, cards_wanted=64,
                             state=JobState.LEASING, created_by=people["operator"])
    job = Job.objects.select_related("node").get(pk=job.pk)
    assert transitions.step(job)["state"] == JobState.STARTING
    assert not CardLease.objects.exists()
    Job.objects.update(state=JobState.STARTING)
    with pytest.raises(node_edits.WrongState, match="1"):
        node_edits.edit_node(actor=people["operator"], node=cluster, scheduler="")


def test_the_jobs_page_shows_what_slurm_says(cluster, people, client):
    start = int(timezone.now().timestamp()) + 3600
    job = Job.objects.create(
        kind="env.npu_info", node=cluster, state=JobState.STARTING, created_by=people["operator"],
        results={"scheduler": {"job_id": "4711", "state": "PENDING", "reason": "Priority",
                               "expected_start": start}})
    page = client.get(f"/jobs/{job.pk}/").content.decode()
    assert "4711" in page
    assert "PENDING (Priority)" in page


@pytest.mark.parametrize(("scheduler", "options"), [
    ("kubernetes", {"server": "https://10.0.0.1:6443", "image": "registry/cann:8.0",
                    "volumes": "pvc:share:/share\nhost:/models:/models:ro"}),
    ("volcano", {"server": "https://10.0.0.1:6443", "image": "registry/cann:8.0",
                 "volumes": "nfs:10.0.0.9:/export:/share", "nodes": 2, "queue": "npu"}),
    ("modelarts", {"endpoint": "https://modelarts.cn-north-4.myhuaweicloud.com",
                   "project": "0123", "access_key": "AK", "flavor": "npu.{cards}",
                   "ma_image": "firm/cann:8.0", "mounts": "10.0.0.9:/:/share"}),
])
def test_a_cluster_with_an_api_is_added_with_its_own_options_and_a_secret(
        cluster, client, scheduler, options):
    place = f"/nodes/{cluster.pk}/edit/"
    fields = {**FIELDS, "scheduler": scheduler, "scratch_dir": "/share/jobs", **{
        f"scheduler_{name}": value for name, value in options.items()}}
    if "nodes" not in options:
        fields["scheduler_nodes"] = ""
    refused = client.post(place, fields)
    assert "secret of the cluster" in str(refused.context["form"].errors) or (
        "集群密钥" in str(refused.context["form"].errors))
    refused = client.post(place, {**fields, "scheduler_secret": "token", "scratch_dir": "/else"})
    assert "/else" in str(refused.context["form"].errors)
    assert client.post(place, {**fields, "scheduler_secret": "the-token"}).status_code == 302
    cluster.refresh_from_db()
    assert (cluster.scheduler, cluster.scheduler_secret) == (scheduler, "the-token")
    assert cluster.scheduler_options == options
    for page in (place, f"/nodes/{cluster.pk}/"):
        assert "the-token" not in client.get(page).content.decode()


def test_volumes_and_tolerations_are_read_as_written():
    from workers.schedulers.pods import volumes
    from workers.schedulers.pods.pod_options import tolerations

    [claim, share] = volumes.parsed("pvc:a:/a\nnfs:10.0.0.9:/export:/b:ro")
    assert (claim.source, claim.path, claim.is_read_only) == (
        {"persistentVolumeClaim": {"claimName": "a"}}, "/a", False)
    assert (share.source, share.path, share.is_read_only) == (
        {"nfs": {"server": "10.0.0.9", "path": "/export"}}, "/b", True)
    for wrong in ("pvc:a", "host:/a:b", "nfs:a:/b", "x:/a:/b", "pvc:a:/a/../etc"):
        with pytest.raises(ValueError, match=r"pvc|卷"):
            volumes.parsed(wrong)
    assert tolerations("npu=only:NoSchedule,gone:NoExecute,any") == [
        {"key": "npu", "operator": "Equal", "value": "only", "effect": "NoSchedule"},
        {"key": "gone", "operator": "Exists", "effect": "NoExecute"},
        {"key": "any", "operator": "Exists"}]


def test_an_option_means_the_same_for_all_kinds_that_have_it():
    from workers.schedulers import KINDS

    declared = {}
    for kind in KINDS.values():
        for option in kind.options:
            assert declared.setdefault(option.name, option) is option


def test_a_cluster_of_containers_takes_an_image_and_nothing_of_an_engine():
    from engagements.errors import InvalidInput
    from workers.runtimes.chosen import Chosen
    from workers.services.job_checks import require_possible_runtime

    node = Node(name="c1", scheduler="kubernetes")
    require_possible_runtime(node, Chosen("container", {"image": "cann:8.0", "shm_gb": 8}))
    require_possible_runtime(node, Chosen("host", {"scripts": ["/set_env.sh"]}))
    for place, options in (("running", {"container": "c"}),
                           ("container", {"image": "cann", "entry_point": "/bin/x"}),
                           ("container", {"image": "cann", "run_options": "--privileged"})):
        with pytest.raises(InvalidInput, match="c1"):
            require_possible_runtime(node, Chosen(place, options))
        require_possible_runtime(Node(name="n", scheduler="slurm"), Chosen(place, options))


def test_what_a_pod_is_made_of():
    from workers.schedulers.pods import manifests

    node = Node(scheduler="volcano", scratch_dir="/share/jobs", scheduler_options={
        "image": "node:1", "volumes": "pvc:share:/share", "cpu": "8", "nodes": 2,
        "tolerations": "npu=only:NoSchedule", "selector": "host-arch=huawei-arm",
        "run_as": "1000:100", "labels": "ring-controller.atlas=ascend-910b"})
    job = Job(pk=3, node=node, cards_wanted=4, timeout_seconds=3600, token="aa", runtime={
        "place": "container", "options": {"image": "own:2", "shm_gb": 16, "network": "host",
                                          "mounts": ["/models:/models:ro"]}})
    made = manifests.volcano_job(job)
    assert made["metadata"]["labels"]["delivery-desk/job"] == "3"
    assert (made["spec"]["minAvailable"], made["spec"]["tasks"][0]["replicas"]) == (2, 2)
    pod = made["spec"]["tasks"][0]["template"]["spec"]
    [container] = pod["containers"]
    assert (container["image"], pod["hostNetwork"], pod["securityContext"]) == (
        "own:2", True, {"runAsUser": 1000, "runAsGroup": 100})
    assert container["resources"]["limits"] == {"cpu": "8", "huawei.com/Ascend910": "4"}
    assert [(each["mountPath"], each.get("readOnly", False)) for each in
            container["volumeMounts"]] == [("/share", False), ("/models", True),
                                           ("/dev/shm", False)]
    assert pod["activeDeadlineSeconds"] == 3900
    assert any(each.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath")
               == "metadata.annotations['huawei.com/Ascend910']" for each in container["env"])
