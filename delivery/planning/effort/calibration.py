"""Estimates against what was really worked: per item type, over finished model stages."""

from collections import defaultdict
from decimal import Decimal

from django.core.cache import cache
from django.db.models import Count, Sum
from django.utils.translation import get_language

from delivery.planning.estimation import History
from delivery.planning.models import EffortEstimate, EffortLine, TimeEntry, WorkItem
from engagements.models import StageRecord
from engagements.stages import StageState

FEWEST_SAMPLES = 3
SMALLEST, LARGEST = Decimal("0.5"), Decimal(2)  # no correction beyond these
HALF_DAY = Decimal("0.5")
CACHE_SECONDS = 600
APPROVED = (EffortEstimate.State.APPROVED,)


def comparison(lines=None) -> list[dict]:
    """Per item type: estimated (likely) and actual days of passed model stages, their ratio.

    Args:
        lines: EffortLines to look at; by default those of all approved estimates.
    """
    lines = EffortLine.objects.all() if lines is None else lines
    passed = set(StageRecord.objects.filter(state=StageState.PASSED).values_list(
        "model_id", "stage"))
    actual = _actual_days()
    rows = defaultdict(lambda: {"estimated": Decimal(0), "actual": Decimal(0), "samples": 0})
    estimated = lines.filter(estimate__state__in=APPROVED, model__isnull=False).order_by(
        ).values("model_id", "stage", "item").annotate(likely=Sum("likely"))
    for line in estimated:
        worked = actual.get((line["model_id"], line["item"]))
        if worked and (line["model_id"], line["stage"]) in passed:
            row = rows[line["item"]]
            row["estimated"] += line["likely"]
            row["actual"] += worked
            row["samples"] += 1
    return [{"item": item, "label": WorkItem(item).label, **row, "ratio": _ratio(row)}
            for item, row in sorted(rows.items(), key=lambda e: WorkItem.values.index(e[0]))]


def recent_comparison() -> list[dict]:
    """`comparison` of all estimates as it was in the last minutes: it reads every line of them."""
    return cache.get_or_set(f"effort-calibration-{get_language()}", comparison, CACHE_SECONDS)


def history() -> dict[str, History]:
    """Correction factors of item types with enough samples."""
    return {row["item"]: History(min(LARGEST, max(SMALLEST, row["ratio"])), row["samples"])
            for row in comparison() if row["samples"] >= FEWEST_SAMPLES and row["ratio"]}


def _actual_days() -> dict[tuple[int, str], Decimal]:
    rows = TimeEntry.objects.counted().filter(model__isnull=False).order_by().values(
        "model_id", "item").annotate(halves=Count("pk"))
    return {(row["model_id"], row["item"]): row["halves"] * HALF_DAY for row in rows}


def _ratio(row: dict) -> Decimal | None:
    if not row["estimated"]:
        return None
    return (row["actual"] / row["estimated"]).quantize(Decimal("0.01"))
