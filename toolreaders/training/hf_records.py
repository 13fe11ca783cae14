"""What Hugging Face Trainer does not print: NaN losses."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from math import isfinite, isnan, nan

from toolreaders.columns import ordered
from toolreaders.source import ReadingWarning
from toolreaders.training.grad_norms import GradientNorms
from toolreaders.training.series import usual_interval


def real_losses(
    shown: array[float], norms: GradientNorms | None, steps: Sequence[int]
) -> tuple[array[float], list[ReadingWarning]]:
    """The losses the printed ones stand for, and a warning that names the hidden NaN.

    transformers ``logging_nan_inf_filter`` prints 0.0 for NaN, and in a window of several steps
    the mean of the others. So 0.0 beside a missing, zero or NaN gradient norm was NaN, and so was
    a window that ends with a NaN gradient norm that the log does not explain. A loss that is really
    zero keeps a positive norm.
    """
    hides = {place for place, loss in enumerate(shown) if loss == 0.0}
    if norms is not None:
        hides = {place for place in hides
                 if not (isfinite(norms.values[place]) and norms.values[place] > 0)}
        if (usual_interval(ordered(steps)) or 1) > 1:
            hides.update(place for place in norms.unexplained if isnan(norms.values[place]))
    if not hides:
        return shown, []
    losses = array("d", shown)
    for place in hides:
        losses[place] = nan
    return losses, _hidden_nan([steps[place] for place in sorted(hides) if isfinite(shown[place])])


def _hidden_nan(hidden: Sequence[int]) -> list[ReadingWarning]:
    if not hidden:
        return []
    message = (
        f"{len(hidden)} records print a number (usually 0.0) where the loss was NaN "
        f"(logging_nan_inf_filter), first at step {hidden[0]}; they count as NaN."
    )
    return [ReadingWarning("hidden_nan", message)]
