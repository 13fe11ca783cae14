"""Files are read in a child with limits, and say in a sentence when these were reached."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from django.conf import settings as settings_module

import toolreaders
from toolreaders.base import ReadError
from workers.artifacts import reading_process
from workers.artifacts.reading_process import run_bounded

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _children(settings):
    settings.READ_PROCESS, settings.READ_SECONDS = True, 1


def busy() -> None:
    while True:
        pass


def greedy() -> int:
    return len(bytes(600 * 2**20))


def crashed() -> None:
    os._exit(1)


def refused() -> None:
    raise ReadError("unknown_format", "No reader knows it.")


def worked(seconds: float) -> bool:
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass
    return True


class LoadedLong:
    """Takes two seconds to arrive, as a function does whose modules are not loaded yet."""

    def __reduce__(self):
        return worked, (2.0,)


def arrived(argument: bool) -> bool:
    return argument


def large() -> int:
    return len(b"x" * 400 * 2**20)


def slow_pid() -> int:
    time.sleep(1)
    return os.getpid()


ASKS = """
import django, os, signal
django.setup()
from workers.artifacts.reading_process import run_bounded
if __name__ == "__main__":
    print(run_bounded(os.getpid), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_file_is_read_elsewhere_and_its_faults_come_back(tmp_path):
    (tmp_path / "log.txt").write_text("".join(
        f" iteration {n:8}/ 100 | lm loss: 1.{n:03}E+00 |\n" for n in range(1, 60)))
    assert run_bounded(toolreaders.read_file, tmp_path / "log.txt").kind == "training_log"
    assert run_bounded(os.getpid) != os.getpid()
    (tmp_path / "empty.txt").write_bytes(b"")
    with pytest.raises(ReadError) as refused:
        run_bounded(toolreaders.read_file, tmp_path / "empty.txt")
    assert refused.value.code == "empty_file"


@pytest.mark.parametrize(("function", "code"), [
    (busy, "reader_ended"), (greedy, "too_much_memory"), (crashed, "reader_ended")])
def test_limits_end_the_child_and_not_the_portal(settings, function, code):
    settings.READ_MEMORY_MB = 512
    began = time.monotonic()
    with pytest.raises(ReadError) as refused:
        run_bounded(function)
    assert refused.value.code == code
    assert time.monotonic() - began < 60


def test_a_child_reads_one_file_after_another():
    first = run_bounded(os.getpid)
    assert [run_bounded(os.getpid) for _n in range(3)] == [first] * 3
    with pytest.raises(ReadError):
        run_bounded(refused)
    assert run_bounded(os.getpid) == first  # a file's fault is none of the child


@pytest.mark.parametrize("function", [busy, greedy, crashed])
def test_nothing_is_read_where_a_limit_was_reached(settings, function):
    settings.READ_MEMORY_MB = 512
    first = run_bounded(os.getpid)
    with pytest.raises(ReadError):
        run_bounded(function)
    assert run_bounded(os.getpid) != first


def test_time_is_counted_per_file(settings):
    """Three files of 0.7 s each pass a limit of 1 s per file."""
    assert [run_bounded(worked, 0.7) for _n in range(3)] == [True] * 3


def test_loading_what_reads_a_file_is_in_no_file_s_time():
    assert run_bounded(worked, 0.1)
    assert run_bounded(arrived, LoadedLong())


def test_a_child_makes_room_after_many_files(monkeypatch):
    monkeypatch.setattr(reading_process, "CALLS", 2)
    monkeypatch.setattr(reading_process, "_idle", [])  # one of an earlier test had a call already
    assert len({run_bounded(os.getpid) for _n in range(4)}) == 2


def test_a_child_makes_room_after_a_large_file():
    first = run_bounded(os.getpid)
    run_bounded(large)
    assert run_bounded(os.getpid) != first


def test_files_are_read_at_once():
    begun = threading.Barrier(3, timeout=30)
    found: list[int] = []

    def read() -> None:
        begun.wait()
        found.append(run_bounded(slow_pid))

    threads = [threading.Thread(target=read) for _n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 3


def test_no_child_outlives_whoever_asked_it():
    done = subprocess.run([sys.executable, "-c", ASKS], capture_output=True, text=True, check=False,
                          cwd=settings_module.BASE_DIR,
                          env={**os.environ, "DJANGO_SETTINGS_MODULE": "delivery.settings"})
    child = int(done.stdout.split()[-1])
    deadline = time.monotonic() + 60
    while Path(f"/proc/{child}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(f"/proc/{child}").exists()


def test_who_sleeps_instead_of_reading_is_ended(settings, monkeypatch):
    monkeypatch.setattr(reading_process, "START_SECONDS", 0)
    with pytest.raises(ReadError) as refused:
        run_bounded(time.sleep, 60)
    assert refused.value.code == "took_too_long"
