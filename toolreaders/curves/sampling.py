"""Fewer points of a curve for drawing, with every extreme kept."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from math import isfinite

MOST_POINTS = 1000


def drawing_indices(values: Sequence[float], most: int = MOST_POINTS) -> array[int]:
    """Ascending indices of at most `most` values: of every stretch its lowest and its highest.

    A spike of a single step is always drawn. Non-finite values do not count as extremes; a
    stretch that holds nothing else keeps its first one, so that the gap is drawn.
    """
    count = len(values)
    if count <= most:
        return array("q", range(count))
    stretches = most // 2 - 1
    chosen = {0, count - 1}
    for stretch in range(stretches):
        places = range(stretch * count // stretches, (stretch + 1) * count // stretches)
        finite = [place for place in places if isfinite(values[place])] or places[:1]
        chosen.add(min(finite, key=values.__getitem__))
        chosen.add(max(finite, key=values.__getitem__))
    return array("q", sorted(chosen))
