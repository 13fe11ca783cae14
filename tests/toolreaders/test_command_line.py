"""`python -m toolreaders` without Django, and the commands of manage.py, which print the same."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command

SAMPLE = "tests/samples/training"
WITHOUT_DJANGO = """
import runpy, sys
sys.modules["django"] = None
sys.argv = ["toolreaders", *sys.argv[1:]]
runpy.run_module("toolreaders", run_name="__main__")
"""


def run(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", WITHOUT_DJANGO, *words], capture_output=True,
                          cwd=settings.BASE_DIR, text=True, check=False)


def sample() -> str:
    return next(str(path.relative_to(settings.BASE_DIR)) for path in sorted(
        (Path(settings.BASE_DIR) / SAMPLE).rglob("*.log")))


def test_read_works_without_django_and_prints_what_manage_py_prints(capsys, monkeypatch):
    monkeypatch.chdir(settings.BASE_DIR)
    for words in ((sample(),), (sample(), "--json")):
        done = run("read", *words)
        call_command("read", *words)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == capsys.readouterr().out


def test_a_file_that_cannot_be_read_is_named_and_ends_with_1(tmp_path):
    (tmp_path / "notes.bin").write_bytes(b"\x00\x01" * 40)
    done = run("read", "--json", str(tmp_path / "notes.bin"))
    assert done.returncode == 1
    answer = json.loads(done.stdout)
    assert (answer["kind"], sorted(answer["error"])) == (None, ["code", "message"])


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_scan_prints_what_manage_py_prints(capsys, tmp_path, words):
    (tmp_path / "train.py").write_text("import torch\nmodel = model.cuda()\n")
    done = run("scan", str(tmp_path), *words)
    call_command("scan", str(tmp_path), *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == capsys.readouterr().out
    assert run("scan", str(tmp_path / "nowhere")).returncode == 1
