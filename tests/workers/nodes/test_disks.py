"""Disks of nodes: limits, forecast, what fills them, and clean-up by rule."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone, translation

from engagements.errors import NotAllowed
from engagements.models import AuditEntry, Role
from workers import services
from workers.dispatch import disks, runner, steps
from workers.models import Artifact, DiskSample, Job, Node
from workers.nodes.conditions import condition_of
from workers.services import node_disks

pytestmark = pytest.mark.slow

DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def english():
    with translation.override("en"):
        yield


def sampled(node: Node, free: list[int], step: timedelta = DAY) -> Node:
    """The node after looks at its disk, the last of them now."""
    now = timezone.now()
    DiskSample.objects.bulk_create(
        DiskSample(node=node, at=now - step * back, used_mb=0, free_mb=mb)
        for back, mb in zip(reversed(range(len(free))), free, strict=True))
    node.scratch_free_mb, node.scratch_used_mb = free[-1], 900
    node.disk_full_at = disks.full_at(node, now)
    node.save()
    return node


@pytest.mark.django_db
@pytest.mark.parametrize(("free", "step", "days", "sentence"), [
    ([70_100 - 10_000 * n for n in range(7)], DAY, 1, "full in about 1 day"),
    ([90_100 - 1000 * n for n in range(7)], DAY, 84, "full in about 84 days"),
    ([50_000] * 7, DAY, None, "does not fill at present"),
    ([90_000 - 1000 * n for n in range(4)], DAY, None, "not known"),
    ([90_000 - 1000 * n for n in range(7)], timedelta(minutes=5), None, "not known"),
    ([50] * 7, DAY, None, "disk is full"),
])
def test_a_forecast_rests_on_samples_or_says_that_nobody_knows(node, free, step, days, sentence):
    node = sampled(node, free, step)
    found = node.disk_full_at and round((node.disk_full_at - timezone.now()) / DAY)
    assert found == days
    assert sentence in disks.forecast_sentence(node, timezone.now())


@pytest.mark.django_db
def test_limits_are_the_node_s_own_or_those_of_the_settings(node, settings):
    settings.DISK_WARNING_MB, settings.DISK_STOP_MB = 5000, 200
    node.scratch_free_mb = 1000
    assert (node.disk_limits, condition_of(node, timezone.now()).worst.word) == (
        (5000, 200), "Little disk space")
    node.disk_warning_mb, node.disk_stop_mb = 2000, 1500
    assert (node.is_full, node.is_ready) == (True, False)
    assert condition_of(node, timezone.now()).obstacle.word == "Disk full"


@pytest.mark.django_db
def test_a_job_waits_for_a_full_disk_and_every_page_says_so(node, people, client):
    Node.objects.filter(pk=node.pk).update(scratch_free_mb=12, disk_stop_mb=100, cards_total=8)
    job = services.queue_job(actor=people["operator"], kind="env.npu_info", node=node)
    job = Job.objects.get(pk=job.pk)
    Job.objects.filter(pk=job.pk).update(**steps.lease(job))
    assert "12 MB free; below 100 MB no job starts" in Job.objects.get(pk=job.pk).sentence
    client.force_login(people["operator"])
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    urls = [reverse("workers:job", args=[job.pk]), reverse("workers:queue"),
            reverse("workers:nodes"), reverse("workers:node", args=[node.pk]),
            reverse("workers:node_disk", args=[node.pk])]
    pages = [client.get(url).content.decode() for url in urls]
    assert ["isk full" in page or "disk of the node is full" in page for page in pages] == [
        True] * len(urls)
    told = client.get(f"/api/v1/jobs/{job.pk}/waiting/").json()
    assert "below 100 MB no job starts" in str(told)


@pytest.fixture
def ended(people, node):
    """Two jobs that ended twenty days ago."""
    jobs = [runner.drive(services.queue_job(actor=people["operator"], kind="env.npu_info",
                                            node=node)) for _ in range(2)]
    Job.objects.update(finished_at=timezone.now() - 20 * DAY)
    return [Job.objects.get(pk=job.pk) for job in jobs]


@pytest.mark.django_db(transaction=True)
def test_what_fills_a_disk_is_told_by_engagement(node, people, ended, engagement, ssh_server):
    work = ssh_server.root / "home" / "desk-jobs" / ended[0].directory_name / "work"
    (work / "big").write_bytes(b"x" * 3_000_000)
    Job.objects.filter(pk=ended[0].pk).update(engagement=engagement)
    node_disks.measure_disk(actor=people["operator"], node=node)
    node.refresh_from_db()
    rows = disks.contents(node, people["operator"])
    assert [(row["name"], row["jobs"]) for row in rows[:2]] == [
        (engagement.code, 1), ("no project", 1)]
    assert 2.8 < rows[0]["mb"] < 3.2
    assert DiskSample.objects.get(node=node).free_mb == node.scratch_free_mb > 0


@pytest.mark.django_db(transaction=True)
def test_a_dry_run_names_what_goes_and_the_button_removes_that(
        node, people, ended, ssh_server, client):
    ended[0].artifacts.filter(name="log.txt").update(sha256="0" * 64)
    kept = list(ended[1].artifacts.all())
    client.force_login(people["operator"])
    asked, url = {"days": 14}, reverse("workers:node_disk", args=[node.pk])
    rows = client.get(url, asked).context["rows"]
    assert [(row["job"], bool(row["why_kept"])) for row in rows] == [
        (ended[0], True), (ended[1], False)]
    folders = [ssh_server.root / "home" / "desk-jobs" / job.directory_name / "log"
               for job in ended]
    assert [folder.exists() for folder in folders] == [True, True]
    ended[1].artifacts.all().delete()
    shown = client.get(url, asked, headers={"accept-language": "en"})
    assert "nothing of it is stored" in shown.context["rows"][1]["why_kept"]
    Artifact.objects.bulk_create(kept)
    assert client.get(url, {"days": 30}).context["rows"] == []
    client.post(reverse("workers:node_clean_up", args=[node.pk]), asked)
    assert [folder.exists() for folder in folders] == [True, False]
    entry = AuditEntry.objects.get(action="node.clean_up")
    assert (entry.data["jobs"], entry.data["days"]) == ([ended[1].pk], 14)


@pytest.mark.django_db(transaction=True)
def test_the_api_cleans_up_only_when_told_that_it_is_no_dry_run(node, people, ended, client):
    client.force_login(people["operator"])
    url = f"/api/v1/nodes/{node.pk}/disk/clean-up/"
    for is_dry, removed in ((True, 0), (False, 2)):
        rows = client.post(url, {"days": 1, "dry_run": is_dry}, "application/json").json()
        assert [row["job"] for row in rows] == [job.pk for job in ended]
        assert Job.objects.exclude(folder_removed_at=None).count() == removed
    assert client.get(f"/api/v1/nodes/{node.pk}/disk/").json()["is_full"] is False


@pytest.mark.django_db
def test_only_operators_clean_up(node, people):
    with pytest.raises(NotAllowed):
        node_disks.clean_up(actor=people[Role.CONSULTANT], node=node, rule=disks.Rule(1))
