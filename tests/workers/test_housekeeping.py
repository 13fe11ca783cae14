"""Job folders go when their time is over and their files are proven stored, not before."""

import os
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from workers import services
from workers.collecting import content_store
from workers.dispatch import housekeeping, runner
from workers.models import Artifact, Job

pytestmark = pytest.mark.django_db(transaction=True)


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
    assert (housekeeping.keep_house(), housekeeping.keep_house()) == (1, 0)
    assert not work.exists()
    node.refresh_from_db()
    assert node.scratch_free_mb > 0


def test_folder_stays_while_a_stored_file_is_damaged(old_job, work):
    path = Path(old_job.artifacts.first().file.path)
    path.write_bytes(path.read_bytes() + b"x")
    assert housekeeping.keep_house() == 0
    assert work.exists()


def test_young_folder_stays(old_job, work):
    Job.objects.filter(pk=old_job.pk).update(finished_at=timezone.now())
    assert housekeeping.keep_house() == 0
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
