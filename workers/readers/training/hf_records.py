"""What Hugging Face Trainer does not print: NaN losses and step numbers."""

from __future__ import annotations

import numpy as np

from workers.readers.columns import Column
from workers.readers.source import ReadingWarning
from workers.readers.training.series import usual_interval


def real_losses(
    shown: np.ndarray, grad_norms: Column, steps: np.ndarray
) -> tuple[np.ndarray, list[ReadingWarning]]:
    """The losses the printed ones stand for, and a warning that names the hidden NaN.

    transformers ``logging_nan_inf_filter`` prints 0.0 for NaN, and in a window of several steps
    the mean of the others. So 0.0 beside a missing, zero or NaN gradient norm was NaN, and so was
    a window that ends with a NaN gradient norm. A loss that is really zero keeps a positive norm.
    """
    norms, is_told = grad_norms.values, grad_norms.is_told
    hides = (shown == 0.0) & ~(np.isfinite(norms) & (norms > 0))
    if is_told.any() and (usual_interval(np.unique(steps)) or 1) > 1:
        hides |= is_told & np.isnan(norms)
    losses = np.where(hides, np.nan, shown)
    bad_norms = np.isfinite(losses) & is_told & ~np.isfinite(norms)
    return losses, [
        *_hidden_nan(steps[np.isfinite(shown) & hides]),
        *_bad_norms(steps[bad_norms]),
    ]


def _hidden_nan(hidden: np.ndarray) -> list[ReadingWarning]:
    if not len(hidden):
        return []
    message = (
        f"{len(hidden)} records print a number (usually 0.0) where the loss was NaN "
        f"(logging_nan_inf_filter), first at step {hidden[0]}; they count as NaN."
    )
    return [ReadingWarning("hidden_nan", message)]


def _bad_norms(bad: np.ndarray) -> list[ReadingWarning]:
    if not len(bad):
        return []
    message = f"{len(bad)} finite losses stand beside a gradient norm that is NaN or Inf, "
    return [ReadingWarning("nonfinite_grad_norm", f"{message}first at step {bad[0]}.")]


MOST_TRIALS = 1_000_000


def infer_steps(count: int, done: int | None, epochs: Column) -> np.ndarray | None:
    """Steps of ``count`` records of a run of ``done`` steps: k, 2k, … or 1, k, 2k, …
    (``logging_first_step``), whichever fits the printed epochs best."""
    if not count or not done or done < count:
        return None
    if done == count:
        return np.arange(1, count + 1)
    intervals = range(max(1, done // (count + 1)), done // max(1, count - 1) + 1)
    if len(intervals) * count > MOST_TRIALS:
        return None
    known = epochs.values if epochs.is_told.all() else None
    best: tuple[float, int, np.ndarray] | None = None
    for interval in intervals:
        for first in (False, True):
            steps = interval * np.arange(1, count + 1 - first)
            steps = np.concatenate([[1], steps]) if first and interval > 1 else steps
            if len(steps) != count or not done - interval < steps[-1] <= done:
                continue
            misfit = 0.0 if known is None else _misfit(steps, known)
            candidate = (round(misfit, 3), _roundness(interval), steps)
            best = candidate if best is None or candidate[:2] < best[:2] else best
    return best[2] if best else None


def _misfit(steps: np.ndarray, epochs: np.ndarray) -> float:
    """Largest distance between printed epochs and epochs proportional to the steps."""
    if not epochs[-1]:
        return 0.0
    return float(np.abs(steps * (epochs[-1] / steps[-1]) - epochs).max() / epochs[-1])


def _roundness(interval: int) -> int:
    """0 for intervals people choose (10, 50, 100), more for others."""
    return next(i for i, base in enumerate((100, 50, 10, 5, 1)) if interval % base == 0)
