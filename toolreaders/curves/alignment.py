"""Brings two loss curves onto common steps, and says what had to be done for it."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from itertools import accumulate, compress, pairwise
from math import isfinite, nan
from operator import sub
from statistics import median

from toolreaders.base import ReadingWarning
from toolreaders.columns import at_indices, doubles, integers, nonfinite_places
from toolreaders.curves.doubts import suspicions
from toolreaders.curves.matching import METHODS, STEP, Matching, matched
from toolreaders.training.run_conditions import NORM
from toolreaders.training.series import LossSeries

NO_STEPS = array("q")
Pair = tuple[array, array]  # of the baseline and of the candidate


@dataclass(frozen=True)
class Aligned:
    """Two curves on the same ascending steps (numbered as in the baseline).

    `baseline_points` counts the baseline's records inside the window; `lone_nonfinite` holds the
    steps of NaN or infinite values that stand in one of the logs only. `unprovable` is the code of
    why the curves cannot be compared step by step. `bad_norms` are the steps at which a log prints
    a gradient norm that is not finite and that it does not explain; `shows_update` is false where
    all that a log prints are zero or not finite.

    `method` says by what the records were brought together; where it is not the step, the steps are
    the baseline's numbers of its records. `beside` holds by name what both or one of the logs print
    at the common steps, NaN where it prints nothing; `settings` the sizes that each log names;
    `resumed` the steps at which each run went on from an earlier one. `width`: steps that a record
    stands for; `is_start`: the first common record is the first of both logs.
    """

    steps: array[int]
    baseline: array[float]
    candidate: array[float]
    baseline_steps: array[int]
    warnings: list[ReadingWarning] = field(default_factory=list)
    first_step: int | None = None
    last_step: int | None = None
    lone_nonfinite: array[int] = field(default_factory=lambda: NO_STEPS)
    unprovable: str | None = None
    bad_norms: array[int] = field(default_factory=lambda: NO_STEPS)
    shows_update: bool = True
    method: str = STEP
    beside: dict[str, Pair] = field(default_factory=dict)
    settings: tuple[dict[str, int], dict[str, int]] = field(default_factory=lambda: ({}, {}))
    resumed: tuple[list[int], list[int]] = field(default_factory=lambda: ([], []))
    width: int | None = 1
    is_start: bool = False

    @property
    def baseline_points(self) -> int:
        return len(self.baseline_steps)

    @property
    def coverage(self) -> float:
        """Share of the baseline's records that have a counterpart."""
        return len(self.steps) / len(self.baseline_steps) if len(self.baseline_steps) else 0.0

    @property
    def _bad(self) -> set[int]:
        return {*nonfinite_places(self.baseline), *nonfinite_places(self.candidate)}

    @property
    def nonfinite(self) -> int:
        """Steps at which either value is NaN or infinite, with or without a counterpart."""
        return len(self._bad) + len(self.lone_nonfinite)

    @property
    def first_nonfinite_step(self) -> int | None:
        return min([*(self.steps[place] for place in self._bad), *self.lone_nonfinite],
                   default=None)

    def window(self, first: int | None, last: int | None) -> Aligned:
        """The part between two steps, both inclusive; None leaves a side open. Gradients before
        the part count: they made what it starts from."""
        if first is None and last is None:
            return self

        def inside(steps: Sequence[int]) -> slice:
            return slice(0 if first is None else bisect_left(steps, first),
                         len(steps) if last is None else bisect_right(steps, last))

        selected = inside(self.steps)
        steps = self.steps[selected]
        beside = {name: (ours[selected], theirs[selected])
                  for name, (ours, theirs) in self.beside.items()}
        return replace(
            self, steps=steps, baseline=self.baseline[selected], candidate=self.candidate[selected],
            baseline_steps=self.baseline_steps[inside(self.baseline_steps)],
            first_step=steps[0] if steps else None, last_step=steps[-1] if steps else None,
            beside=beside, is_start=self.is_start and steps[:1] == self.steps[:1],
            lone_nonfinite=self.lone_nonfinite[inside(self.lone_nonfinite)],
            bad_norms=self.bad_norms[:inside(self.bad_norms).stop])


@dataclass(frozen=True)
class _Curve:
    steps: array[int]
    losses: array[float]
    columns: dict[str, array[float]] = field(default_factory=dict)

    def keep(self, places: Sequence[int]) -> _Curve:
        """The records at these ascending places."""
        return _Curve(at_indices(self.steps, places), at_indices(self.losses, places),
                      {name: at_indices(column, places) for name, column in self.columns.items()})


_NO_CURVE = _Curve(NO_STEPS, array("d"))


def align(baseline: LossSeries, candidate: LossSeries) -> Aligned:
    """Common steps of two curves.

    A tool that counts from 0 is shifted to meet one that counts from 1; points, or means of short
    windows, are averaged into the windows of the curve with the longer ones. Each such step adds
    a warning; those of the two logs stand first. Where a log does not prove its step numbers, or
    both count different things (steps, epochs, samples), the records are brought together by what
    else both print (`matching`); where that does not prove it either, no step is in common.
    """
    warnings = [replace(found, message=f"{which}: {found.message}")
                for which, series in (("Baseline", baseline), ("Candidate", candidate))
                for found in series.warnings]
    base = _Curve(integers(baseline.steps), doubles(baseline.losses), _columns(baseline))
    if found := matched(baseline, candidate):
        return _with_runs(_aligned_by(base, found, baseline, candidate, warnings), baseline,
                          candidate)
    numbers = _on_the_same_base(baseline, candidate, warnings)
    other = _Curve(numbers, doubles(candidate.losses), _columns(candidate))
    unprovable = _unprovable(baseline, candidate, warnings)
    if unprovable:
        aligned = _intersected(base, _NO_CURVE, warnings)
        bad = array("q", sorted(_lone_nonfinite(base, ()) | _lone_nonfinite(other, ())))
        return replace(aligned, unprovable=unprovable, lone_nonfinite=bad)
    if baseline.step_unit != candidate.step_unit:
        warnings.append(ReadingWarning("step_unit", (
            f"The baseline counts {baseline.step_unit}s, the candidate {candidate.step_unit}s: "
            "the curves have no common axis.")))
        other = _NO_CURVE
    else:
        base, other = _averaged_alike(baseline, candidate, base, other, warnings)
    aligned = _with_gradients(_intersected(base, other, warnings), baseline, candidate, numbers)
    return _with_runs(aligned, baseline, candidate)


def _columns(series: LossSeries) -> dict[str, array[float]]:
    norms = {NORM: series.norms.values} if series.norms else {}
    return {**series.conditions.columns, **norms}


def _aligned_by(base: _Curve, found: Matching, baseline: LossSeries, candidate: LossSeries,
                warnings: list[ReadingWarning]) -> Aligned:
    """The records that `found` brings together, numbered as in the baseline."""
    numbers = array("q", candidate.steps)
    for ours, theirs in zip(found.baseline, found.candidate, strict=True):
        numbers[theirs] = base.steps[ours]
    own = _Curve(numbers, doubles(candidate.losses), _columns(candidate))
    warnings.append(ReadingWarning(f"aligned_by_{found.method}", (
        f"The step numbers do not bring the logs together; their {METHODS[found.method]} do, at "
        f"{len(found.baseline)} records.")))
    aligned = _intersected(base, own.keep(found.candidate), warnings)
    lone = _lone_nonfinite(own, aligned.steps).union(aligned.lone_nonfinite)
    aligned = replace(aligned, method=found.method, lone_nonfinite=array("q", sorted(lone)),
                      is_start=found.baseline[0] == found.candidate[0] == 0)
    return _with_gradients(aligned, baseline, candidate, numbers)


def _with_runs(aligned: Aligned, baseline: LossSeries, candidate: LossSeries) -> Aligned:
    """With what is doubtful about it, and what the logs say of the runs beside the records."""
    aligned.warnings.extend(suspicions(aligned.baseline, aligned.candidate))
    shift = baseline.step_base - candidate.step_base
    starts = [*baseline.steps[:1]], [step + shift for step in candidate.steps[:1]]
    is_start = aligned.method == STEP and [*aligned.steps[:1]] == starts[0] == starts[1]
    widths = [_width(series) if series.meaning == "point" or series.step_unit == "step" else None
              for series in (baseline, candidate)]
    return replace(
        aligned, width=None if None in widths else max(filter(None, widths)),
        is_start=aligned.is_start or (is_start and len(aligned.steps) > 0),
        settings=(baseline.conditions.settings, candidate.conditions.settings),
        resumed=(baseline.conditions.resumed,
                 [step + shift for step in candidate.conditions.resumed]))


def _with_gradients(aligned: Aligned, baseline: LossSeries, candidate: LossSeries,
                    numbers: Sequence[int]) -> Aligned:
    """What the logs' gradient norms say against the run; `numbers`: the candidate's steps as the
    baseline numbers them."""
    normed = [(series.norms, steps) for series, steps in (
        (baseline, baseline.steps), (candidate, numbers)) if series.norms]
    bad = {steps[place] for norms, steps in normed for place in norms.unexplained}
    return replace(aligned, bad_norms=array("q", sorted(bad)),
                   shows_update=not any(norms.show_no_update for norms, _steps in normed))


def _unprovable(baseline: LossSeries, candidate: LossSeries,
                warnings: list[ReadingWarning]) -> str | None:
    """Code of what forbids to compare single steps; a warning names the log."""
    for which, series in (("baseline", baseline), ("candidate", candidate)):
        if series.unprovable:
            warnings.append(ReadingWarning(series.unprovable, (
                f"The {which} does not prove to which step a record belongs: no step is compared."
            )))
            return series.unprovable
    return None


def _on_the_same_base(baseline: LossSeries, candidate: LossSeries,
                      warnings: list[ReadingWarning]) -> array[int]:
    shift = baseline.step_base - candidate.step_base
    if shift and baseline.step_unit == candidate.step_unit:
        warnings.append(ReadingWarning("step_base", (
            f"One log counts from {baseline.step_base}, the other from {candidate.step_base}: "
            f"the candidate's steps were moved by {shift:+d}.")))
        return array("q", (step + shift for step in candidate.steps))
    return integers(candidate.steps)


def _averaged_alike(baseline, candidate, base, other, warnings) -> tuple[_Curve, _Curve]:
    """Averages the finer of the two curves where the coarser one prints means of windows."""
    ours, theirs = _width(baseline), _width(candidate)
    if ours and theirs and ours < theirs:
        warnings.append(_averaged("baseline", ours, theirs))
        base = _into_windows(base, other.steps, ours, baseline.step_base - 1)
    elif ours and theirs and theirs < ours:
        warnings.append(_averaged("candidate", theirs, ours))
        other = _into_windows(other, base.steps, theirs, baseline.step_base - 1)
    elif baseline.meaning != candidate.meaning:
        warnings.append(ReadingWarning("interval_meaning", (
            f"The baseline records {baseline.meaning}, the candidate {candidate.meaning}: "
            "the values are not of the same kind.")))
    elif baseline.interval != candidate.interval:
        warnings.append(ReadingWarning("interval_differs", (
            f"The baseline is logged every {baseline.interval} steps, the candidate every "
            f"{candidate.interval}: only steps that both logs hold are compared.")))
    return base, other


def _width(series: LossSeries) -> int | None:
    """Steps that a record stands for: 1 for a point; None where it cannot be averaged further."""
    if series.meaning == "point":
        return 1
    return series.interval if series.meaning == "window_mean" else None


def _averaged(which: str, width: int, windows: int) -> ReadingWarning:
    records = "points" if width == 1 else f"means over {width} steps"
    return ReadingWarning("interval_meaning", (
        f"The {which}'s {records} were averaged into the windows of {windows} steps of the other "
        "log, which prints means."))


def _into_windows(curve: _Curve, ends: array[int], width: int, origin: int) -> _Curve:
    """Means over (previous end, end] for every window that has all its records.

    Args:
        width: steps that one record of the curve stands for.
        origin: the number before the tools' first step; HF prints a first window of one step.

    A window that holds a NaN is NaN.
    """
    if not ends or not curve.steps:
        return _NO_CURVE
    usual = int(median(map(sub, ends[1:], ends))) if len(ends) > 1 else ends[0] - origin
    is_bad = [not isfinite(loss) for loss in curve.losses]
    sums = [0.0, *accumulate(0.0 if bad else loss
                             for bad, loss in zip(is_bad, curve.losses, strict=True))]
    spoiled = [0, *accumulate(is_bad)]
    steps, means, lasts = array("q"), array("d"), array("q")
    for start, end in pairwise([max(ends[0] - usual, origin), *ends]):
        left, right = bisect_right(curve.steps, start), bisect_right(curve.steps, end)
        count = right - left
        if count <= 0 or count * width != end - start:
            continue
        steps.append(end)
        lasts.append(right - 1)
        means.append(nan if spoiled[right] > spoiled[left] else (sums[right] - sums[left]) / count)
    return _Curve(steps, means, curve.keep(lasts).columns)


def _intersected(base: _Curve, other: _Curve, warnings: list[ReadingWarning]) -> Aligned:
    if base.steps == other.steps:
        ours, theirs, lone = base, other, NO_STEPS
    else:
        shared = set(base.steps).intersection(other.steps)
        ours, theirs = (_at(curve, shared) for curve in (base, other))
        lone = array("q", sorted(
            _lone_nonfinite(base, shared) | _lone_nonfinite(other, shared)))
    common = ours.steps
    lacking = array("d", [nan]) * len(common)
    beside = {name: (ours.columns.get(name, lacking), theirs.columns.get(name, lacking))
              for name in {**ours.columns, **theirs.columns}}
    return Aligned(common, ours.losses, theirs.losses, base.steps, warnings,
                   common[0] if common else None, common[-1] if common else None,
                   lone, beside=beside)


def _at(curve: _Curve, steps: AbstractSet[int]) -> _Curve:
    """The records of these steps."""
    return curve.keep([*compress(range(len(curve.steps)), map(steps.__contains__, curve.steps))])


def _lone_nonfinite(curve: _Curve, common: Collection[int]) -> set[int]:
    """Steps of losses that are not finite and have no counterpart."""
    return {curve.steps[place] for place in nonfinite_places(curve.losses)}.difference(common)
