"""The band that a baseline and its repeats span, and whether a candidate leaves it.

A run of the same kind lies outside the band of k runs at 2/(k + 1) of the steps by chance alone.
So only what lies outside by more than the band is wide counts, only in a stretch of records on one
side, and only in one that is longer than any by which a repeat leaves the band of the others.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress, groupby
from math import isfinite

from toolreaders.columns import at_indices
from toolreaders.curves.alignment import Aligned
from toolreaders.curves.differences import Finding
from toolreaders.verdicts.spread import FEWEST_RUNS

LEAST_STRETCH = 10
Stretch = tuple[int, int]  # first place, and the place behind the last


@dataclass(frozen=True)
class Band:
    """Least and largest loss of k runs at their common steps, and the longest stretch (records) by
    which one of them leaves the band of the others."""

    steps: array[int]
    low: array[float]
    high: array[float]
    runs: int
    usual_stretch: int

    @property
    def least_stretch(self) -> int:
        """Records in a row on one side by which a candidate leaves the band."""
        return max(LEAST_STRETCH, self.usual_stretch + 1)

    def finding(self, candidate: Aligned) -> Finding | None:
        """Whether the candidate leaves the band, where and whether it comes back; None without
        enough common steps to tell."""
        places, values = _common(self.steps, candidate)
        if len(places) < LEAST_STRETCH:
            return None
        low, high = at_indices(self.low, places), at_indices(self.high, places)
        left = [part for part in _outside(values, low, high)
                if part[1] - part[0] >= self.least_stretch]
        found = {"runs": self.runs, "points": len(places), "stretch": self.least_stretch}
        if not left:
            return {"code": "band_kept", **found}
        found["step"] = self.steps[places[left[0][0]]]
        if left[-1][1] == len(places):
            return {"code": "band_left", **found}
        return {"code": "band_left_and_back", **found, "back": self.steps[places[left[-1][1]]]}


def band_of(repeats: Sequence[Aligned]) -> Band | None:
    """The band of a baseline and its repeats, each aligned with it; None for fewer than three runs
    or without a common step."""
    if len(repeats) + 1 < FEWEST_RUNS:
        return None
    shared = set(repeats[0].steps).intersection(*(one.steps for one in repeats[1:]))
    if not shared:
        return None
    steps = array("q", sorted(shared))
    first = repeats[0]
    runs = [_at(first.baseline, first, shared), *(_at(one.candidate, one, shared)
                                                  for one in repeats)]
    return Band(steps, array("d", map(min, *runs)), array("d", map(max, *runs)), len(runs),
                max(_longest(run, runs[:n] + runs[n + 1:]) for n, run in enumerate(runs)))


def _at(values: array[float], run: Aligned, shared: set[int]) -> array[float]:
    return array("d", compress(values, map(shared.__contains__, run.steps)))


def _longest(run: Sequence[float], others: list[array[float]]) -> int:
    low, high = (array("d", map(pick, *others)) for pick in (min, max))
    return max((end - start for start, end in _outside(run, low, high)), default=0)


def _common(steps: array[int], candidate: Aligned) -> tuple[list[int], list[float]]:
    """Places of the band's steps that the candidate has, and its losses there."""
    losses = dict(zip(candidate.steps, candidate.candidate, strict=True))
    places = [place for place, step in enumerate(steps) if isfinite(losses.get(step, float("nan")))]
    return places, [losses[steps[place]] for place in places]


def _outside(values: Sequence[float], low: Sequence[float], high: Sequence[float]
             ) -> Iterator[Stretch]:
    """Stretches of neighbouring values that all lie above or all lie below the band, by more than
    its width."""
    sides = ((value - most > most - least) - (least - value > most - least)
             for value, least, most in zip(values, low, high, strict=True))
    at = 0
    for side, part in groupby(sides):
        length = sum(1 for _value in part)
        if side:
            yield at, at + length
        at += length
