"""Papers are set in another process; one that dies is replaced."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future

import pytest

from delivery.documents import render_process
from delivery.documents.pdf import set_type
from tests.processes import is_running

PAPER = '<html lang="en"><head><title>T</title></head><body><p>One page.</p></body></html>'


@pytest.fixture
def _apart(settings):
    settings.RENDER_PROCESS = True
    yield
    if render_process._pool:
        render_process._stop(render_process._pool)


@pytest.mark.slow
@pytest.mark.usefixtures("_apart")
def test_set_apart_the_bytes_are_the_same_and_a_dead_child_is_replaced():
    assert render_process.run_in_child(os.getpid) != os.getpid()
    with pytest.raises(render_process.RenderFailedError):
        render_process.run_in_child(os._exit, 3)
    assert render_process.run_in_child(set_type, PAPER) == set_type(PAPER)
    with pytest.raises(ZeroDivisionError):  # what fails there fails here
        render_process.run_in_child(divmod, 1, 0)


def test_without_a_press_the_call_is_made_here():
    assert render_process.run_in_child(os.getpid) == os.getpid()


def test_who_waits_says_so_until_the_answer_is_there(monkeypatch):
    monkeypatch.setattr(render_process, "BEAT_SECONDS", 0.01)
    future, beats = Future(), []
    threading.Timer(0.1, future.set_result, ["%PDF"]).start()
    assert render_process._awaited(future, lambda: beats.append(1)) == "%PDF"
    assert 2 <= len(beats) <= 11
    with pytest.raises(TimeoutError):  # what the child itself raises is no reason to wait on
        render_process._awaited(failed(TimeoutError()), None)


def failed(error: Exception) -> Future:
    future = Future()
    future.set_exception(error)
    return future


PARENT = """
import django, os, time
from delivery.documents.render_process import run_in_child
if __name__ == "__main__":
    django.setup()
    print(run_in_child(os.getpid), flush=True)
    time.sleep(60)
"""


@pytest.mark.slow
def test_the_child_of_a_killed_process_ends_too(tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    parent = subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": os.getcwd(), "DESK_VAR_DIR": str(tmp_path),
             "DJANGO_SETTINGS_MODULE": "delivery.settings"})
    child = int(parent.stdout.readline())
    assert is_running(child)
    parent.send_signal(signal.SIGKILL)
    parent.communicate()
    end = time.monotonic() + 60
    while is_running(child):
        assert time.monotonic() < end
        time.sleep(0.1)
