"""A job whose kind is no longer registered: it can be looked at, it ends, it is not repeated."""

import pytest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import override

from engagements.errors import InvalidInput
from tests.workers.shell_kind import ShellKind
from workers import services
from workers.dispatch import node_polling, runner
from workers.kinds import base as registry
from workers.models import Job, JobState

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def queue(monkeypatch, people, node, engagement):
    """Queues a job of a kind that `forget` removes."""
    monkeypatch.setitem(registry._kinds, ShellKind.code, ShellKind())

    def go(script="true", **parameters):
        return services.queue_job(actor=people["consultant"], kind=ShellKind.code, node=node,
                                  engagement=engagement,
                                  parameters={"script": script, **parameters})

    return go


@pytest.fixture
def forget(monkeypatch):
    return lambda: monkeypatch.delitem(registry._kinds, ShellKind.code)


@pytest.mark.slow
def test_pages_and_api_show_what_is_known(queue, forget, client, people, node, engagement):
    ended, waiting = runner.drive(queue("echo told; exit 3")), queue(cards=1)
    Job.objects.filter(pk=waiting.pk).update(next_step_at=timezone.now().replace(year=2099))
    forget()
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    client.force_login(people["administrator"])
    page = client.get(reverse("workers:job", args=[ended.pk])).content.decode()
    assert "does not know the job kind “test.shell”" in page
    assert "told" in page
    assert reverse("workers:job_retry", args=[ended.pk]) not in page
    for url in (reverse("workers:job", args=[waiting.pk]), reverse("workers:jobs"),
                reverse("workers:queue"), reverse("workers:node", args=[node.pk]),
                reverse("engagements:engagement", args=[engagement.code]),
                "/api/v1/jobs/", f"/api/v1/jobs/{ended.pk}/"):
        assert client.get(url).status_code == 200, url


@pytest.mark.slow
def test_retry_is_refused_with_a_sentence(queue, forget, people, client):
    job = runner.drive(queue("exit 3"))
    forget()
    with override("en"), pytest.raises(InvalidInput, match=r"no job kind “test\.shell”"):
        services.retry_job(actor=people["consultant"], job=job)
    client.force_login(people["consultant"])
    assert client.post(f"/api/v1/jobs/{job.pk}/retry/").status_code == 400
    assert Job.objects.count() == 1


@pytest.mark.slow
def test_waiting_job_ends_and_those_of_its_node_go_on(queue, forget, people, node):
    gone = queue()
    forget()
    other = services.queue_job(actor=people["operator"], kind="env.npu_info", node=node)
    node_polling.poll_nodes([node.pk])
    gone.refresh_from_db()
    with override("en"):
        assert (gone.state, "neither started nor judged" in gone.sentence) == (
            JobState.FAILED, True)
    assert runner.drive(other).state == JobState.SUCCEEDED


@pytest.mark.slow
def test_running_job_is_followed_to_its_end_and_keeps_its_log(queue, forget, tmp_path):
    go_on = tmp_path / "go-on"
    job = queue(f"echo begun; until test -e {go_on}; do sleep 0.05; done; echo ended", cards=1)
    while job.state != JobState.RUNNING:
        runner.advance_while_due(job.pk)
        job.refresh_from_db()
    forget()
    go_on.touch()
    job = runner.drive(job)
    assert (job.state, job.exit_status, job.leases.filter(released_at=None).exists()) == (
        JobState.FAILED, 0, False)
    assert job.artifacts.get(name="log.txt").file.read() == b"begun\nended\n"
