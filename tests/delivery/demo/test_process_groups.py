"""What `up` starts ends as a whole: nothing of a killed process or of a killed `up` goes on."""

import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from delivery.demo import child_processes, process_groups
from delivery.demo.child_processes import Children, free_port
from delivery.demo.management.commands import up
from delivery.demo.sample_node import enrol_practice_node, follow_port
from workers.models import Node

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


@pytest.mark.slow
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


def test_what_ends_again_and_again_waits_longer_each_time(settings, tmp_path, monkeypatch):
    settings.BASE_DIR, clock = tmp_path, [0.0]
    monkeypatch.setattr(child_processes, "time", SimpleNamespace(
        monotonic=lambda: clock[0], sleep=time.sleep))
    children, starts = Children(), []
    children.start("practice node", ["true"])
    for _second in range(60):
        children.running["practice node"].wait()
        starts += children.restart_ended()
        clock[0] += 1
    children.running["practice node"].wait()
    assert len(starts) == 6  # at 0, 1, 3, 7, 15 and 31 s


def test_a_second_start_on_one_data_folder_is_refused(tmp_path):
    first = up._alone()
    try:
        with pytest.raises(CommandError, match="runs already"):
            call_command("up", port=free_port())
    finally:
        first.close()
    up._alone().close()


def test_a_port_that_is_taken_is_replaced(tmp_path):
    with child_processes.socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        taken = other.getsockname()[1]
        (tmp_path / "port").write_text(str(taken))
        assert up._stored_node_port(tmp_path) != taken
    kept = up._stored_node_port(tmp_path)
    assert up._stored_node_port(tmp_path) == kept


@pytest.mark.django_db(transaction=True)
def test_the_row_of_the_practice_node_follows_its_port(people, ssh_server):
    node = enrol_practice_node(ssh_server.root, "127.0.0.1", ssh_server.port)
    Node.objects.filter(pk=node.pk).update(port=1)
    follow_port(ssh_server.root, ssh_server.port)
    node.refresh_from_db()
    assert (node.port, node.state) == (ssh_server.port, Node.State.READY)
