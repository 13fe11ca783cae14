"""Tables of a snapshot as plain data: what the PDF, the workbook and the Word file print."""

from collections.abc import Iterable
from typing import Any

from delivery.documents.bilingual import both

# How a cell is set: text wraps, number is right-aligned, day and code stay on one line,
# hash is small and breaks anywhere, box is a tick box to be filled in by hand.
LOOKS = ("text", "number", "day", "code", "hash", "box")


def column(title, look: str = "text", *, is_required: bool = False) -> dict:
    """A column.

    Args:
        title: a callable that gives the title in the active language.
        look: one of LOOKS.
        is_required: an empty cell stands in the way of issuing.
    """
    if look not in LOOKS:
        raise ValueError(f"no such look: {look}")
    return {"title": both(title), "look": look, "is_required": is_required}


def table(caption, columns: list[dict], rows: Iterable[list[Any]], *, empty=None,
          is_grouped: bool = False, is_dense: bool = False) -> dict:
    """A table.

    Args:
        empty: gives the sentence that stands where there is no row.
        is_grouped: in print a first cell that repeats the one above it is left out.
        is_dense: a long list that is looked up rather than read; set small.
    """
    return {"caption": both(caption), "columns": columns, "is_grouped": is_grouped,
            "is_dense": is_dense,
            "rows": [[_cell(value) for value in row] for row in rows],
            "empty": both(empty) if empty else both(lambda: "")}


def _cell(value: Any) -> Any:
    """Text, or a text per language; None is an empty cell."""
    if value is None:
        return ""
    return value if isinstance(value, dict) else str(value)


def blanks(entry: dict) -> dict[str, list[int]]:
    """Numbers of the rows in which a required column is blank, by the column's title.

    Args:
        entry: a table in one language.
    """
    found: dict[str, list[int]] = {}
    for n, row in enumerate(entry["rows"], 1):
        for column_, cell in zip(entry["columns"], row, strict=True):
            if column_["is_required"] and not str(cell).strip():
                found.setdefault(column_["title"], []).append(n)
    return found
