"""Where numpy is not installed, files and verdicts are the same."""

import json
import math
import subprocess
import sys
from pathlib import Path

SAMPLES = Path(__file__).parents[1] / "samples"
PROGRAM = Path(__file__).with_name("without_numpy.py")


def results(mode: str, folder: str) -> dict:
    done = subprocess.run([sys.executable, PROGRAM, mode, SAMPLES / folder], check=True,
                          cwd=SAMPLES.parents[1], capture_output=True, env={"PYTHONPATH": "."})
    return json.loads(done.stdout)


def is_same(one, other) -> bool:
    """Equal; numbers up to the last digits, in which sums differ."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(is_same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return repr(one) == repr(other) or math.isclose(one, other, rel_tol=1e-12)
    return one == other


def test_training_logs_and_verdicts_on_them():
    with_it, without = (results(mode, "training") for mode in ("numpy", "plain"))
    assert len(with_it) > 40
    assert [name for name in with_it if not is_same(with_it[name], without[name])] == []
