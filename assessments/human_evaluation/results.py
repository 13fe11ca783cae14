"""What came of a human evaluation: preferences by rater and in all, and how far raters agree."""

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

from assessments.models import HumanEvaluation
from toolreaders.verdicts.agreement import Agreement, agreement
from toolreaders.verdicts.preferences import BETTER, PREFERENCES, SAME, WORSE, preferences_of

FORM = "human_evaluation"


@dataclass(frozen=True)
class Counts:
    """How often the migrated model was better, the same or worse."""

    name: str
    better: int
    same: int
    worse: int

    @property
    def rated(self) -> int:
        return self.better + self.same + self.worse

    @property
    def not_worse(self) -> float | None:
        """Share of better and same; a fraction, None without a rating."""
        return (self.better + self.same) / self.rated if self.rated else None


@dataclass(frozen=True)
class Results:
    raters: list[Counts]
    whole: Counts
    agreement: Agreement | None


def results_of(evaluation: HumanEvaluation) -> Results:
    """Recomputed from the choices; one query."""
    ratings = list(evaluation.ratings.select_related("artifact"))
    preferences = list(preferences_of(values_of(evaluation, ratings)))
    raters = [_counts(rating.rater, given)
              for rating, given in zip(ratings, preferences, strict=True)]
    return Results(raters, _counts("", [one for given in preferences for one in given]),
                   agreement(preferences))


def _counts(name: str, given: list[str | None]) -> Counts:
    found = Counter(one for one in given if one in PREFERENCES)
    return Counts(name, found[BETTER], found[SAME], found[WORSE])


def values_of(evaluation: HumanEvaluation, ratings: list) -> dict[str, Any]:
    """The content of the result file without its form."""
    return {"name": evaluation.name, "items": len(evaluation.items), "seed": evaluation.seed,
            "baseline_sha256": evaluation.baseline_file.sha256,
            "candidate_sha256": evaluation.candidate_file.sha256,
            "ratings": [{"rater": rating.rater, "sheet_sha256": rating.artifact.sha256,
                         "choices": rating.choices} for rating in ratings]}


def report_bytes(evaluation: HumanEvaluation) -> bytes:
    """The result file: JSON, from which the measured share is read."""
    ratings = list(evaluation.ratings.select_related("artifact"))
    found = {"desk_report": FORM, **values_of(evaluation, ratings)}
    return json.dumps(found, ensure_ascii=False, indent=1).encode()
