"""How far raters agree beyond chance. Pure arithmetic.

Cohen's kappa for two raters: J. Cohen, A coefficient of agreement for nominal scales, Educational
and Psychological Measurement 20 (1960), 37–46. Fleiss' kappa for more: J. L. Fleiss, Measuring
nominal scale agreement among many raters, Psychological Bulletin 76 (1971), 378–382.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

COHEN, FLEISS = "cohen", "fleiss"
SOURCES = {COHEN: "Cohen (1960)", FLEISS: "Fleiss (1971)"}
FORMULA = "κ = (P_o − P_e) / (1 − P_e)"


@dataclass(frozen=True)
class Agreement:
    """Agreement over the `items` that every rater rated.

    kappa: None where chance agreement is 1 (everybody chose one category only) or no item was
    rated by all. observed, expected: P_o and P_e, fractions.
    """

    method: str
    raters: int
    items: int
    observed: float | None = None
    expected: float | None = None
    kappa: float | None = None

    @property
    def source(self) -> str:
        return SOURCES[self.method]


def agreement(ratings: Sequence[Sequence[str | None]]) -> Agreement | None:
    """Agreement of two or more raters; None for fewer.

    Args:
        ratings: per rater a category for each item, None where it was not rated.
    """
    if len(ratings) < 2:
        return None
    method = COHEN if len(ratings) == 2 else FLEISS
    complete = [item for item in zip(*ratings, strict=True) if None not in item]
    if not complete:
        return Agreement(method, len(ratings), 0)
    observed = sum(_pairs(item) for item in complete) / len(complete)
    expected = _by_chance_cohen(complete) if method == COHEN else _by_chance_fleiss(complete)
    kappa = None if expected == 1 else (observed - expected) / (1 - expected)
    return Agreement(method, len(ratings), len(complete), observed, expected, kappa)


def _pairs(item: Sequence[str]) -> float:
    """Share of the pairs of raters that agree on an item."""
    raters = len(item)
    return sum(n * (n - 1) for n in Counter(item).values()) / (raters * (raters - 1))


def _by_chance_cohen(complete: list[tuple[str, ...]]) -> float:
    """Sum over categories of the product of both raters' own shares."""
    first, second = (Counter(column) for column in zip(*complete, strict=True))
    return sum(first[c] * second[c] for c in first) / len(complete) ** 2


def _by_chance_fleiss(complete: list[tuple[str, ...]]) -> float:
    """Sum over categories of the square of their share in all ratings."""
    total = Counter(rating for item in complete for rating in item)
    number = sum(total.values())
    return sum((n / number) ** 2 for n in total.values())
