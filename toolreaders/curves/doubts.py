"""What makes a comparison of two loss curves doubtful although it can be computed."""

from array import array
from collections.abc import Sequence
from operator import sub, truediv

from toolreaders.base import ReadingWarning
from toolreaders.columns import finite_pairs, mean

NEAR_ZERO = 0.01  # below it relative errors say little (FORMATS: loss much larger than 0.01)
FEWEST, FEW = 20, 100
# A genuine pair with another data order: 3.2 % per step, 0.25 % between the means.
UNALIGNED_ERROR, UNALIGNED_FACTOR = 0.01, 5
SHIFT_FACTOR = 3


def suspicions(baseline: Sequence[float], candidate: Sequence[float]) -> list[ReadingWarning]:
    """Warnings about two curves on common steps. Non-finite pairs are left out."""
    b, n = finite_pairs(baseline, candidate)
    if not len(b):
        return []
    found = _near_zero(b)
    if len(b) < FEW:
        found.append(ReadingWarning("few_points", (
            f"Only {len(b)} common steps: agreed windows have 1,000 steps as a rule.")))
    if len(b) >= FEWEST and all(b):
        here = _error(b, n)
        found += _shifted(b, n, here) or _unaligned(b, n, here)
    return found


def _near_zero(b: Sequence[float]) -> list[ReadingWarning]:
    smallest = min(map(abs, b))
    if smallest >= NEAR_ZERO:
        return []
    return [ReadingWarning("loss_near_zero", (
        f"The baseline's loss falls to {smallest:.3g}: relative errors there say little; "
        "look at the absolute error and the error of the means."))]


def _shifted(b: Sequence[float], n: Sequence[float], here: float) -> list[ReadingWarning]:
    """A neighbouring step fits far better: the two tools count differently."""
    for shift in (1, -1):
        ours, theirs = (b[1:], n[:-1]) if shift > 0 else (b[:-1], n[1:])
        # of a long curve a part that alone errs too much tells the answer
        part = len(ours) * 2 // (SHIFT_FACTOR + 1)
        if _error(ours[:part], theirs[:part]) * part * SHIFT_FACTOR >= here * len(ours):
            continue
        moved = _error(ours, theirs)
        if moved * SHIFT_FACTOR < here:
            return [ReadingWarning("steps_may_be_shifted", (
                f"Moved by {shift:+d} record the candidate fits {here / max(moved, 1e-12):.3g} "
                "times better: check how both tools number their steps."))]
    return []


def _unaligned(b: Sequence[float], n: Sequence[float], error: float) -> list[ReadingWarning]:
    reference = mean(b)
    if not reference:
        return []
    means = abs(mean(n) - reference) / abs(reference)
    if error < UNALIGNED_ERROR or means * UNALIGNED_FACTOR > error:
        return []
    return [ReadingWarning("data_order_differs", (
        f"The steps differ by {error:.2%} on average, the means by {means:.2%} only: another "
        "data order or seed looks like this. Repeat both runs with the same data order and seed."))]


def _error(b: Sequence[float], n: Sequence[float]) -> float:
    return mean(array("d", map(truediv, map(abs, map(sub, n, b)), map(abs, b))))
