"""What makes a comparison of two loss curves doubtful although it can be computed."""

from toolreaders.arrays import np
from toolreaders.base import ReadingWarning

NEAR_ZERO = 0.01  # below it relative errors say little (FORMATS: loss much larger than 0.01)
FEWEST, FEW = 20, 100
# A genuine pair with another data order: 3.2 % per step, 0.25 % between the means.
UNALIGNED_ERROR, UNALIGNED_FACTOR = 0.01, 5
SHIFT_FACTOR = 3


def suspicions(baseline: np.ndarray, candidate: np.ndarray) -> list[ReadingWarning]:
    """Warnings about two curves on common steps. Non-finite pairs are left out."""
    finite = np.isfinite(baseline) & np.isfinite(candidate)
    b, n = baseline[finite], candidate[finite]
    if not len(b):
        return []
    found = _near_zero(b)
    if len(b) < FEW:
        found.append(ReadingWarning("few_points", (
            f"Only {len(b)} common steps: agreed windows have 1,000 steps as a rule.")))
    if len(b) >= FEWEST and b.all():
        found += _shifted(b, n) or _unaligned(b, n)
    return found


def _near_zero(b: np.ndarray) -> list[ReadingWarning]:
    smallest = np.abs(b).min()
    if smallest >= NEAR_ZERO:
        return []
    return [ReadingWarning("loss_near_zero", (
        f"The baseline's loss falls to {smallest:.3g}: relative errors there say little; "
        "look at the absolute error and the error of the means."))]


def _shifted(b: np.ndarray, n: np.ndarray) -> list[ReadingWarning]:
    """A neighbouring step fits far better: the two tools count differently."""
    here = _error(b, n)
    for shift in (1, -1):
        moved = _error(b[1:], n[:-1]) if shift > 0 else _error(b[:-1], n[1:])
        if moved * SHIFT_FACTOR < here:
            return [ReadingWarning("steps_may_be_shifted", (
                f"Moved by {shift:+d} record the candidate fits {here / max(moved, 1e-12):.3g} "
                "times better: check how both tools number their steps."))]
    return []


def _unaligned(b: np.ndarray, n: np.ndarray) -> list[ReadingWarning]:
    if not b.mean():
        return []
    error, means = _error(b, n), abs(n.mean() - b.mean()) / abs(b.mean())
    if error < UNALIGNED_ERROR or means * UNALIGNED_FACTOR > error:
        return []
    return [ReadingWarning("data_order_differs", (
        f"The steps differ by {error:.2%} on average, the means by {means:.2%} only: another "
        "data order or seed looks like this. Repeat both runs with the same data order and seed."))]


def _error(b: np.ndarray, n: np.ndarray) -> float:
    return float((np.abs(n - b) / np.abs(b)).mean())
