"""Which side of a blind comparison raters preferred, from the choices as their sheets hold them."""

import hashlib
from collections.abc import Iterable
from typing import Any

BETTER, SAME, WORSE = "better", "same", "worse"  # of the migrated model against the baseline
PREFERENCES = (BETTER, SAME, WORSE)
SIDES, TIE = ("A", "B"), "="


def candidate_side(seed: int, number: int) -> str:
    """A or B: where the migrated model's answer to item `number` (from 1) stands.

    The lowest bit of the first byte of SHA-256 of "SEED:NUMBER"; anyone can compute it anew.
    """
    return SIDES[hashlib.sha256(f"{seed}:{number}".encode()).digest()[0] & 1]


def preference(choice: str, side: str) -> str:
    """What a choice (A, B or =) says of the migrated model that stood on `side`."""
    if choice == TIE:
        return SAME
    return BETTER if choice == side else WORSE


def preferences_of(values: dict[str, Any]) -> Iterable[list[str | None]]:
    """Per rater the preference for each item, None where an item was not rated.

    Args:
        values: of a report `human_evaluation`: `seed`, and `ratings` with `choices` by item.
    """
    seed = values.get("seed")
    for rating in values.get("ratings") or []:
        yield [preference(choice, candidate_side(seed, number)) if choice in (*SIDES, TIE) else None
               for number, choice in enumerate(rating.get("choices") or [], 1)]


def not_worse(values: dict[str, Any]) -> float | None:
    """Share of all ratings that found the migrated model better or the same; None without any."""
    given = [one for rater in preferences_of(values) for one in rater if one]
    return sum(one != WORSE for one in given) / len(given) if given else None
