"""The spread of a baseline's repeats, and whether a new one lies inside it. Pure arithmetic."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

FEWEST_RUNS = 3  # vendor guidance: three or more runs must agree (DOMAIN R-ACC-08)


@dataclass(frozen=True)
class Spread:
    """k runs: mean, sample standard deviation (None below two values), smallest and largest; of a
    curve these are of the distances of the repeats from the first run, which has none from itself.
    """

    runs: int
    mean: float
    deviation: float | None
    smallest: float
    largest: float
    is_of_distances: bool = False

    @property
    def width(self) -> float:
        """How far the runs lie apart: absolute, of a curve relative to the first run."""
        return self.largest if self.is_of_distances else self.largest - self.smallest

    @property
    def is_repeatable(self) -> bool:
        return self.runs >= FEWEST_RUNS

    def holds(self, value: float) -> bool:
        """Whether a re-measurement lies within what the recorded runs spanned."""
        return (self.is_of_distances or self.smallest <= value) and value <= self.largest


def spread_of(values: Sequence[float], *, is_of_distances: bool = False) -> Spread | None:
    """The spread of finite values; None for no value.

    Args:
        is_of_distances: the values are those of the repeats from the first run, which counts too.
    """
    if not values:
        return None
    mean = math.fsum(values) / len(values)
    deviation = None
    if len(values) > 1:
        squares = math.fsum((value - mean) ** 2 for value in values)
        deviation = math.sqrt(squares / (len(values) - 1))
    return Spread(len(values) + is_of_distances, mean, deviation, min(values), max(values),
                  is_of_distances)
