"""What Hugging Face Trainer does not print: NaN losses and step numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from workers.readers.series import usual_interval
from workers.readers.source import ReadingWarning


def real_losses(
    shown: list[float], grad_norms: list[float | None], steps: list[int]
) -> tuple[list[float], list[ReadingWarning]]:
    """The losses the printed ones stand for, and a warning that names the hidden NaN.

    transformers ``logging_nan_inf_filter`` prints 0.0 for NaN, and in a window of several steps
    the mean of the others. So 0.0 beside a missing, zero or NaN gradient norm was NaN, and so was
    a window that ends with a NaN gradient norm. A loss that is really zero keeps a positive norm.
    """
    windows = (usual_interval(np.array(sorted(set(steps)))) or 1) > 1
    losses = [
        math.nan if _hides_nan(loss, norm, windows=windows) else loss
        for loss, norm in zip(shown, grad_norms, strict=True)
    ]
    return losses, _hidden_nan(shown, losses, steps) + _bad_norms(losses, grad_norms, steps)


def _hides_nan(loss: float, norm: float | None, *, windows: bool) -> bool:
    if loss == 0.0:
        return norm is None or not math.isfinite(norm) or norm <= 0
    return windows and norm is not None and math.isnan(norm)


def _hidden_nan(shown: list[float], losses: list[float], steps: list[int]) -> list[ReadingWarning]:
    hidden = [
        step
        for step, printed, loss in zip(steps, shown, losses, strict=True)
        if math.isfinite(printed) and math.isnan(loss)
    ]
    if not hidden:
        return []
    message = (
        f"{len(hidden)} records print a number (usually 0.0) where the loss was NaN "
        f"(logging_nan_inf_filter), first at step {hidden[0]}; they count as NaN."
    )
    return [ReadingWarning("hidden_nan", message)]


def _bad_norms(
    losses: list[float], norms: list[float | None], steps: list[int]
) -> list[ReadingWarning]:
    bad = [
        step
        for step, loss, norm in zip(steps, losses, norms, strict=True)
        if math.isfinite(loss) and norm is not None and not math.isfinite(norm)
    ]
    if not bad:
        return []
    message = f"{len(bad)} finite losses stand beside a gradient norm that is NaN or Inf, "
    return [ReadingWarning("nonfinite_grad_norm", f"{message}first at step {bad[0]}.")]


def infer_steps(count: int, done: int | None, epochs: Iterable[float | None]) -> list[int] | None:
    """Steps of ``count`` records of a run of ``done`` steps: k, 2k, … or 1, k, 2k, …
    (``logging_first_step``), whichever fits the printed epochs best."""
    if not count or not done or done < count:
        return None
    if done == count:
        return list(range(1, count + 1))
    known = [epoch for epoch in epochs if epoch is not None]
    best: tuple[float, int, list[int]] | None = None
    for interval in range(max(1, done // (count + 1)), done // max(1, count - 1) + 1):
        for first in (False, True):
            steps = [interval * index for index in range(1, count + 1 - first)]
            steps = [1, *steps] if first and interval > 1 else steps
            if len(steps) != count or not done - interval < steps[-1] <= done:
                continue
            misfit = _misfit(steps, known) if len(known) == count else 0.0
            candidate = (round(misfit, 3), _roundness(interval), steps)
            best = candidate if best is None or candidate[:2] < best[:2] else best
    return best[2] if best else None


def _misfit(steps: list[int], epochs: list[float]) -> float:
    """Largest distance between printed epochs and epochs proportional to the steps."""
    if not epochs[-1]:
        return 0.0
    scale = epochs[-1] / steps[-1]
    return max(abs(s * scale - e) for s, e in zip(steps, epochs, strict=True)) / epochs[-1]


def _roundness(interval: int) -> int:
    """0 for intervals people choose (10, 50, 100), more for others."""
    return next(i for i, base in enumerate((100, 50, 10, 5, 1)) if interval % base == 0)
