"""The spread of a baseline's repeats, and whether a new one lies inside it. Pure arithmetic."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

FEWEST_RUNS = 3  # vendor guidance: three or more runs must agree (DOMAIN R-ACC-08)


@dataclass(frozen=True)
class Spread:
    """k runs: mean, sample standard deviation (None below two runs), smallest and largest."""

    runs: int
    mean: float
    deviation: float | None
    smallest: float
    largest: float

    @property
    def is_repeatable(self) -> bool:
        return self.runs >= FEWEST_RUNS

    def holds(self, value: float) -> bool:
        """Whether a re-measurement lies within what the recorded runs spanned."""
        return self.smallest <= value <= self.largest


def spread_of(values: Sequence[float]) -> Spread | None:
    """The spread of finite values; None for no value."""
    if not values:
        return None
    mean = math.fsum(values) / len(values)
    deviation = None
    if len(values) > 1:
        squares = math.fsum((value - mean) ** 2 for value in values)
        deviation = math.sqrt(squares / (len(values) - 1))
    return Spread(len(values), mean, deviation, min(values), max(values))
