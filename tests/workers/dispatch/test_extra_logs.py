"""Further logs of a job over OpenSSH's own server: several, rotated, emptied, with losses."""

import time

import pytest

from tests.workers.shell_kind import ShellKind
from tests.workers.sshd import USER, can_run, running_sshd
from workers import services
from workers.dispatch import extra_logs, node_polling, runner
from workers.kinds import Parameter
from workers.kinds import base as registry
from workers.logs import live_log, progress
from workers.models import Job, JobState
from workers.nodes import ssh

pytestmark = [pytest.mark.django_db(transaction=True),
              pytest.mark.skipif(not can_run(), reason="needs sshd")]
# Three logs: one renamed when it is full, one copied away and emptied, one with odd signs.
SCRIPT = r"""
mkdir -p logs; go=0
wait_for() { while [ ! -f "../go$1" ]; do sleep 0.05; done; }
echo "step 1/4 loss: 4.0" > logs/train.log; echo "step 2/4 loss: 3.0" >> logs/train.log
echo one > logs/copied.log; word=abcdefgh12345678; echo "token=$word" > 'logs/中 文.log'
wait_for 1
echo "step 3/4 loss: 2.0" >> logs/train.log; mv logs/train.log logs/train.log.1
echo "step 4/4 loss: 1.0" > logs/train.log
cp logs/copied.log logs/copied.log.1; : > logs/copied.log; echo 2 > logs/copied.log
wait_for 2
printf 'no line end' >> logs/train.log
"""


class LogKind(ShellKind):
    code = "test.logs"
    collect = ()
    parameters = (Parameter("script", "script", "script"), ShellKind.parameters[1])

    def log_globs(self, parameters):
        return ("logs/*.log",)


@pytest.fixture
def job(people, tmp_path, engagement, monkeypatch):
    monkeypatch.setitem(registry._kinds, LogKind.code, LogKind())
    monkeypatch.setattr(extra_logs, "SECONDS", 0)
    with running_sshd(tmp_path / "sshd") as server:
        node = services.enrol_node(actor=people["operator"], name="n1", host="127.0.0.1",
                                   port=server.port, username=USER, private_key=server.key)
        services.confirm_host_key(actor=people["operator"], node=node,
                                  fingerprint=ssh.fingerprint(node.offered_host_key))
        node.refresh_from_db()
        job = services.queue_job(actor=people["consultant"], kind=LogKind.code, node=node,
                                 engagement=engagement, parameters={"script": SCRIPT})
        job.folder = server.home / "desk-jobs" / job.directory_name
        yield job
    ssh.close_all()


def texts(job) -> dict[str, str]:
    return {log.name: live_log.read(log)[0] for log in job.logs.select_related("job")}


def poll_until(job, is_reached) -> None:
    deadline = time.monotonic() + 60
    while not is_reached():
        assert time.monotonic() < deadline, texts(job)
        Job.objects.update(next_step_at=None)
        node_polling.poll_nodes([job.node_id])
        time.sleep(0.05)


@pytest.mark.slow
def test_logs_are_followed_over_rotation_and_kept(job, client, people):
    poll_until(job, lambda: "loss: 3.0" in texts(job).get("logs/train.log", "")
               and len(texts(job)) == 3)
    assert "abcdefgh12345678" not in texts(job)["logs/中 文.log"]
    job.refresh_from_db()
    assert (job.last_loss, job.progress_done, job.progress_total) == (3.0, 2, 4)
    assert [line.title.endswith("logs/train.log") for line in progress.series_charts(job)] == [True]
    (job.folder / "go1").touch()
    poll_until(job, lambda: "loss: 1.0" in texts(job)["logs/train.log"]
               and texts(job)["logs/copied.log"].endswith("2\n"))
    (job.folder / "go2").touch()
    done = runner.drive(Job.objects.get(pk=job.pk))
    train = "".join(f"step {n}/4 loss: {5 - n}.0\n" for n in range(1, 5)) + "no line end"
    assert done.state == JobState.SUCCEEDED
    assert done.artifacts.get(name="desk-logs/logs/train.log").file.read().decode() == train
    assert texts(done)["logs/train.log"] == train
    assert texts(done)["logs/copied.log"] == "one\n2\n"
    client.force_login(people["consultant"])
    log = done.logs.get(name="logs/train.log")
    page = client.get(f"/jobs/{job.pk}/?log={log.pk}").content.decode()
    assert "step 4/4" in page
    assert f"/jobs/{job.pk}/logs/{log.pk}/" in page
    api = client.get(f"/api/v1/jobs/{job.pk}/log/?log={log.pk}&offset=5").json()
    assert api["text"] == train[5:]
    assert {each["name"] for each in client.get(f"/api/v1/jobs/{job.pk}/").json()["logs"]} == {
        "logs/train.log", "logs/copied.log", "logs/中 文.log"}


@pytest.mark.slow
def test_lists_made_while_a_log_was_rotated_are_made_again(job, monkeypatch):
    """The new file was seen and not yet the renamed one: its rest stands before what is newer.

    The node may answer with such a list itself, so the test hides the renamed file twice.
    """
    poll_until(job, lambda: "loss: 3.0" in texts(job).get("logs/train.log", ""))
    asked, listed = [], extra_logs._listed

    def torn_twice(*args):
        found = listed(*args)
        if any(entry.name == "logs/train.log.1" for entry in found) and len(asked) < 2:
            asked.append(len(found))
            return [entry for entry in found if entry.name != "logs/train.log.1"]
        return found

    monkeypatch.setattr(extra_logs, "_listed", torn_twice)
    (job.folder / "go1").touch()
    poll_until(job, lambda: "loss: 1.0" in texts(job)["logs/train.log"])
    (job.folder / "go2").touch()
    assert len(asked) == 2
    assert texts(job)["logs/train.log"] == "".join(
        f"step {n}/4 loss: {5 - n}.0\n" for n in range(1, 5))
    runner.drive(Job.objects.get(pk=job.pk))


def test_rotated_names_belong_to_their_log():
    for name in ("a.log.1", "a.log-20260101", "a.log.20260101-1200", "a.log.2026010112.3"):
        assert extra_logs.family(name) == "a.log", name
    for name in ("a.log", "rank_0.log", "run.5b.log", "x-1.log"):
        assert extra_logs.family(name) == name
