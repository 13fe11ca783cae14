"""The watch around a command: which cards its processes hold open, and its own status."""

import os
import signal
import subprocess
import sys

import pytest

from workers.kinds.node_scripts import on_device

HOLD = "import sys, time; stream = open(sys.argv[1], 'a'); time.sleep(float(sys.argv[2]))"


@pytest.fixture
def run(tmp_path):
    (tmp_path / "dev").mkdir()

    def go(*command: str, path: str = os.defpath) -> subprocess.CompletedProcess:
        return subprocess.run(
            [sys.executable, *on_device(list(command))[1:]], check=False, capture_output=True,
            text=True, timeout=30, cwd=tmp_path, env={"PATH": path})

    return go


@pytest.mark.slow
def test_a_card_held_by_a_child_of_a_child_is_named(run, tmp_path):
    card = str(tmp_path / "dev" / "davinci5")
    answer = run("sh", "-c", '"$1" -c "$2" "$3" 1.5; echo done', "sh", sys.executable, HOLD, card)
    first, second = answer.stdout.splitlines()
    assert (answer.returncode, first) == (0, "done")
    assert second.startswith("desk: device npu 5: process ")


@pytest.mark.slow
def test_a_session_of_its_own_is_watched_too(run, tmp_path):
    card = tmp_path / "dev" / "nvidia1"
    answer = run("setsid", "--wait", sys.executable, "-c", HOLD, str(card), "1.5")
    assert answer.stdout.startswith("desk: device gpu 1: process ")


@pytest.mark.slow
def test_a_process_that_npu_smi_lists_without_its_name_is_found(run, tmp_path):
    tool = tmp_path / "npu-smi"
    tool.write_text('#!/bin/sh\necho "| 2       0         | $(cat pid)    |         | 57 |"\n'
                    'echo "| 4       0         | 1    | python3 | 57 |"\n')
    tool.chmod(0o755)
    answer = run("sh", "-c", "echo $$ > pid; exec sleep 4", path=f"{tmp_path}:{os.defpath}")
    pid = (tmp_path / "pid").read_text().strip()
    assert answer.stdout == f"desk: device npu 2: npu-smi lists process {pid}\n"


def test_without_a_card_it_says_so_and_keeps_the_status(run):
    answer = run("sh", "-c", "echo out; exit 7")
    assert answer.returncode == 7
    assert answer.stdout.splitlines()[0] == "out"
    assert answer.stdout.splitlines()[1].startswith("desk: no device: none was held open")
    assert run("sh", "-c", "kill -9 $$").returncode == 137


@pytest.mark.slow
def test_a_command_may_finish_its_work_when_it_is_told_to_end():
    saved = ("trap 'sleep 0.3; echo saved; exit 5' TERM; "
             "sleep 20 >/dev/null & echo ready; wait")
    with subprocess.Popen([sys.executable, *on_device(["sh", "-c", saved])[1:]], text=True,
                          stdout=subprocess.PIPE, start_new_session=True) as watched:
        assert watched.stdout.readline() == "ready\n"
        os.killpg(watched.pid, signal.SIGTERM)
        assert watched.communicate(timeout=20)[0].startswith("saved\n")
    assert watched.returncode == 5


def test_a_command_that_is_not_there_is_named(run):
    answer = run("no-such-tool")
    assert (answer.returncode, answer.stdout) == (127, "desk: no-such-tool: not found\n")


