"""A curve's figure as a calculation that can be followed by hand: steps, sums, count."""

from typing import Any

from toolreaders.arrays import np
from toolreaders.curves.alignment import Aligned

SHOWN = 3
LEFT_OUT = {"mean_relative_error_from_step_21": 20}
LAST = {"relative_error_last_100": 100}
ADDED = {"mean_relative_error_epsilon_added": 1e-9}


def _largest(values: np.ndarray) -> np.ndarray:
    """Places of the largest values, largest first, the earlier of equals first."""
    if not len(values):
        return np.empty(0, dtype=np.int64)
    least = np.partition(values, -min(SHOWN, len(values)))[-min(SHOWN, len(values))]
    places = np.flatnonzero(values >= least)
    return places[np.argsort(-values[places], kind="stable")][:SHOWN]


def working(aligned: Aligned, figure: str, epsilon: float) -> dict[str, Any]:
    """The first and the worst steps that a figure counts, and the sums over all it counts.

    Relative errors are fractions; the divisor is max(|b|, ε), or |b| + ε where the definition
    adds it. Values that are not finite are left out, as in the figure.
    """
    kept = np.isfinite(aligned.baseline) & np.isfinite(aligned.candidate)
    kept[:LEFT_OUT.get(figure, 0)] = False
    places = np.flatnonzero(kept)[-LAST.get(figure, len(kept)):]
    steps, b, n = aligned.steps[places], aligned.baseline[places], aligned.candidate[places]
    added = ADDED.get(figure)
    divisor = np.maximum(np.abs(b), epsilon) if added is None else np.abs(b) + added
    error = np.abs(n - b)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(error == 0, 0.0, error / divisor)
    worst = _largest(relative)

    def rows(where) -> list[dict]:
        return [{"step": int(steps[i]), "baseline": float(b[i]), "candidate": float(n[i]),
                 "error": float(error[i]), "relative": float(relative[i])} for i in where]

    return {
        "figure": figure, "points": len(places), "first": rows(range(min(SHOWN, len(places)))),
        "worst": rows(worst), "sum_error": float(error.sum()),
        "sum_relative": float(relative.sum()), "sum_baseline": float(b.sum()),
        "sum_candidate": float(n.sum()),
    }
