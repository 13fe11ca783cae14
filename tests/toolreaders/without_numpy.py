"""Run as a program: what readers and verdicts make of sample logs, as JSON; `plain` hides numpy."""

import json
import sys
from array import array
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path

if sys.argv[1] == "plain":
    sys.modules["numpy"] = None

from toolreaders import ReadError, read_file
from toolreaders.curves.alignment import align
from toolreaders.fixed_rows import np
from toolreaders.training.series import read_series
from toolreaders.verdicts.verdict import Rule, judge_curve


def results(folder: Path) -> dict:
    """By file what it holds; by pair of a log and its copy with other losses the verdict."""
    found = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = str(path.relative_to(folder))
        try:
            found[name] = asdict(read_file(path))
            curve = read_series(path)
        except ReadError as error:
            found.setdefault(name, [error.code, error.message])
            continue
        for factor in (1.0, 1.015, 1.1):
            other = read_series(path)
            other.losses = array("d", (loss * factor for loss in other.losses))
            outcome = judge_curve(align(curve, other), Decimal("0.02"), Rule(epsilon=1e-6))
            found[f"{name} * {factor}"] = [
                outcome.outcome, outcome.figure, outcome.reason, outcome.figures, outcome.facts]
    return found


if __name__ == "__main__":
    assert (np is None) is (sys.argv[1] == "plain")
    sys.stdout.write(json.dumps(results(Path(sys.argv[2]))))
