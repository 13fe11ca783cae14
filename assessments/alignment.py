"""Brings two loss curves onto common steps, and says what had to be done for it."""

from dataclasses import dataclass, field

import numpy as np

from workers.readers.base import ReadingWarning
from workers.readers.series import LossSeries

NEAR_ZERO = 0.01  # below it relative errors say little (FORMATS: loss much larger than 0.01)


@dataclass(frozen=True)
class Aligned:
    """Two curves on the same ascending steps (numbered as in the baseline).

    `baseline_points` counts the baseline's records inside the window.
    """

    steps: np.ndarray
    baseline: np.ndarray
    candidate: np.ndarray
    baseline_steps: np.ndarray
    warnings: list[ReadingWarning] = field(default_factory=list)
    first_step: int | None = None
    last_step: int | None = None

    @property
    def baseline_points(self) -> int:
        return len(self.baseline_steps)

    @property
    def coverage(self) -> float:
        """Share of the baseline's records that have a counterpart."""
        return len(self.steps) / len(self.baseline_steps) if len(self.baseline_steps) else 0.0

    @property
    def nonfinite(self) -> int:
        """Pairs in which either value is NaN or infinite."""
        return int((~(np.isfinite(self.baseline) & np.isfinite(self.candidate))).sum())

    @property
    def first_nonfinite_step(self) -> int | None:
        bad = ~(np.isfinite(self.baseline) & np.isfinite(self.candidate))
        return int(self.steps[bad][0]) if bad.any() else None

    def window(self, first: int | None, last: int | None) -> "Aligned":
        """The part between two steps, both inclusive; None leaves a side open."""
        def inside(steps):
            kept = np.ones(len(steps), dtype=bool)
            if first is not None:
                kept &= steps >= first
            if last is not None:
                kept &= steps <= last
            return kept

        kept = inside(self.steps)
        steps = self.steps[kept]
        return Aligned(
            steps, self.baseline[kept], self.candidate[kept],
            self.baseline_steps[inside(self.baseline_steps)], self.warnings,
            int(steps[0]) if len(steps) else None, int(steps[-1]) if len(steps) else None)


def align(baseline: LossSeries, candidate: LossSeries) -> Aligned:
    """Common steps of two curves.

    A tool that counts from 0 is shifted to meet one that counts from 1; points are averaged
    into the windows of a curve that records means. Each such step adds a warning.
    """
    warnings: list[ReadingWarning] = []
    steps, losses = candidate.steps, candidate.losses
    if baseline.step_base != candidate.step_base:
        shift = baseline.step_base - candidate.step_base
        steps = steps + shift
        warnings.append(ReadingWarning("step_base", (
            f"One log counts from {baseline.step_base}, the other from {candidate.step_base}: "
            f"the candidate's steps were moved by {shift:+d}.")))
    base_steps, base_losses = baseline.steps, baseline.losses
    if baseline.meaning == "window_mean" and candidate.meaning == "point":
        steps, losses = _into_windows(steps, losses, base_steps)
        warnings.append(_averaged("candidate"))
    elif candidate.meaning == "window_mean" and baseline.meaning == "point":
        base_steps, base_losses = _into_windows(base_steps, base_losses, steps)
        warnings.append(_averaged("baseline"))
    elif baseline.meaning != candidate.meaning:
        warnings.append(ReadingWarning("interval_meaning", (
            f"The baseline records {baseline.meaning}, the candidate {candidate.meaning}: "
            "the values are not of the same kind.")))
    common, left, right = np.intersect1d(base_steps, steps, return_indices=True)
    aligned = Aligned(common, base_losses[left], losses[right], base_steps, warnings)
    _warn_near_zero(aligned)
    return aligned.window(None, None)


def _averaged(which: str) -> ReadingWarning:
    return ReadingWarning("interval_meaning", (
        f"The {which}'s points were averaged into the windows of the other log, "
        "which prints means."))


def _into_windows(steps: np.ndarray, losses: np.ndarray, ends: np.ndarray
                  ) -> tuple[np.ndarray, np.ndarray]:
    """Means of the points in (previous end, end] for every window that has all its points."""
    right = np.searchsorted(steps, ends, side="right")
    left = np.concatenate([[np.searchsorted(steps, ends[0], side="left")], right[:-1]])
    if len(ends) > 1 and ends[0] == ends[1] - ends[0]:
        left[0] = 0  # the first window is a full one
    finite = np.isfinite(losses)
    sums = np.concatenate([[0.0], np.cumsum(np.where(finite, losses, 0.0))])
    bad = np.concatenate([[0], np.cumsum(~finite)])
    counts = right - left
    widths = np.diff(ends, prepend=ends[0] - counts[0])
    full = (counts > 0) & (counts == widths)
    means = (sums[right] - sums[left])[full] / counts[full]
    means[(bad[right] - bad[left])[full] > 0] = np.nan
    return ends[full], means


def _warn_near_zero(aligned: Aligned) -> None:
    finite = np.abs(aligned.baseline[np.isfinite(aligned.baseline)])
    if len(finite) and finite.min() < NEAR_ZERO:
        aligned.warnings.append(ReadingWarning("loss_near_zero", (
            f"The baseline's loss falls to {finite.min():.3g}: relative errors there say little; "
            "look at the absolute error and the error of the means.")))
