"""msprobe merge_result: one sheet per figure, one row per tensor, one column per rank."""

from __future__ import annotations

import re
from typing import Any

from toolreaders.accuracy.msprobe_rows import number
from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.source import ReadError, ReadingWarning
from toolreaders.xlsx import text, workbook_of

RANK = re.compile(r"^rank\d+$")
NONFINITE = re.compile(r"NPU: *(?:-?inf|nan)\b", re.IGNORECASE)
LISTED = 200


@register
class MergeResultReader(Reader):
    """``multi_ranks_compare_merge_*.xlsx``. A non-finite cell reads ``NPU:Nan  Bench:-0.04``."""

    name = "msprobe_merge_result"
    kind = "accuracy_merge"
    tool = "msprobe"

    def recognises(self, sample: Sample) -> int:
        book = workbook_of(sample.source)
        if book is None:
            return 0
        headers = [[text(cell) for cell in row] for row in book.headers.values()]
        return 90 if headers and all(_is_merge(header) for header in headers) else 0

    def read(self, source: Source) -> Reading:
        book = workbook_of(source)
        if book is None:
            raise ReadError("damaged_xlsx", "The workbook cannot be opened.")
        sheets: dict[str, Any] = {}
        ranks: list[str] = []
        for name, header in book.headers.items():
            ranks = [text(cell) for cell in header[1:] if RANK.match(text(cell))]
            rows = [row for row in list(book.rows(name))[1:] if row and text(row[0])]
            sheets[name] = _sheet(ranks, rows)
        hit = [name for sheet in sheets.values() for name in sheet["nonfinite"]]
        found = {
            "form": "merge_result",
            "sheets": sheets,
            "ranks": ranks,
            "rows": max((sheet["rows"] for sheet in sheets.values()), default=0),
            "nonfinite": len(set(hit)),
            "nonfinite_names": sorted(set(hit))[:LISTED],
        }
        warnings = []
        if hit:
            message = f"{len(set(hit))} tensors are NaN or Inf on some rank."
            warnings.append(ReadingWarning("nonfinite_values", message))
        return self.reading(found, warnings=warnings, tool_version="26.x")


def _is_merge(header: list[str]) -> bool:
    return len(header) > 1 and header[0] == "NPU Name" and bool(RANK.match(header[1]))


def _sheet(ranks: list[str], rows: list[tuple[Any, ...]]) -> dict[str, Any]:
    worst: dict[str, float] = {}
    nonfinite: dict[str, list[str]] = {}
    for row in rows:
        for rank, cell in zip(ranks, row[1:], strict=False):
            figure = number(cell)
            if NONFINITE.search(text(cell)) or (figure is not None and abs(figure) == float("inf")):
                nonfinite.setdefault(text(row[0]), []).append(rank)
            elif figure is not None:
                worst[rank] = max(abs(figure), worst.get(rank, 0.0))
    return {"rows": len(rows), "largest": worst, "nonfinite": nonfinite}
