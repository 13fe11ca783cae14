"""Pages of a file and of a job name the cause and the findings that were read."""

from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from engagements.models import Role
from workers import services
from workers.models import Job, JobState

SAMPLES = Path(__file__).parents[1] / "samples" / "failures"

pytestmark = pytest.mark.django_db


@pytest.fixture
def page(client, people):
    client.force_login(people[Role.CONSULTANT])

    def get(name, pk):
        answer = client.get(reverse(name, args=[pk]))
        assert answer.status_code == 200
        return answer.content.decode()

    return get


def test_the_page_of_a_log_names_the_cause_in_chinese(page, people, engagement):
    content = (SAMPLES / "ee1002_507046.txt").read_bytes()
    artifact = services.upload_artifact(actor=people[Role.CONSULTANT], engagement=engagement,
                                        upload=SimpleUploadedFile("run.txt", content))
    text = page("workers:artifact", artifact.pk)
    assert "stream 同步超时（EE1002）：多为某个 rank 在等待其他 rank。" in text
    assert "故障类别: 集群 · CANN 8.5-9.1" in text
    assert "ddp_timeout" in text
    assert "A stream did not end in time" not in text


def test_the_page_of_a_job_lists_its_findings(page, people, engagement):
    job = Job.objects.create(
        kind="adapt.auto_patch_check", engagement=engagement, state=JobState.FAILED,
        created_by=people[Role.CONSULTANT], finished_at=timezone.now(), results={"findings": [
            {"severity": "block", "rule": "R-SCR-06", "file": "train.py", "line": 3,
             "text": "from amp_C import x"}]})
    text = page("workers:job", job.pk)
    assert "train.py:3" in text
    assert "from amp_C import x" in text
    assert f"{reverse('workers:rules')}#R-SCR-06" in text
