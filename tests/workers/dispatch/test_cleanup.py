"""Job folders go when their time is over and their files are proven stored, not before."""

import os
from datetime import timedelta
from pathlib import Path

import pytest
from django.urls import reverse
from django.utils import timezone

from workers import services
from workers.artifacts import content_store
from workers.dispatch import cleanup, runner
from workers.logs import live_log, search
from workers.models import Artifact, Job

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def old_job(people, node):
    job = runner.drive(services.queue_job(
        actor=people["operator"], kind="env.npu_info", node=node))
    Job.objects.filter(pk=job.pk).update(finished_at=timezone.now() - timedelta(days=20))
    return job


@pytest.fixture
def work(old_job, ssh_server) -> Path:
    return ssh_server.root / "home" / "desk-jobs" / old_job.directory_name / "log"


def test_old_folder_is_removed_once(old_job, work, node):
    assert work.exists()
    assert (cleanup.keep_house(), cleanup.keep_house()) == (1, 0)
    assert not work.exists()
    node.refresh_from_db()
    assert node.scratch_free_mb > 0


def test_folder_stays_while_a_stored_file_is_damaged(old_job, work):
    path = Path(old_job.artifacts.first().file.path)
    path.write_bytes(path.read_bytes() + b"x")
    assert cleanup.keep_house() == 0
    assert work.exists()


def test_young_folder_stays(old_job, work):
    Job.objects.filter(pk=old_job.pk).update(finished_at=timezone.now())
    assert cleanup.keep_house() == 0
    assert work.exists()


def test_half_fetched_files_are_removed_after_a_day(settings):
    storage = Artifact._meta.get_field("file").storage
    folder = Path(content_store.temporary_file(storage).name).parent
    young, old = folder / "part-young", folder / "part-old"
    for file in (young, old):
        file.touch()
    os.utime(old, (0, 0))
    assert content_store.remove_forgotten(storage) == 1
    assert (young.exists(), old.exists()) == (True, False)


def test_log_is_kept_once_and_read_from_there(old_job, client, people):
    live = live_log.path(old_job)
    text = live.read_bytes()
    assert cleanup.remove_live_logs() == 1
    assert not live.exists()
    assert b"".join(live_log.pieces(old_job)) == text
    assert live_log.read(old_job)[0].encode() == text
    found = search.last_before(old_job, len(text), "npu")
    assert found["line"].encode() in text
    client.force_login(people["operator"])
    answer = client.get(reverse("workers:job_log_file", args=[old_job.pk]))
    assert b"".join(answer.streaming_content) == text


def test_log_stays_while_its_stored_file_is_damaged(old_job):
    path = Path(old_job.artifacts.get(name="log.txt").file.path)
    path.write_bytes(path.read_bytes()[:-1])
    assert cleanup.remove_live_logs() == 0
    assert live_log.path(old_job).exists()


def test_worker_that_was_away_does_not_change_a_stored_log(old_job):
    text = live_log.path(old_job).read_bytes()
    cleanup.remove_live_logs()
    live_log.write_at(live_log.path(old_job), 3, b"too late")
    assert b"".join(live_log.pieces(old_job)) == text
