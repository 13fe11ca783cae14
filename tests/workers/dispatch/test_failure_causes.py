"""Failures as they happen on a node: the job's sentence names the cause, its page leads to it."""

import json
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from workers import services
from workers.dispatch import endings, runner
from workers.logs import diagnosis
from workers.models import Job, JobState
from workers.remote.replies import RemoteState

pytestmark = pytest.mark.django_db(transaction=True)

PORT_TAKEN_TWICE = (
    "import socket; first, second = socket.socket(), socket.socket(); first.bind(('', 0)); "
    "first.listen(); second.bind(first.getsockname())")


@pytest.mark.slow
@pytest.mark.parametrize(("script", "status", "cause", "values"), [
    ("echo ready; npu-smio info", 127, "tool_missing", {"name": "npu-smio"}),
    ("touch run.sh; ./run.sh", 126, "not_executable", {"name": "./run.sh"}),
    ("python3 missing/train.py", 2, "script_missing", None),
    ("python3 -c 'import torch_npu_of_nobody'", 1, "module_missing",
     {"name": "torch_npu_of_nobody"}),
    ("seq 3 > /dev/full", 1, "disk_full", {}),
    ("python3 -c 'bytearray(10 ** 17)'", 1, "host_memory", {}),
    (f'python3 -c "{PORT_TAKEN_TWICE}"', 1, "port_in_use", {}),
    ("kill -9 $$", 137, "killed", {"signal": 9, "name": "SIGKILL"}),
    ("python3 -c 'open(\"/data/iter_10/model_optim_rng.pt\")'", 1, "checkpoint_missing",
     {"path": "/data/iter_10/model_optim_rng.pt"}),
])
def test_sentence_names_the_cause(queue, script, status, cause, values):
    job = runner.drive(queue(script))
    stored = job.results["diagnosis"]
    assert (job.state, stored["cause"]) == (JobState.FAILED, cause)
    assert job.exit_status == status
    assert values in (None, job.message_values)
    assert job.message == stored["headline"]
    assert stored["judged"] == {"message": "status %(status)s",
                                "values": {"status": job.exit_status}}
    assert stored["quote"] in job.technical_cause


@pytest.mark.slow
def test_missing_loss_is_not_the_headline_where_the_cause_is_known(people, node, engagement):
    """A training of a module that is not there, by the kind's own launcher."""
    model = engagement.models.create(code="m1", name="模型")
    job = runner.drive(services.queue_job(
        actor=people["consultant"], kind="adapt.smoke_train", node=node, model=model,
        parameters={"script": "/nowhere/train.py", "cards": 1}))
    assert (job.state, job.results["diagnosis"]["cause"]) == (JobState.FAILED, "script_missing")
    assert job.message_values == {"path": "/nowhere/train.py"}


@pytest.mark.slow
def test_end_of_the_log_is_the_technical_cause_where_no_other_is_known(queue):
    job = runner.drive(queue("seq 30; exit 3"))
    assert (job.message, "diagnosis" in job.results) == ("status %(status)s", False)
    assert job.technical_cause.split() == [str(n) for n in range(19, 31)]


@pytest.mark.slow
def test_command_that_ended_well_keeps_the_sentence_of_its_kind(queue):
    job = runner.drive(queue("exit 0"))
    assert (job.state, "diagnosis" in job.results) == (JobState.SUCCEEDED, False)


def state_of(boot_id: str) -> RemoteState:
    return RemoteState(is_present=True, exit_status=None, process="gone", heartbeat_at=None,
                       node_time=None, size=0, boot_id=boot_id, offset=0, chunk=b"", line="x")


def test_a_restart_is_told_only_with_another_boot_id():
    job = Job(remote={"boot_id": "one"}, timeout_seconds=60)
    assert "did not restart" in endings.lost(state_of("one"), job)["message"]
    assert "restarted while the job ran" in endings.lost(state_of("two"), job)["message"]
    assert "does not tell" in endings.lost(state_of(""), job)["message"]


def test_a_lost_job_has_the_cause_that_its_log_shows():
    """A restart of the node is the cause, whatever the log says before it."""
    job = Job(remote={"boot_id": "one"}, timeout_seconds=60)
    log = "step 1\nModuleNotFoundError: No module named 'apex'\n"
    found = diagnosis.find([diagnosis.Part(log)], None)
    here = endings.lost_for_a_cause(state_of("one"), job, found)
    assert (here["state"], here["message"]) == (JobState.LOST, found.cause.headline)
    assert "did not restart" in here["results"]["diagnosis"]["judged"]["message"]
    restarted = endings.lost_for_a_cause(state_of("two"), job, found)
    assert "restarted while the job ran" in restarted["message"]


# Pages ------------------------------------------------------------------------------

@pytest.fixture
def page(client, people):
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    client.force_login(people["consultant"])

    def get(url):
        answer = client.get(url)
        assert answer.status_code == 200
        return answer.content.decode()

    return get


@pytest.mark.slow
def test_page_quotes_the_line_and_leads_to_it(queue, page):
    job = runner.drive(queue("seq 300; npu-smio info"))
    url = reverse("workers:job_log_lines", args=[job.pk])
    text = page(reverse("workers:job", args=[job.pk]))
    assert f'href="{url}?line=301#L301"' in text
    assert "npu-smio: not found" in text
    assert "status 127" in text
    shown = json.loads(page(f"/api/v1/jobs/{job.pk}/"))["diagnosis"]
    assert (shown["line"], shown["kind_says"]) == (301, "status 127")
    assert shown["remedy"].startswith("Install it on the node")
    lines = page(f"{url}?line=301")
    assert '<span id="L301" class="fw-bold text-red">301  ' in lines
    assert 'id="L201"' in lines
    assert 'id="L200"' not in lines


@pytest.mark.slow
def test_edit_and_run_again_opens_the_form_with_the_jobs_values(queue, page, people, engagement):
    script = "exit 4 # of the first attempt"
    job = runner.drive(queue(script))
    text = page(reverse("workers:job", args=[job.pk]))
    link = (f"{reverse('workers:job_new')}?engagement={engagement.code}&amp;kind=test.shell"
            f"&amp;copy_of={job.pk}")
    assert link in text
    form = page(link.replace("&amp;", "&"))
    assert f'value="{script}"' in form
    assert f'<option value="{job.node_id}" selected>' in form


@pytest.mark.slow
def test_values_of_a_job_of_strangers_are_not_copied(queue, client, stranger, people, engagement):
    job = runner.drive(queue("exit 4 # secret"))
    client.force_login(people["operator"])
    engagement.memberships.filter(user=people["operator"]).delete()
    answer = client.get(reverse("workers:job_new"), {"kind": "test.shell", "copy_of": job.pk})
    assert answer.status_code == 404


# Time limits and absent nodes -------------------------------------------------------

@pytest.mark.slow
def test_a_job_at_its_limit_keeps_the_limit_as_headline_and_tells_the_cause(queue, page):
    """One rank has died, the other waits: the log knows why, and our own stop is not the cause."""
    job = queue("echo 'ModuleNotFoundError: No module named \"apex\"'; "
                "trap 'echo SignalException: got signal: 15; exit 1' TERM; sleep 60 & wait")
    Job.objects.filter(pk=job.pk).update(timeout_seconds=1)
    job = runner.drive(job)
    assert (job.state, job.message) == (
        JobState.TIMED_OUT, "Stopped after its time limit of %(seconds)d s.")
    shown = json.loads(page(f"/api/v1/jobs/{job.pk}/"))["diagnosis"]
    assert (shown["line"], "apex" in shown["kind_says"]) == (1, True)


def limited(**columns) -> str:
    started = timezone.now() - timedelta(seconds=600)
    job = Job(pk=10**9, timeout_seconds=600, started_at=started, **columns)
    found = diagnosis.of_time_limit(job, started + timedelta(seconds=600))
    return found.cause.headline % found.values


def test_a_limit_without_a_cause_tells_silence_or_how_far_the_work_was():
    minutes_ago = timezone.now() - timedelta(minutes=7)
    assert "not grown for 7 minutes" in limited(log_grew_at=minutes_ago)
    assert "come to 40 of 90" in limited(
        log_grew_at=timezone.now(), progress_done=40, progress_total=90)
    assert "no known cause" in limited(log_grew_at=timezone.now())


@pytest.mark.parametrize(("host", "port", "printed"), [
    ("no-such-host.invalid", 22, "cannot be resolved"),
    ("127.0.0.1", 9, "no SSH server listens"),
])
def test_an_absent_node_tells_why_and_what_to_do(queue, node, page, host, port, printed):
    type(node).objects.filter(pk=node.pk).update(host=host, port=port)
    job = queue("echo never")
    runner.advance_while_due(job.pk)
    shown = json.loads(page(f"/api/v1/jobs/{job.pk}/"))
    assert (shown["state"], printed in shown["diagnosis"]["kind_says"]) == ("unknown", True)
    assert shown["diagnosis"]["remedy"]
