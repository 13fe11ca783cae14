"""Online inference: outputs compared with those of the source platform (seed S0, S2)."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from practice_node.home import TOOLBOX
from tests.workers.kinds.outputs import text_of
from toolreaders.verdicts.quantities import quantities
from workers import kinds
from workers.kinds.node_scripts import run_script

kinds.load_all()
PROJECT = Path(TOOLBOX) / "projects" / "inspection" / "run.py"
DEVICE = b"desk: device npu 0: process 1 holds it open\n"


@pytest.fixture
def infer(tmp_path):
    """Runs the practice project's inference under the script; `golden` holds the references."""
    def run(reference: str) -> dict:
        command = run_script("online_inference", "outputs", reference, sys.executable,
                             str(PROJECT), "infer", python=sys.executable)
        work = tmp_path / "work"
        work.mkdir()
        done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads((work / "online.report.json").read_text())
    return run


@pytest.fixture
def golden(tmp_path):
    folder = tmp_path / "golden"
    folder.mkdir()
    values = np.tanh(np.arange(24) / 10).reshape(4, 6).astype("<f4")
    np.save(folder / "logits.npy", values)
    (folder / "answer.txt").write_text("inspection finished\n")
    return folder


def concluded(judge, report: dict, **parameters):
    return judge("inf.online_run", {"online.report.json": json.dumps(report).encode(),
                                    "log.txt": DEVICE}, cards=1, **parameters)


def test_an_inference_that_equals_the_reference(infer, golden, judge):
    report = infer(str(golden))
    assert (report["min_cosine"], report["missing"]) == (pytest.approx(1.0), [])
    judgement = concluded(judge, report)
    assert judgement.is_success
    assert judgement.results["compared"] == 2
    [cosine] = quantities("node_report", {**report, "form": report["desk_report"]})
    assert (cosine.name, cosine.value) == ("min_cosine", report["min_cosine"])


def test_the_cosine_is_that_of_numpy(infer, golden):
    other = np.load(golden / "logits.npy") + np.linspace(-1, 1, 24).reshape(4, 6).astype("<f4")
    np.save(golden / "logits.npy", other)
    ours = np.tanh(np.arange(24) / 10)
    flat = other.astype(float).ravel()
    expected = ours @ flat / np.linalg.norm(ours) / np.linalg.norm(flat)
    assert infer(str(golden))["min_cosine"] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("damage", "why"), [
    (lambda folder: np.save(folder / "logits.npy", np.zeros((2, 2))), "shape"),
    (lambda folder: np.save(folder / "more.npy", np.zeros(2)), "more.npy"),
    (lambda folder: (folder / "answer.txt").unlink(), "1 of 2"),
    (lambda folder: (folder / "logits.npy").write_bytes(b"x"), "no .npy")])
def test_what_cannot_be_compared_is_no_success(infer, golden, judge, damage, why):
    damage(golden)
    judgement = concluded(judge, infer(str(golden)))
    assert not judgement.is_success
    assert why in text_of(judgement)


def test_without_a_reference_it_says_so(infer, judge):
    judgement = concluded(judge, infer(""))
    assert judgement.is_success
    assert judgement.results["compared"] == 0
    assert "no reference" in text_of(judgement)
