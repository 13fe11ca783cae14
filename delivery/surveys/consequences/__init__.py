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
from delivery.surveys.consequences.comparing import Row, compare
from delivery.surveys.consequences.given import Given

__all__ = ["KINDS", "Given", "Item", "Kind", "Row", "compare", "digest"]
