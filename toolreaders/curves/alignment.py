"""Brings two loss curves onto common steps, and says what had to be done for it."""

from dataclasses import dataclass, field, replace

from toolreaders.arrays import np
from toolreaders.base import ReadingWarning
from toolreaders.curves.doubts import suspicions
from toolreaders.training.series import LossSeries

NO_STEPS = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Aligned:
    """Two curves on the same ascending steps (numbered as in the baseline).

    `baseline_points` counts the baseline's records inside the window; `lone_nonfinite` holds the
    steps of NaN or infinite values that stand in one of the logs only. `unprovable` is the code of
    why the curves cannot be compared step by step. `bad_norms` are the steps at which a log prints
    a gradient norm that is not finite and that it does not explain; `shows_update` is false where
    all that a log prints are zero or not finite.
    """

    steps: np.ndarray
    baseline: np.ndarray
    candidate: np.ndarray
    baseline_steps: np.ndarray
    warnings: list[ReadingWarning] = field(default_factory=list)
    first_step: int | None = None
    last_step: int | None = None
    lone_nonfinite: np.ndarray = field(default_factory=lambda: NO_STEPS)
    unprovable: str | None = None
    bad_norms: np.ndarray = field(default_factory=lambda: NO_STEPS)
    shows_update: bool = True

    @property
    def baseline_points(self) -> int:
        return len(self.baseline_steps)

    @property
    def coverage(self) -> float:
        """Share of the baseline's records that have a counterpart."""
        return len(self.steps) / len(self.baseline_steps) if len(self.baseline_steps) else 0.0

    @property
    def _bad(self) -> np.ndarray:
        return ~(np.isfinite(self.baseline) & np.isfinite(self.candidate))

    @property
    def nonfinite(self) -> int:
        """Steps at which either value is NaN or infinite, with or without a counterpart."""
        return int(self._bad.sum()) + len(self.lone_nonfinite)

    @property
    def first_nonfinite_step(self) -> int | None:
        steps = np.concatenate([self.steps[self._bad], self.lone_nonfinite])
        return int(steps.min()) if len(steps) else None

    def window(self, first: int | None, last: int | None) -> "Aligned":
        """The part between two steps, both inclusive; None leaves a side open. Gradients before
        the part count: they made what it starts from."""
        def inside(steps):
            if first is None and last is None:
                return slice(None)
            kept = np.ones(len(steps), dtype=bool)
            if first is not None:
                kept &= steps >= first
            if last is not None:
                kept &= steps <= last
            return kept

        kept = inside(self.steps)
        steps = self.steps[kept]
        return replace(
            self, steps=steps, baseline=self.baseline[kept], candidate=self.candidate[kept],
            baseline_steps=self.baseline_steps[inside(self.baseline_steps)],
            first_step=int(steps[0]) if len(steps) else None,
            last_step=int(steps[-1]) if len(steps) else None,
            lone_nonfinite=self.lone_nonfinite[inside(self.lone_nonfinite)],
            bad_norms=self.bad_norms[self.bad_norms <= (np.inf if last is None else last)])


@dataclass(frozen=True)
class _Curve:
    steps: np.ndarray
    losses: np.ndarray


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
    base = _Curve(baseline.steps, baseline.losses)
    other = _Curve(_on_the_same_base(baseline, candidate, warnings), candidate.losses)
    unprovable = _unprovable(baseline, candidate, warnings)
    if unprovable:
        aligned = _intersected(base, _Curve(NO_STEPS, np.empty(0)), warnings)
        bad = np.union1d(*(_lone_nonfinite(curve, NO_STEPS) for curve in (base, other)))
        return replace(aligned, unprovable=unprovable, lone_nonfinite=bad)
    if baseline.step_unit != candidate.step_unit:
        warnings.append(ReadingWarning("step_unit", (
            f"The baseline counts {baseline.step_unit}s, the candidate {candidate.step_unit}s: "
            "the curves have no common axis.")))
        other = _Curve(NO_STEPS, np.empty(0))
    else:
        base, other = _of_the_same_meaning(baseline, candidate, base, other, warnings)
    aligned = _intersected(base, other, warnings)
    aligned.warnings.extend(suspicions(aligned.baseline, aligned.candidate))
    return _with_gradients(aligned, baseline, candidate)


def _with_gradients(aligned: Aligned, baseline: LossSeries, candidate: LossSeries) -> Aligned:
    """What the logs' gradient norms say against the run; steps are numbered as the baseline's."""
    shift = baseline.step_base - candidate.step_base
    told = [(series.norms, series.steps + moved)
            for series, moved in ((baseline, 0), (candidate, shift)) if series.norms]
    bad = [steps[norms.is_unexplained] for norms, steps in told]
    return replace(aligned, bad_norms=np.unique(np.concatenate([NO_STEPS, *bad])),
                   shows_update=not any(norms.show_no_update for norms, _steps in told))


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
                      warnings: list[ReadingWarning]) -> np.ndarray:
    shift = baseline.step_base - candidate.step_base
    if shift and baseline.step_unit == candidate.step_unit:
        warnings.append(ReadingWarning("step_base", (
            f"One log counts from {baseline.step_base}, the other from {candidate.step_base}: "
            f"the candidate's steps were moved by {shift:+d}.")))
        return candidate.steps + shift
    return candidate.steps


def _of_the_same_meaning(baseline, candidate, base, other, warnings) -> tuple[_Curve, _Curve]:
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


def _into_windows(curve: _Curve, ends: np.ndarray, width: int, origin: int) -> _Curve:
    """Means over (previous end, end] for every window that has all its records.

    Args:
        width: steps that one record of the curve stands for.
        origin: the number before the tools' first step; HF prints a first window of one step.

    A window that holds a NaN is NaN.
    """
    if not len(ends) or not len(curve.steps):
        return _Curve(NO_STEPS, np.empty(0))
    usual = int(np.median(np.diff(ends))) if len(ends) > 1 else int(ends[0]) - origin
    starts = np.concatenate([[max(int(ends[0]) - usual, origin)], ends[:-1]])
    left = np.searchsorted(curve.steps, starts, side="right")
    right = np.searchsorted(curve.steps, ends, side="right")
    bad = ~np.isfinite(curve.losses)
    sums = np.concatenate([[0.0], np.cumsum(np.where(bad, 0.0, curve.losses))])
    spoiled = np.concatenate([[0], np.cumsum(bad)])
    counts = right - left
    full = (counts > 0) & (counts * width == ends - starts)
    means = (sums[right] - sums[left])[full] / counts[full]
    means[(spoiled[right] - spoiled[left])[full] > 0] = np.nan
    return _Curve(ends[full], means)


def _intersected(base: _Curve, other: _Curve, warnings: list[ReadingWarning]) -> Aligned:
    common, left, right = _common(base.steps, other.steps)
    lone = np.union1d(_lone_nonfinite(base, common), _lone_nonfinite(other, common))
    whole = Aligned(common, base.losses[left], other.losses[right], base.steps, warnings)
    return replace(whole.window(None, None), lone_nonfinite=lone)


def _common(ours: np.ndarray, theirs: np.ndarray) -> tuple:
    """Common steps, and where each of the two has them."""
    if np.array_equal(ours, theirs):
        return ours, slice(None), slice(None)
    return np.intersect1d(ours, theirs, assume_unique=True, return_indices=True)


def _lone_nonfinite(curve: _Curve, common: np.ndarray) -> np.ndarray:
    return np.setdiff1d(curve.steps[~np.isfinite(curve.losses)], common, assume_unique=True)
