"""What Hugging Face Trainer does not print: NaN losses."""

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
