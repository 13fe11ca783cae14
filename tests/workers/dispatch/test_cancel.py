"""What a cancelled or ended job leaves running on its node, over OpenSSH's own server."""

import os
import signal
import time
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils.translation import override

from tests.workers.shell_kind import ShellKind
from tests.workers.sshd import USER, can_run, running_sshd
from workers import services
from workers.dispatch import endings, runner
from workers.dispatch.gang_outcome import CLEAN
from workers.dispatch.sentences import ATTRIBUTED
from workers.kinds import base as registry
from workers.labels import job_results
from workers.models import Job, JobState
from workers.nodes import ssh
from workers.nodes.card_leases import held_cards
from workers.remote import scripts

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True),
              pytest.mark.skipif(not can_run(), reason="needs sshd")]

STUBBORN = """
import os, signal, sys, time
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    signal.signal(number, signal.SIG_IGN)
home = sys.argv[1] if len(sys.argv) > 1 else os.environ["HOME"]
open(os.path.join(home, "stubborn"), "a").write(f"{os.getpid()} ")
time.sleep(120)
"""
LAUNCHER = """
import subprocess, sys
for _rank in range(2):
    subprocess.Popen([sys.executable, "-c", open(sys.argv[1]).read()], start_new_session=True)
"""


# Its environment is empty and its session its own; once a look has found it, its parent ends.
BARE = """
env -i setsid python3 $HOME/stubborn.py $HOME &
until grep -qs "^$!:" ../seen || [ -s ../group ]; do sleep 0.05; done
"""


@pytest.fixture
def sshd(tmp_path):
    with running_sshd(tmp_path / "sshd") as server:
        (server.home / "stubborn.py").write_text(STUBBORN)
        (server.home / "bare.sh").write_text(BARE)
        (server.home / "launcher.py").write_text(LAUNCHER)
        yield server
    ssh.close_all()


@pytest.fixture
def queue(monkeypatch, people, engagement, sshd):
    """Queues a job whose two workers have sessions of their own and ignore SIGTERM."""
    monkeypatch.setitem(registry._kinds, ShellKind.code, ShellKind())
    node = services.enrol_node(actor=people["operator"], name="n1", host="127.0.0.1",
                               port=sshd.port, username=USER, private_key=sshd.key,
                               cards_total=8)
    services.confirm_host_key(actor=people["operator"], node=node,
                              fingerprint=ssh.fingerprint(node.offered_host_key))

    def go(then, cards=0, script="") -> Job:
        node.refresh_from_db()
        script = script + then if script else ("python3 $HOME/launcher.py $HOME/stubborn.py; "
                  f"while [ $(wc -w < $HOME/stubborn) -lt 2 ]; do sleep 0.05; done; {then}")
        return services.queue_job(actor=people["consultant"], kind="test.shell", node=node,
                                  engagement=engagement,
                                  parameters={"script": script, "cards": cards})

    return go


def workers_of(sshd) -> list[int]:
    """The workers' process numbers, once both have written them."""
    note, deadline = sshd.home / "stubborn", time.monotonic() + 60
    while not note.exists() or len(note.read_text().split()) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return [int(word) for word in note.read_text().split()]


def running(processes) -> list[int]:
    return [number for number in processes if _state_of(number) not in ("", "Z")]


def _state_of(number: int) -> str:
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def started(job: Job) -> Job:
    while job.state != JobState.RUNNING:
        runner.advance_while_due(job.pk)
        job.refresh_from_db()
    return job


def test_cancel_ends_workers_of_other_sessions_under_pid_1(queue, sshd, people):
    job = started(queue("sleep 120", cards=2))
    workers = workers_of(sshd)
    services.cancel_job(actor=people["consultant"], job=job)
    job = runner.drive(job)
    assert job.state == JobState.CANCELLED
    assert job.message in (CLEAN, ATTRIBUTED)
    assert running(workers) == []
    assert held_cards(job) == []


@pytest.mark.parametrize("ends_itself", [False, True])
def test_what_a_look_has_found_is_ended_without_parent_session_and_mark(
        queue, sshd, people, ends_itself):
    job = started(queue("true" if ends_itself else "sleep 120", script="sh $HOME/bare.sh; " * 2))
    if not ends_itself:
        note = sshd.home / "stubborn"
        while not note.exists() or len(note.read_text().split()) < 2:
            runner.advance_while_due(job.pk)
        workers_of(sshd)
        services.cancel_job(actor=people["consultant"], job=job)
    job = runner.drive(job)
    workers = workers_of(sshd)
    assert running(workers) == []
    if ends_itself:
        assert sorted(job.results["left_behind"]) == [[n, "python3"] for n in sorted(workers)]
    else:
        assert (job.state, job.message in (CLEAN, ATTRIBUTED)) == (JobState.CANCELLED, True)


def test_workers_left_behind_by_a_command_that_ended_are_ended_and_told(queue, sshd):
    job = runner.drive(queue("echo done"))
    workers = workers_of(sshd)
    assert (job.state, running(workers)) == (JobState.SUCCEEDED, [])
    assert sorted(job.results["left_behind"]) == [[n, "python3"] for n in sorted(workers)]


def test_time_limit_ends_workers_of_other_sessions(queue, sshd):
    job = started(queue("sleep 120"))
    workers = workers_of(sshd)
    Job.objects.filter(pk=job.pk).update(timeout_seconds=0)
    job = runner.drive(job)
    assert (job.state, running(workers)) == (JobState.TIMED_OUT, [])


@pytest.fixture
def unkillable(monkeypatch):
    """Processes that no signal of ours ends, as those that wait in the kernel."""
    cancel_script = scripts.cancel_script

    def harmless(place, signal):
        return cancel_script(place, signal).replace('kill -"$signal"', "kill -CONT").replace(
            "cgroup.kill", "none")

    monkeypatch.setattr(scripts, "cancel_script", harmless)
    monkeypatch.setattr(endings, "TERM_TO_KILL", timedelta(0))
    monkeypatch.setattr(endings, "LAST_TRIES", timedelta(0))
    yield
    monkeypatch.setattr(scripts, "cancel_script", cancel_script)


def test_survivors_are_named_instead_of_denied(queue, sshd, people, unkillable):
    job = started(queue("exit 0"))
    workers = workers_of(sshd)
    services.cancel_job(actor=people["consultant"], job=job)
    job = runner.drive(job)
    assert running(workers) == workers
    assert (job.state, job.message_values) == (
        JobState.CANCELLED, {"n": 2, "which": _named(workers)})
    assert "survive SIGKILL: %(which)s" in job.message


def test_cards_stay_leased_while_survivors_run(queue, sshd, people, unkillable):
    job = started(queue("exit 0", cards=1))
    workers = workers_of(sshd)
    services.cancel_job(actor=people["consultant"], job=job)
    while "SIGKILL" not in job.message:
        runner.advance_while_due(job.pk)
        job.refresh_from_db()
    assert not job.is_final
    assert job.message_values["which"] == _named(workers)
    assert held_cards(job) == [0]


def npu_smi_shows(sshd, monkeypatch, process: int) -> None:
    """The node's npu-smi shows a process on card 1."""
    tool = sshd.home / "npu-smi"
    tool.write_text(f"#!/bin/sh\necho '| 1    0    | {process}  | python3   | 2048   |'\n")
    tool.chmod(0o755)
    survivors_script = scripts.survivors_script
    monkeypatch.setattr(scripts, "survivors_script", lambda place, has_cards: (
        'PATH="$HOME:$PATH"\n' + survivors_script(place, has_cards)))


def test_processes_on_the_cards_are_named_after_a_cancel(queue, sshd, people, monkeypatch):
    npu_smi_shows(sshd, monkeypatch, 4711)
    monkeypatch.setattr(endings, "TERM_TO_KILL", timedelta(0))
    monkeypatch.setattr(endings, "LAST_TRIES", timedelta(0))
    job = started(queue("sleep 120", cards=2))
    workers_of(sshd)
    services.cancel_job(actor=people["consultant"], job=job)
    job = runner.drive(job)
    assert (job.state, job.message_values) == (
        JobState.CANCELLED, {"n": 1, "which": "4711 (python3, NPU 1)"})
    assert "npu-smi still shows" in job.message


def test_processes_on_the_cards_are_named_after_the_end(queue, sshd, monkeypatch):
    npu_smi_shows(sshd, monkeypatch, 4711)
    job = runner.drive(queue("echo done", cards=2))
    assert (job.state, job.results["on_cards"]) == (
        JobState.SUCCEEDED, [[4711, "python3, NPU 1"]])
    with override("en"):
        assert job_results.left_behind(job.results)[-1] == (
            "After the command had ended npu-smi still showed 1 processes on its cards: "
            "4711 (python3, NPU 1).")


def test_processes_on_other_cards_are_no_concern(queue, sshd, monkeypatch):
    npu_smi_shows(sshd, monkeypatch, 4711)
    assert "on_cards" not in runner.drive(queue("echo done", cards=1)).results


def _named(workers: list[int]) -> str:
    return ", ".join(f"{number} (python3)" for number in sorted(workers))


@pytest.fixture(autouse=True)
def _nothing_stays(sshd):
    yield
    note = sshd.home / "stubborn"
    for number in running(map(int, note.read_text().split())) if note.exists() else []:
        os.kill(number, signal.SIGKILL)
