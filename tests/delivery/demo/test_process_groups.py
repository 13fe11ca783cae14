"""What `up` starts ends as a whole: nothing of a killed process or of a killed `up` goes on."""

import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

from delivery.demo import process_groups
from delivery.demo.child_processes import Children

PARENT = ["sh", "-c", "sleep 300 & echo $! > child; wait"]


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def child_of(folder: Path) -> int:
    """The process that PARENT has started there."""
    file, ends = folder / "child", time.monotonic() + 60
    while not (file.exists() and file.read_text().strip()) and time.monotonic() < ends:
        time.sleep(0.01)
    pid = int(file.read_text())
    file.unlink()
    return pid


def wait_until(condition) -> bool:
    ends = time.monotonic() + 60
    while not condition() and time.monotonic() < ends:
        time.sleep(0.02)
    return condition()


def test_a_killed_process_leaves_no_child_behind_when_it_is_started_again(settings, tmp_path):
    settings.BASE_DIR = tmp_path
    children = Children()
    try:
        children.start("worker", PARENT)
        first = child_of(tmp_path)
        os.kill(children.running["worker"].pid, signal.SIGKILL)
        children.running["worker"].wait()
        assert is_running(first)
        assert children.restart_ended() == ["worker"]
        assert wait_until(lambda: not is_running(first))
        second = child_of(tmp_path)
    finally:
        children.stop()
    assert wait_until(lambda: not is_running(second))
    assert not (tmp_path / "processes.json").exists()


def test_the_next_start_ends_what_a_killed_one_left(settings, tmp_path):
    settings.BASE_DIR = tmp_path
    left = Children()
    left.start("portal", PARENT)
    child = child_of(tmp_path)
    threading.Thread(target=left.running["portal"].wait, daemon=True).start()  # as init would
    stranger = subprocess.Popen(["sleep", "300"], start_new_session=True)
    try:
        noted = json.loads((tmp_path / "processes.json").read_text())
        noted["other"] = [stranger.pid, "1"]  # its number was given anew
        (tmp_path / "processes.json").write_text(json.dumps(noted))
        assert process_groups.end_left_behind() == ["portal"]
        assert wait_until(lambda: not is_running(child))
        assert stranger.poll() is None
        assert process_groups.end_left_behind() == []
    finally:
        stranger.kill()
        stranger.wait()
        left.running["portal"].wait()
