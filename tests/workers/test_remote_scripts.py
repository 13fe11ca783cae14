"""The scripts of a node, run by every shell they must work under."""

import shutil
import subprocess
import time

import pytest

from workers import remote
from workers.remote_state import RemoteState

SHELLS = [s for s in (["dash"], ["bash"], ["busybox", "sh"]) if shutil.which(s[0])]


@pytest.fixture(params=SHELLS, ids=lambda shell: shell[0])
def run(request, tmp_path):
    """Runs a script as a login on the node would, and returns its output."""

    def go(script: str) -> bytes:
        return subprocess.run(
            [*request.param, "-s"], input=script.encode(), capture_output=True, check=True,
            env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin:/usr/sbin:/sbin"}).stdout

    return go


def start(run, argv, name="desk-job-1-1-x"):
    return run(remote.start_script("jobs", name, remote.command_text(argv, {})))


def wait(run, name="desk-job-1-1-x", offset=0) -> RemoteState:
    for _try in range(100):
        state = RemoteState.parse(run(remote.poll_script("jobs", name, offset, 10_000)), offset)
        if state.exit_status is not None or state.process == "gone":
            return state
        time.sleep(0.05)
    raise AssertionError(f"still running: {state.line}")


def test_exit_status_and_log_come_back(run):
    assert start(run, ["sh", "-c", "echo one; echo two >&2; exit 7"]).startswith(b"desk started ")
    state = wait(run)
    assert (state.exit_status, state.chunk) == (7, b"one\ntwo\n")


def test_second_start_does_not_run_it_again(run, tmp_path):
    argv = ["sh", "-c", "echo ran >> ../../../count"]
    for _try in range(3):
        start(run, argv)
    wait(run)
    assert (tmp_path / "count").read_text() == "ran\n"


def test_arguments_reach_the_command_as_they_are(run):
    strange = ["a b", "$(id)", "'", '"', "`x`", "*", "\\", "中文", "~"]
    start(run, ["printf", "%s\\n", *strange])
    assert wait(run).chunk.decode().splitlines() == [*strange[:-1], wait_home(run)]


def wait_home(run) -> str:
    return run('printf "%s" "$HOME"').decode()


def test_killed_wrapper_is_lost_and_its_child_is_an_orphan(run):
    answer = start(run, ["sleep", "30"])
    pid = answer.split()[2].decode()
    run(f"kill -9 {pid}; sleep 0.2")
    state = RemoteState.parse(run(remote.poll_script("jobs", "desk-job-1-1-x", 0, 10)), 0)
    assert (state.exit_status, state.process) == (None, "orphans")
    assert run(remote.cancel_script("jobs", "desk-job-1-1-x", "KILL")) == b"desk left 0\n"
    assert wait(run).is_lost({"boot_id": state.boot_id})


def test_term_ends_the_whole_group_and_leaves_a_status(run):
    start(run, ["sh", "-c", "sleep 30 & sleep 30"])
    time.sleep(0.2)
    run(remote.cancel_script("jobs", "desk-job-1-1-x", "TERM"))
    assert wait(run).exit_status == 143


def test_log_is_read_on_from_an_offset(run):
    start(run, ["printf", "0123456789"])
    wait(run)
    state = RemoteState.parse(run(remote.poll_script("jobs", "desk-job-1-1-x", 4, 3)), 4)
    assert (state.chunk, state.has_more_log) == (b"456", True)


def test_unwritable_scratch_is_refused_before_anything_starts(run, tmp_path):
    (tmp_path / "file").write_text("")
    script = remote.start_script("file/below", "desk-job-1-1-x", "exec true\n")
    assert run(script) == b"desk refused not_writable\n"


def test_absent_directory_is_said(run):
    state = RemoteState.parse(run(remote.poll_script("jobs", "desk-job-9-1-x", 0, 10)), 0)
    assert not state.is_present
