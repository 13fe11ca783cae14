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


class QualityRatings(TypedDict, total=False):
    """Scores by sample and rater, source platform against migrated model: counts, means, shares."""

    agreement: Record | None
    better: int
    migrated_mean: Number
    not_worse: float
    raters: list[Record]
    ratings: int
    same: int
    samples: int
    score_loss: Number | None
    source_mean: Number
    worse: int


KINDS = {
    "evaluation": Evaluation,
    "quality_ratings": QualityRatings,
}
