"""The one page for who decides: aspects, the criteria that decide, what is open."""

from collections import Counter
from typing import Any

from assessments.definitions.aspects import Aspect, aspect_of
from assessments.models import Outcome

MOST_ROWS, MOST_POINTS = 6, 4  # criteria and open points on the page; the rest is counted
URGENCY = (Outcome.FAILED, Outcome.NOT_PROVABLE, Outcome.NOT_MEASURED, Outcome.PASSED)
WEIGHT = (Aspect.ACCURACY, Aspect.FUNCTION, Aspect.STABILITY, Aspect.PERFORMANCE, None)


def decision_summary(facts: dict) -> dict[str, Any]:
    """What the page shows, of facts in the active language."""
    metrics, points = facts["metrics"], facts.get("open_points") or []
    ranked = sorted(metrics, key=lambda row: (
        URGENCY.index(row["outcome"]), WEIGHT.index(_aspect(row))))
    return {
        "aspects": [_counted(aspect, metrics) for aspect in (*Aspect, None)
                    if aspect or any(_aspect(row) is None for row in metrics)],
        "rows": ranked[:MOST_ROWS], "more_rows": max(0, len(metrics) - MOST_ROWS),
        "points": points[:MOST_POINTS], "more_points": max(0, len(points) - MOST_POINTS),
    }


def _aspect(metric: dict) -> Aspect | None:
    return aspect_of(metric["quantity"])


def _counted(aspect: Aspect | None, metrics: list[dict]) -> dict[str, Any]:
    found = Counter(row["outcome"] for row in metrics if _aspect(row) == aspect)
    return {"aspect": aspect, "all": found.total(), **{value: found[value]
                                                        for value in Outcome.values}}
