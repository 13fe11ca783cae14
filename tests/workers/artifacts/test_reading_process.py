"""Files are read in a child with limits, and say in a sentence when these were reached."""

import os
import time

import pytest

from workers.artifacts import reading_process
from workers.artifacts.reading_process import read_file, run_bounded
from workers.readers.base import ReadError


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


def test_a_file_is_read_elsewhere_and_its_faults_come_back(tmp_path):
    (tmp_path / "log.txt").write_text("".join(
        f" iteration {n:8}/ 100 | lm loss: 1.{n:03}E+00 |\n" for n in range(1, 60)))
    assert read_file(tmp_path / "log.txt").kind == "training_log"
    assert run_bounded(os.getpid) != os.getpid()
    (tmp_path / "empty.txt").write_bytes(b"")
    with pytest.raises(ReadError) as refused:
        read_file(tmp_path / "empty.txt")
    assert refused.value.code == "empty_file"


@pytest.mark.parametrize(("function", "code"), [
    (busy, "reader_ended"), (greedy, "too_much_memory"), (crashed, "reader_ended")])
def test_limits_end_the_child_and_not_the_portal(settings, function, code):
    settings.READ_MEMORY_MB = 512
    began = time.monotonic()
    with pytest.raises(ReadError) as refused:
        run_bounded(function)
    assert refused.value.code == code
    assert time.monotonic() - began < 20


def test_who_sleeps_instead_of_reading_is_ended(settings, monkeypatch):
    monkeypatch.setattr(reading_process, "START_SECONDS", 0)
    with pytest.raises(ReadError) as refused:
        run_bounded(time.sleep, 60)
    assert refused.value.code == "took_too_long"
