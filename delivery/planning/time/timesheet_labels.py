"""A timesheet's facts in words of the active language, for its page and its document."""

from decimal import Decimal

from django.utils.text import capfirst
from django.utils.translation import gettext as _

from delivery.planning.models import TimeEntry, WorkItem
from delivery.quotes.snapshot import grade_label
from engagements.models.engagement import localized

SAME = ("date", "person", "grade", "item", "stage", "model", "note", "corrects")


def presented(facts: dict) -> dict:
    """Facts with names, grades and items in the active language; figures are untouched."""
    return {
        **facts,
        "engagement": _party(facts["engagement"]), "customer": _party(facts["customer"]),
        "rows": _days([_row(row) for row in facts["rows"]]),
        "people": [_graded(_named(row)) for row in facts["people"]],
        "grades": [_graded(row) for row in facts["grades"]],
        "is_quoted": any(Decimal(row["contract"]) for row in facts["grades"])}


def _graded(row: dict) -> dict:
    return {**row, "grade_label": capfirst(grade_label(row["grade"]))}


def _named(row: dict) -> dict:
    """The person in the active language; older sheets hold no English names."""
    return {**row, "person": localized(row["person"], row.get("person_en", ""))}


def _party(entry: dict) -> dict:
    return {**entry, "name": localized(entry["name"], entry["name_en"])}


def _days(rows: list[dict]) -> list[dict]:
    """Both halves of a day with the same work as one row."""
    found: dict[tuple, list[dict]] = {}
    for row in rows:
        key = (*(row[name] for name in SAME), row["days"].startswith("-"))
        found.setdefault(key, []).append(row)
    return [group[0] if len(group) == 1 else {
        **group[0], "half_label": _("Whole day"),
        "days": f"{sum(Decimal(row['days']) for row in group):.1f}"} for group in found.values()]


def _row(row: dict) -> dict:
    task = [row["model"], str(WorkItem(row["item"]).label)]
    corrects = _("Corrects %(timesheet)s") % {"timesheet": row["corrects"]}
    return {**_named(row), "half_label": str(TimeEntry.Half(row["half"]).label),
            "grade_label": capfirst(grade_label(row["grade"])),
            "task": " · ".join(part for part in task if part),
            "note": ": ".join(part for part in (corrects if row["corrects"] else "", row["note"])
                              if part)}
