"""What a reader says of a comparison whose rows are not all good."""

from __future__ import annotations

from typing import Any

from toolreaders.source import ReadingWarning


def comparison_warnings(values: dict[str, Any], *, nonfinite: str, unmatched: str
                        ) -> list[ReadingWarning]:
    """Of the counts `nonfinite`, `unmatched` and `rows`.

    Args:
        nonfinite, unmatched: what rows that are counted as such are or were not.
    """
    warnings = [ReadingWarning(code, f"{values[name]} rows {words}.") for name, code, words in (
        ("nonfinite", "nonfinite_values", nonfinite),
        ("unmatched", "unmatched_operators", unmatched)) if values[name]]
    if not values["rows"]:
        warnings.append(ReadingWarning("no_rows", "Nothing was compared."))
    return warnings
