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
from toolreaders.columns import doubles, integers, nonfinite_places
from toolreaders.curves.doubts import suspicions
from toolreaders.training.series import LossSeries

NO_STEPS = array("q")


@dataclass(frozen=True)
class Aligned:
    """Two curves on the same ascending steps (numbered as in the baseline).

    `baseline_points` counts the baseline's records inside the window; `lone_nonfinite` holds the
    steps of NaN or infinite values that stand in one of the logs only. `unprovable` is the code of
    why the curves cannot be compared step by step. `bad_norms` are the steps at which a log prints
    a gradient norm that is not finite and that it does not explain; `shows_update` is false where
    all that a log prints are zero or not finite.
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
        def inside(steps: Sequence[int]) -> slice:
            return slice(0 if first is None else bisect_left(steps, first),
                         len(steps) if last is None else bisect_right(steps, last))

        selected = inside(self.steps)
        steps = self.steps[selected]
        return replace(
            self, steps=steps, baseline=self.baseline[selected], candidate=self.candidate[selected],
            baseline_steps=self.baseline_steps[inside(self.baseline_steps)],
            first_step=steps[0] if steps else None, last_step=steps[-1] if steps else None,
            lone_nonfinite=self.lone_nonfinite[inside(self.lone_nonfinite)],
            bad_norms=self.bad_norms[:inside(self.bad_norms).stop])


@dataclass(frozen=True)
class _Curve:
    steps: array[int]
    losses: array[float]


_NO_CURVE = _Curve(NO_STEPS, array("d"))


def align(baseline: LossSeries, candidate: LossSeries) -> Aligned:
    """Common steps of two curves.

    A tool that counts from 0 is shifted to meet one that counts from 1; points, or means of short
    windows, are averaged into the windows of the curve with the longer ones. Each such step adds
    a warning; those of the two logs stand first. Curves over different things (steps, epochs,
    samples) have no step in common, nor has one whose step numbers the log does not prove.
    """
    warnings = [replace(found, message=f"{which}: {found.message}")
                for which, series in (("Baseline", baseline), ("Candidate", candidate))
                for found in series.warnings]
    base = _Curve(integers(baseline.steps), doubles(baseline.losses))
    other = _Curve(_on_the_same_base(baseline, candidate, warnings), doubles(candidate.losses))
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
    aligned = _intersected(base, other, warnings)
    aligned.warnings.extend(suspicions(aligned.baseline, aligned.candidate))
    return _with_gradients(aligned, baseline, candidate)


def _with_gradients(aligned: Aligned, baseline: LossSeries, candidate: LossSeries) -> Aligned:
    """What the logs' gradient norms say against the run; steps are numbered as the baseline's."""
    shift = baseline.step_base - candidate.step_base
    normed = [(series.norms, series.steps, moved)
                  for series, moved in ((baseline, 0), (candidate, shift)) if series.norms]
    bad = {steps[place] + moved for norms, steps, moved in normed for place in norms.unexplained}
    return replace(aligned, bad_norms=array("q", sorted(bad)),
                   shows_update=not any(norms.show_no_update for norms, _steps, _moved in normed))


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
    steps, means = array("q"), array("d")
    for start, end in pairwise([max(ends[0] - usual, origin), *ends]):
        left, right = bisect_right(curve.steps, start), bisect_right(curve.steps, end)
        count = right - left
        if count <= 0 or count * width != end - start:
            continue
        steps.append(end)
        means.append(nan if spoiled[right] > spoiled[left] else (sums[right] - sums[left]) / count)
    return _Curve(steps, means)


def _intersected(base: _Curve, other: _Curve, warnings: list[ReadingWarning]) -> Aligned:
    if base.steps == other.steps:
        common, ours, theirs, lone = base.steps, base.losses, other.losses, NO_STEPS
    else:
        shared = set(base.steps).intersection(other.steps)
        common = array("q", filter(shared.__contains__, base.steps))
        ours, theirs = (_at(curve, shared) for curve in (base, other))
        lone = array("q", sorted(
            _lone_nonfinite(base, shared) | _lone_nonfinite(other, shared)))
    whole = Aligned(common, ours, theirs, base.steps, warnings)
    return replace(whole.window(None, None), lone_nonfinite=lone)


def _at(curve: _Curve, steps: AbstractSet[int]) -> array[float]:
    """The losses of these steps."""
    return array("d", compress(curve.losses, map(steps.__contains__, curve.steps)))


def _lone_nonfinite(curve: _Curve, common: Collection[int]) -> set[int]:
    """Steps of losses that are not finite and have no counterpart."""
    return {curve.steps[place] for place in nonfinite_places(curve.losses)}.difference(common)
