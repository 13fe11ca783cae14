"""What readings of evaluations hold, by kind."""

from __future__ import annotations

from typing import TypedDict

from toolreaders.value_types import Number, Record


class Evaluation(TypedDict, total=False):
    """Scores of a model by task and metric."""

    comparisons: list[Record]
    expected: bool
    limit: Number | None
    metrics: dict[str, Number]
    model: str | None
    n_shot: dict[str, int] | None
    samples: dict[str, int]
    scale: str | None
    scores: list[Record]
    step: int


KINDS = {
    "evaluation": Evaluation,
}
