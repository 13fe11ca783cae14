"""The one page for who decides: aspects, the picture of models and criteria, what is open."""

from collections import Counter
from typing import Any

from assessments.definitions.aspects import Aspect, aspect_of
from assessments.models import Outcome

MOST_MODELS, MOST_CRITERIA, MOST_POINTS = 12, 6, 4  # on the page; the rest is counted
URGENCY = (Outcome.FAILED, Outcome.NOT_PROVABLE, Outcome.NOT_MEASURED, Outcome.PASSED)
WEIGHT = (Aspect.ACCURACY, Aspect.FUNCTION, Aspect.STABILITY, Aspect.PERFORMANCE, None)


def decision_summary(facts: dict) -> dict[str, Any]:
    """What the page shows, of facts in the active language."""
    metrics, points = facts["metrics"], facts.get("open_points") or []
    return {
        "aspects": [_counted(aspect, metrics) for aspect in (*Aspect, None)
                    if aspect or any(_aspect(row) is None for row in metrics)],
        "picture": picture(facts),
        "points": points[:MOST_POINTS], "more_points": max(0, len(points) - MOST_POINTS),
    }


def cited_test_report(facts: dict) -> dict | None:
    """The newest test report that the document refers to."""
    return next((row for row in reversed(facts["references"])
                 if row["number"].startswith("TR-")), None)


def picture(facts: dict) -> dict[str, Any]:
    """Model × criterion, for pages, PDF and Word: what is not passed first, a cell per pair with
    its outcomes, the worst of them first; nothing where no criterion is agreed.

    Args:
        facts: of a snapshot, in one language.
    """
    metrics = sorted(facts["metrics"], key=_urgency)
    named = {model["code"]: model["name"] for model in facts["models"]}
    columns = list(dict.fromkeys(row["name"] for row in sorted(
        metrics, key=lambda row: WEIGHT.index(_aspect(row)))))
    columns.sort(key=lambda name: min(map(_urgency, _of(metrics, name=name))))
    codes = list(dict.fromkeys([*(row["model"] for row in metrics), *named]))
    shown = columns[:MOST_CRITERIA]
    return {
        "columns": [{"name": name, "threshold": _common(_of(metrics, name=name))}
                    for name in shown],
        "rows": [{"model": code, "name": named.get(code, ""),
                  "cells": [_cell(_of(metrics, name=name, model=code)) for name in shown]}
                 for code in codes[:MOST_MODELS]],
        "more": max(0, len(codes) - MOST_MODELS) + max(0, len(columns) - MOST_CRITERIA),
    } if columns else {}


def _of(metrics: list[dict], **asked: str) -> list[dict]:
    return [row for row in metrics if all(row[key] == value for key, value in asked.items())]


def _urgency(metric: dict) -> int:
    return URGENCY.index(metric["outcome"])


def _common(metrics: list[dict]) -> str:
    """The threshold that all of them have."""
    found = {row["threshold"] for row in metrics}
    return found.pop() if len(found) == 1 else ""


def _cell(metrics: list[dict]) -> list[dict]:
    """By outcome, worst first: its word, the figure of a single one, and how many there are."""
    labels = {row["outcome"]: row["outcome_label"] for row in metrics}
    return [{"outcome": outcome, "label": label, "n": len(alike),
             "figure": alike[0]["figure"] if len(alike) == 1 else ""}
            for outcome, label in labels.items() if (alike := _of(metrics, outcome=outcome))]


def _aspect(metric: dict) -> Aspect | None:
    return aspect_of(metric["quantity"])


def _counted(aspect: Aspect | None, metrics: list[dict]) -> dict[str, Any]:
    found = Counter(row["outcome"] for row in metrics if _aspect(row) == aspect)
    return {"aspect": aspect, "all": found.total(), **{value: found[value]
                                                        for value in Outcome.values}}
