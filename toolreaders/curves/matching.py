"""Which records of two logs belong together where their step numbers do not prove it: those with
the same consumed samples or tokens, or with the same epochs and learning rates record by record."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite

from toolreaders.columns import is_ascending
from toolreaders.training.run_conditions import EPOCH, LEARNING_RATE, SAMPLES, TOKENS
from toolreaders.training.series import LossSeries

STEP, EPOCHS = "step", "epoch_and_learning_rate"
METHODS = {SAMPLES: "consumed samples", TOKENS: "consumed tokens",
           EPOCHS: "epochs and learning rates"}
FEWEST_RECORDS = 3
FEWEST_VALUES, USUAL_DIGITS, MOST_DIGITS, LOOKED_AT = 10, 4, 9, 200


@dataclass(frozen=True)
class Matching:
    """Ascending places of records that belong together, in the baseline and in the candidate."""

    method: str
    baseline: Sequence[int]
    candidate: Sequence[int]


def matched(baseline: LossSeries, candidate: LossSeries) -> Matching | None:
    """The records that belong together by what both logs print beside the losses.

    None where the steps say so themselves, where records are mixed, and where what is printed does
    not prove it: other sizes of windows, fewer than three records, epochs or rates that part
    between the first and the last common record.
    """
    problems = {baseline.unprovable, candidate.unprovable} - {None}
    if problems - {"steps_unproven"} or baseline.meaning != candidate.meaning or (
            not problems and baseline.step_unit == candidate.step_unit):
        return None
    for name in (SAMPLES, TOKENS):
        ours, theirs = _counted(baseline, name), _counted(candidate, name)
        found = ours and theirs and _by_count(name, ours, theirs, baseline.meaning == "point")
        if found:
            return found
    return _by_epoch(baseline, candidate)


def _counted(series: LossSeries, name: str) -> Sequence[float] | None:
    """What the run had consumed at each record; None where the log does not print it throughout."""
    if name == SAMPLES and series.step_unit == "sample" and not series.unprovable:
        return series.steps
    return _whole(series, name, is_ascending)


def _whole(series: LossSeries, name: str, holds: Callable[[Sequence[float]], bool]
           ) -> array[float] | None:
    column = series.conditions.columns.get(name)
    return column if column and all(map(isfinite, column)) and holds(column) else None


def _by_count(name: str, ours: Sequence[float], theirs: Sequence[float], are_points: bool
              ) -> Matching | None:
    places = {value: place for place, value in enumerate(theirs)}
    pairs = [(place, places[value]) for place, value in enumerate(ours) if value in places]
    if len(pairs) < FEWEST_RECORDS:
        return None
    if not are_points and any(  # means over other windows are other values
            ours[b] - ours[b - 1] != theirs[n] - theirs[n - 1] for b, n in pairs if b and n):
        return None
    return Matching(name, *zip(*pairs, strict=True))


def _by_epoch(baseline: LossSeries, candidate: LossSeries) -> Matching | None:
    columns = []
    for name, tolerance in ((EPOCH, _of_decimals), (LEARNING_RATE, relative_tolerance)):
        ours, theirs = (_whole(series, name, bool) for series in (baseline, candidate))
        if ours is None or theirs is None:
            return None
        columns.append((ours, theirs, tolerance, max(map(tolerance, (ours, theirs)))))
    for side in (0, 1):
        epochs, rates = columns[0][side], columns[1][side]
        records = zip(epochs, rates, strict=True)
        if any(before[0] > after[0] or before == after for before, after in pairwise(records)):
            return None

    def agree(b: int, n: int) -> bool:
        return all(abs(ours[b] - theirs[n]) <= width * (
            1 if tolerance is _of_decimals else max(abs(ours[b]), abs(theirs[n])))
            for ours, theirs, tolerance, width in columns)

    count, other = len(columns[0][0]), len(columns[0][1])
    start = next(((b, 0) for b in range(count) if agree(b, 0)), None) or next(
        ((0, n) for n in range(other) if agree(0, n)), None)
    if start is None:
        return None
    length = min(count - start[0], other - start[1])
    ours, theirs = (range(first, first + length) for first in start)
    if length < FEWEST_RECORDS or not all(map(agree, ours, theirs)):
        return None
    return Matching(EPOCHS, ours, theirs)


def relative_tolerance(values: Sequence[float]) -> float:
    """By how much of it a value may differ from the true one: a unit of its last printed digit.

    How many digits are printed shows in many different values; a few may all be round.
    """
    looked_at = {value for value in values[:: max(1, len(values) // LOOKED_AT)] if isfinite(value)}
    digits = max((len(f"{abs(value):.{MOST_DIGITS}e}".split("e")[0].replace(".", "").rstrip("0"))
                  for value in looked_at), default=1)
    if len(looked_at) < FEWEST_VALUES:
        digits = max(digits, USUAL_DIGITS)
    return 10.0 ** (1 - min(digits, MOST_DIGITS))


def _of_decimals(values: Sequence[float]) -> float:
    """Half a unit of the last printed decimal."""
    decimals = max(len(f"{value:.{MOST_DIGITS}f}".rstrip("0").partition(".")[2])
                   for value in values[:: max(1, len(values) // LOOKED_AT)])
    return 0.5 * 10.0**-decimals * (1 + 1e-9)
