"""Payment milestones and staffing as a quote stores them, from a page or the API."""

from collections.abc import Iterable
from decimal import Decimal


def milestone_rows(entries: Iterable[dict]) -> list[dict]:
    """Milestones with a name; percentages as text without trailing zeros."""
    return [{"percent": _plain(entry["percent"]), "name": entry["name"],
             "name_en": entry["name_en"], "days": entry["days"]}
            for entry in entries if entry.get("name")]


def staffing_rows(entries: Iterable[dict]) -> list[dict]:
    """Grades with person-days; days as text without trailing zeros."""
    return [{"grade": entry["grade"], "people": entry["people"], "days": _plain(entry["days"])}
            for entry in entries if entry.get("grade") and entry.get("days")]


def _plain(value: Decimal) -> str:
    return f"{value.normalize():f}"
