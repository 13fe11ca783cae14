"""Fewer points of a curve for drawing, with every extreme kept."""

from itertools import pairwise

import numpy as np

MOST_POINTS = 1000


def kept_for_drawing(values: np.ndarray, most: int = MOST_POINTS) -> np.ndarray:
    """Ascending indices of at most `most` values: of every stretch its lowest and its highest.

    A spike of a single step is always drawn. Non-finite values do not count as extremes; a
    stretch that holds nothing else keeps its first one, so that the gap is drawn.
    """
    count = len(values)
    if count <= most:
        return np.arange(count)
    edges = np.linspace(0, count, most // 2, endpoint=True).astype(int)
    chosen = {0, count - 1}
    for start, end in pairwise(edges):
        part = values[start:end]
        finite = np.isfinite(part)
        if not finite.any():
            chosen.add(int(start))
            continue
        chosen.add(int(start + np.where(finite, part, np.inf).argmin()))
        chosen.add(int(start + np.where(finite, part, -np.inf).argmax()))
    return np.array(sorted(chosen))
