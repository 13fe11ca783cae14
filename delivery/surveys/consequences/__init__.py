"""What follows from the answers of a survey (DOMAIN 7, column “feeds”)."""

# Importing declares the kinds; they are shown and applied in this order.
from delivery.surveys.consequences import (  # noqa: F401, I001
    scope,
    rules,
    defaults,
    baselines,
    risks,
    effort,
)
from delivery.surveys.consequences.base import KINDS, Item, Kind, digest
from delivery.surveys.consequences.comparison import Row
from delivery.surveys.consequences.comparison import compare
from delivery.surveys.consequences.counted_answers import CountedAnswers

__all__ = ["KINDS", "CountedAnswers", "Item", "Kind", "Row", "compare", "digest"]
