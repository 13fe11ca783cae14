"""What Hugging Face Trainer does not print: NaN losses."""

from __future__ import annotations

from toolreaders.arrays import np
from toolreaders.source import ReadingWarning
from toolreaders.training.grad_norms import GradientNorms
from toolreaders.training.series import usual_interval


def real_losses(
    shown: np.ndarray, norms: GradientNorms | None, steps: np.ndarray
) -> tuple[np.ndarray, list[ReadingWarning]]:
    """The losses the printed ones stand for, and a warning that names the hidden NaN.

    transformers ``logging_nan_inf_filter`` prints 0.0 for NaN, and in a window of several steps
    the mean of the others. So 0.0 beside a missing, zero or NaN gradient norm was NaN, and so was
    a window that ends with a NaN gradient norm that the log does not explain. A loss that is really
    zero keeps a positive norm.
    """
    hides = shown == 0.0
    if norms is not None:
        hides &= ~(np.isfinite(norms.values) & (norms.values > 0))
        if (usual_interval(np.unique(steps)) or 1) > 1:
            hides |= norms.is_unexplained & np.isnan(norms.values)
    return np.where(hides, np.nan, shown), _hidden_nan(steps[np.isfinite(shown) & hides])


def _hidden_nan(hidden: np.ndarray) -> list[ReadingWarning]:
    if not len(hidden):
        return []
    message = (
        f"{len(hidden)} records print a number (usually 0.0) where the loss was NaN "
        f"(logging_nan_inf_filter), first at step {hidden[0]}; they count as NaN."
    )
    return [ReadingWarning("hidden_nan", message)]
