"""Ratings of outputs by people or a program are judged by the criterion that binds to them."""

from decimal import Decimal

import pytest

from assessments import services
from assessments.services.measurements import measure_file
from engagements.models import Role
from engagements.stages import Stage
from tests.assessments.conftest import signed

HEADER = "sample,rater,source_score,migrated_score\n"


@pytest.mark.parametrize(("code", "threshold", "migrated", "outcome"), [
    ("rated_not_worse", "0.75", (4, 4, 5, 1), "passed"),
    ("rated_not_worse", "0.75", (4, 3, 5, 1), "failed"),
    ("rated_score_loss", "0.05", (4, 4, 4, 4), "passed"),
    ("rated_score_loss", "0.05", (4, 4, 4, 3), "failed")])
def test_ratings_are_judged(people, draft, model, definitions, store, code, threshold, migrated,
                            outcome):
    row = services.add_criterion(
        actor=people[Role.MANAGER], criteria_set=draft, model=model, stage=Stage.INFER_TUNE,
        definition=definitions[code], threshold=Decimal(threshold), threshold_unit="fraction")
    signed(people, draft)
    ratings = HEADER + "".join(f"q{n},judge,4,{score}\n" for n, score in enumerate(migrated))
    [verdict] = measure_file(actor=people[Role.CONSULTANT], model=model,
                             artifact=store("ratings.csv", ratings.encode(), model))
    assert (verdict.criterion, verdict.outcome) == (row, outcome)
