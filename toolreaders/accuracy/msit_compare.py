"""``msit llm compare``: tensors of ATB or TorchAir beside golden ones, weights, or logits.

Columns as in msit's own constants (msit_llm/common/constant.py). The tool sets no limit for
tensors, so none is applied; for logits it prints ``passed``. A row that could not be compared names
the reason; ``golden`` is the reference, ``my`` the device.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Any

from toolreaders.accuracy.comparison_warnings import comparison_warnings
from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.csv_rows import csv_header, csv_rows
from toolreaders.source import ReadError, ReadingWarning
from toolreaders.training.series import to_float

FORMS = {
    "tensor": {"golden_data_path", "my_data_path", "cosine_similarity"},
    "weight": {"weight_name", "golden_dtype", "my_dtype", "cosine_similarity"},
    "logits": {"file_name", "key", "token_id", "cosine_similarity", "passed"},
}
NAMES = ("weight_name", "my_data_path", "file_name")
REASON = "cmp_fail_reason"
NOT_FINITE = re.compile(r"\b(?:nan|inf)\b", re.IGNORECASE)
FIGURES = ("cosine_similarity", "max_relative_error", "mean_relative_error", "max_absolute_error",
           "mean_absolute_error", "kl_divergence", "relative_euclidean_distance", "l1_norm",
           "my_max_value", "my_min_value", "my_mean_value", "golden_max_value",
           "golden_min_value", "golden_mean_value")  # fmt: skip
LISTED = 200
Row = dict[str, Any]


def _form(header: list[str]) -> str | None:
    return next((form for form, needed in FORMS.items() if needed <= set(header)), None)


@register
class MsitCompareReader(Reader):
    """One comparison, row by row."""

    name = "msit_llm_compare"
    kind = "accuracy_compare"
    tool = "msit"

    def recognises(self, sample: Sample) -> int:
        return 95 if _form(csv_header(sample)) else 0

    def read(self, source: Source) -> Reading:
        table = csv_rows(source)
        header = [str(cell).strip() for cell in next(table)]
        rows, warnings = _rows(header, table)
        values = {"form": "msit_llm", "mode": _form(header), "columns": len(header)}
        values |= _values(rows)
        return self.reading(values, warnings=[*warnings, *comparison_warnings(
            values, nonfinite="are not finite", unmatched="were not compared")])


def _rows(header: list[str], table: Any) -> tuple[list[Row], list[ReadingWarning]]:
    rows, warnings = [], []
    for line, cells in enumerate(table, start=2):
        if not any(cells):
            continue
        if len(cells) != len(header):
            message = f"Row {line} has {len(cells)} of {len(header)} cells and is left out."
            warnings.append(ReadingWarning("truncated_record", message, line))
            continue
        row: Row = dict(zip(header, (str(cell).strip() for cell in cells), strict=True))
        rows.append({**row, "line": line, "op": next(row[name] for name in NAMES if name in row)})
    if not rows and warnings:
        raise ReadError("damaged_csv", "The comparison has no whole row.")
    return rows, warnings


def _cosine(row: Row) -> float | None:
    return to_float(row["cosine_similarity"])


def _is_compared(row: Row) -> bool:
    return _cosine(row) is not None and not row.get(REASON)


def _is_nonfinite(row: Row) -> bool:
    figures = (to_float(row.get(name, "")) for name in FIGURES) if _is_compared(row) else ()
    is_named = bool(NOT_FINITE.search(row.get(REASON, "")))
    return is_named or any(figure is not None and not math.isfinite(figure) for figure in figures)


def _values(rows: list[Row]) -> dict[str, Any]:
    nonfinite = [row for row in rows if _is_nonfinite(row)]
    missing = [row for row in rows if not _is_compared(row)]
    cosines = {row["line"]: cosine for row in rows
               if _is_compared(row) and math.isfinite(cosine := _cosine(row) or 0.0)}  # fmt: skip
    lowest = min(cosines, key=cosines.__getitem__, default=None)
    place = next((row for row in rows if row["line"] == lowest), None)
    reasons = dict.fromkeys(row[REASON] for row in rows if row.get(REASON))
    return {
        "rows": len(rows),
        "ops": len({row["op"] for row in rows}),
        "tool_verdicts": dict(Counter(row["passed"] for row in rows if row.get("passed"))),
        "nonfinite": len(nonfinite),
        "nonfinite_ops": _ops(nonfinite),
        "first_nonfinite": nonfinite[0]["op"] if nonfinite else None,
        "unmatched": len(missing),
        "unmatched_ops": _ops(missing),
        "fail_reasons": list(reasons)[:LISTED],
        "min_cosine": cosines.get(lowest),
        "lowest_cosine_row": place and {"op": place["op"], "row": lowest},
    }


def _ops(rows: list[Row]) -> list[str]:
    return list(dict.fromkeys(row["op"] for row in rows))[:LISTED]
