"""`python -m toolreaders` without Django, and the commands of manage.py, which print the same."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.utils.translation import override

SAMPLE = "tests/samples/training"
WORKBOOK = "tests/samples/kinds/acc.config_check/check/result.xlsx"
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


@pytest.mark.slow
def test_read_works_without_django_and_prints_what_manage_py_prints(capsys, monkeypatch):
    monkeypatch.chdir(settings.BASE_DIR)
    for words in ((sample(),), (sample(), "--json")):
        done = run("read", *words)
        call_command("read", *words)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == capsys.readouterr().out


BARE = """
import runpy, sys
sys.path.insert(0, sys.argv[1])
sys.argv = ["toolreaders", *sys.argv[2:]]
runpy.run_module("toolreaders", run_name="__main__")
"""


def run_bare(*words: str) -> subprocess.CompletedProcess:
    """Without any package: neither the environment's nor the user's."""
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", BARE, settings.BASE_DIR, *words],
        capture_output=True, cwd=settings.BASE_DIR, text=True, check=False)


@pytest.mark.slow
def test_every_command_runs_without_any_package(tmp_path):
    (tmp_path / "train.py").write_text("model = model.cuda()\n")
    for words in (("read", sample(), "--json"), ("read", WORKBOOK), ("scan", str(tmp_path)),
                  ("compare", *CURVES, "--json")):
        bare = run_bare(*words)
        assert (bare.returncode, bare.stderr) == (0, "")
        assert bare.stdout == run(*words).stdout


CURVES = ("tests/samples/curves/ng_fp32.log.gz", "tests/samples/curves/ng_bf16.log.gz")


@pytest.mark.slow
def test_compare_says_what_compare_curves_says(capsys):
    for words in ((), ("--json",)):
        done = run("compare", *CURVES, *words)
        with override("en"):
            call_command("compare-curves", *(str(settings.BASE_DIR / name) for name in CURVES),
                         *words)
        printed = capsys.readouterr().out
        if words:
            ours, theirs = json.loads(done.stdout), json.loads(printed)
            assert ours.pop("judged") == "mean_relative_error"
            assert {**ours, "definition": "loss_mean_relative_error"} == theirs
        else:
            assert done.stdout == printed.replace("definition: loss_mean_relative_error   ", "")


@pytest.mark.slow
@pytest.mark.parametrize(("words", "verdict", "threshold"), [
    ((), "passed", 0.02), (("--limit", "0.05%"), "failed", 0.0005),
    (("--limit", "0.0005"), "failed", 0.0005),
    (("--limit", "0.1%", "--figure", "max_relative_error"), "failed", 0.001),
    (("--first-step", "3000", "--last-step", "9000"), "not_provable", 0.02)])
def test_limit_figure_and_window_of_compare(words, verdict, threshold):
    answer = json.loads(run("compare", *CURVES, "--json", *words).stdout)
    assert (answer["verdict"], answer["threshold"]) == (verdict, threshold)


@pytest.mark.slow
def test_compare_names_the_file_that_is_no_log():
    done = run("compare", CURVES[0], "README.md")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("README.md: unknown_format: ")
    assert "a limit such as 2% or 0.02" in run("compare", *CURVES, "--limit", "-1").stderr


@pytest.mark.slow
def test_a_file_that_cannot_be_read_is_named_and_ends_with_1(tmp_path):
    (tmp_path / "notes.bin").write_bytes(b"\x00\x01" * 40)
    done = run("read", "--json", str(tmp_path / "notes.bin"))
    assert done.returncode == 1
    answer = json.loads(done.stdout)
    assert (answer["kind"], sorted(answer["error"])) == (None, ["code", "message"])


@pytest.mark.slow
@pytest.mark.parametrize("words", [(), ("--json",)])
def test_scan_prints_what_manage_py_prints(capsys, tmp_path, words):
    (tmp_path / "train.py").write_text("import torch\nmodel = model.cuda()\n")
    done = run("scan", str(tmp_path), *words)
    call_command("scan", str(tmp_path), *words)
    assert (done.returncode, done.stderr) == (0, "")
    said = capsys.readouterr().out
    assert said.startswith(done.stdout)
    ruled = said.removeprefix(done.stdout).splitlines()  # what the desk's rules say besides
    assert all("(R-ACC-03)" in line or "（R-ACC-03）" in line for line in ruled)
    assert bool(ruled) is (not words)
    assert run("scan", str(tmp_path / "nowhere")).returncode == 1
