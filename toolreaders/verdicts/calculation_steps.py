"""A curve's figure as a calculation that can be followed by hand: steps, sums, count."""

from collections.abc import Iterable, Sequence
from heapq import nlargest
from typing import Any

from toolreaders.columns import at_indices, nonfinite_places, total
from toolreaders.curves.alignment import Aligned
from toolreaders.verdicts.curve_figures import (
    ADDED,
    LAST,
    LEFT_OUT,
    absolute_errors,
    added_errors,
    relative_errors,
)

SHOWN = 3


def working(aligned: Aligned, figure: str, epsilon: float) -> dict[str, Any]:
    """The first and the worst steps that a figure counts, and the sums over all it counts.

    Relative errors are fractions; the divisor is max(|b|, ε), or |b| + ε where the definition
    adds it. Values that are not finite are left out, as in the figure.
    """
    bad = {*nonfinite_places(aligned.baseline), *nonfinite_places(aligned.candidate)}
    places: Sequence[int] = range(LEFT_OUT.get(figure, 0), len(aligned.steps))
    if bad:
        places = [place for place in places if place not in bad]
    places = places[-LAST.get(figure, len(aligned.steps)):]
    b, n = at_indices(aligned.baseline, places), at_indices(aligned.candidate, places)
    added, errors = ADDED.get(figure), absolute_errors(b, n)
    relative = (relative_errors(b, n, epsilon, errors) if added is None
                else added_errors(b, n, added))
    worst = nlargest(SHOWN, range(len(places)), key=relative.__getitem__)

    def rows(where: Iterable[int]) -> list[dict]:
        return [{"step": aligned.steps[places[i]], "baseline": b[i], "candidate": n[i],
                 "error": abs(n[i] - b[i]), "relative": relative[i]} for i in where]

    return {
        "figure": figure, "points": len(places), "first": rows(range(min(SHOWN, len(places)))),
        "worst": rows(worst), "sum_error": total(errors),
        "sum_relative": total(relative), "sum_baseline": total(b), "sum_candidate": total(n),
    }
