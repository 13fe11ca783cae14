"""msfmktransplt: its analysis and change tables (mstt ``msfmktransplt``, 2021 to 2026).

A killed run leaves readable tables: only the log's "run succeeded" proves that they are complete.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.csv_rows import csv_header, csv_rows
from toolreaders.number_parsing import whole_number
from toolreaders.source import ReadError, ReadingWarning

POSITION = ("File", "Start Line", "End Line")
OP_HEADER = (*POSITION, "OP", "Tips")
CHANGE_HEADER = (*POSITION, "Operation Type", "Message")
# header: (names the table may have, column with the API)
HEADERS: dict[tuple[str, ...], tuple[tuple[str, ...], str]] = {
    OP_HEADER: (
        ("unsupported_api", "unknown_api", "api_precision_advice", "api_performance_advice"),
        "OP",
    ),
    ("File", "Api"): (("cuda_op_list",), "Api"),
    ("OP Name", "Affected 3rd-party API"): (("cuda_op",), "OP Name"),
    ("Torch API", "Affected 3rd-party API"): (
        ("framework_unsupported_op", "migration_needed_op", "unknown_op"),
        "Torch API",
    ),
    ("File", "3rd-party API", "Message"): (("full_unsupported_results",), "3rd-party API"),
    (*POSITION, "Api Type", "Api Call Name", "Affinity Api Name"): (
        ("affinity_api_call",),
        "Affinity Api Name",
    ),
}
DYNAMIC_HEADER = (
    "Function Name",
    "File Path",
    "Line Number",
    "Call Stack",
    "Input Shape Range",
    "Output Shape Range",
)
LISTED = 500
LEAST_CELLS = 2  # that every table has
UNCONFIRMED = ReadingWarning(
    "run_not_confirmed",
    "A table alone does not show that the run came to its end: its log must say “run succeeded”.",
)


def _table(source: Source) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Header and (row number, cells) of the table; newlines inside quotes belong to the cell."""
    rows = [[str(cell).strip() for cell in row] for row in csv_rows(source)]
    header, body = rows[0], rows[1:]
    return header, [(number, row) for number, row in enumerate(body, start=2) if any(row)]


def _cut_off(source: Source, rows: list[tuple[int, list[str]]]) -> Iterator[ReadingWarning]:
    broken = [number for number, row in rows if len(row) < LEAST_CELLS]
    if broken:
        message = f"{len(broken)} rows have one cell alone: rows of the table were broken."
        yield ReadingWarning("damaged_lines", message, broken[0])
    if rows and not source.ends_with_newline():
        message = "The last row has no line end: the table may be cut off."
        yield ReadingWarning("truncated_record", message, rows[-1][0])


@register
class AnalysisTableReader(Reader):
    """Tables of pytorch_analyse.sh, also written by pytorch_gpu2npu.sh."""

    name = "msfmktransplt_analysis"
    kind = "migration_analysis"
    tool = "msfmktransplt"

    def recognises(self, sample: Sample) -> int:
        return 90 if tuple(csv_header(sample)) in HEADERS else 0

    def read(self, source: Source) -> Reading:
        header, rows = _table(source)
        names, column = HEADERS[tuple(header)]
        table, certain = _table_name(source, names, [row for _number, row in rows])
        at = header.index(column)
        items = [_item(header, row) for _number, row in rows if len(row) > min(at, 1)]
        apis = Counter(item[column] for item in items if item.get(column))
        files = Counter(item["File"] for item in items if item.get("File"))
        values = {
            "form": "table",
            "table": table,
            "columns": header,
            "rows": len(rows),
            "apis": dict(apis.most_common()),
            "files": dict(files.most_common()),
            "items": items[:LISTED],
            "succeeded": None,
        }
        warnings = [UNCONFIRMED, *_cut_off(source, rows)]
        if not certain:
            message = f"Header and rows fit several tables: {', '.join(names)}."
            warnings.append(ReadingWarning("table_unclear", message))
        return self.reading(values, warnings=warnings)


def _item(header: list[str], row: list[str]) -> dict[str, Any]:
    """One row by column name; NA is None, line numbers are integers (unknown_api has no Tips)."""
    item: dict[str, Any] = {}
    for name, cell in zip(header, row, strict=False):
        known = None if cell in ("NA", "-", "") else cell
        if name.endswith("Line") and known is not None:
            known = whole_number(known)
        item[name] = known
    return item


def _table_name(
    source: Source, names: tuple[str, ...], rows: list[list[str]]
) -> tuple[str | None, bool]:
    """Which table it is. The rows tell where they can, a known file name where they cannot."""
    if len(names) == 1:
        return names[0], True
    stem = PurePath(source.path).stem
    if names[0] == "unsupported_api" and rows:
        op_table = _op_table(rows)
        if op_table is not None:
            return op_table, True
    return (stem, True) if stem in names else (None, False)


def _op_table(rows: list[list[str]]) -> str | None:
    if all(len(row) == 4 for row in rows):
        return "unknown_api"
    tips = [row[4].lower() for row in rows if len(row) > 4]
    if all(tip in ("na", "-", "") for tip in tips):
        return "unsupported_api"
    if all("backward calculation" in tip or "precision" in tip for tip in tips):
        return "api_precision_advice"
    if any("performance" in tip or "non_blocking" in tip for tip in tips):
        return "api_performance_advice"
    return None


@register
class ChangeListReader(Reader):
    """``change_list.csv`` of pytorch_gpu2npu.sh: what was inserted, modified and deleted."""

    name = "msfmktransplt_changes"
    kind = "script_transplant"
    tool = "msfmktransplt"

    def recognises(self, sample: Sample) -> int:
        return 90 if tuple(csv_header(sample)) == CHANGE_HEADER else 0

    def read(self, source: Source) -> Reading:
        header, rows = _table(source)
        whole = [_item(header, row) for _number, row in rows if len(row) == len(header)]
        warnings = [UNCONFIRMED, *_cut_off(source, rows)]
        if len(whole) < len(rows):
            message = f"{len(rows) - len(whole)} rows are incomplete and left out."
            warnings.append(ReadingWarning("truncated_record", message, rows[-1][0]))
        removed = [item for item in whole if _removes_import(item)]
        if removed:
            message = (
                f"{len(removed)} imports were deleted; the tool leaves their uses in place:"
                f" check {removed[0]['File']}."
            )
            warnings.append(ReadingWarning("deleted_import", message))
        values = {
            "form": "change_list",
            "rows": len(whole),
            "operations": dict(Counter(item["Operation Type"] for item in whole)),
            "files": dict(Counter(item["File"] for item in whole).most_common()),
            "items": whole[:LISTED],
            "deleted_imports": [item["Message"] for item in removed],
            "succeeded": None,
        }
        return self.reading(values, warnings=warnings)


def _removes_import(item: dict[str, Any]) -> bool:
    return item["Operation Type"] == "DELETE" and "import" in (item["Message"] or "")


@register
class DynamicShapeReader(Reader):
    """``msft_dynamic_shape_analysis_report.csv`` of an instrumented run."""

    name = "msfmktransplt_dynamic_shape"
    kind = "migration_analysis"
    tool = "msfmktransplt"

    def recognises(self, sample: Sample) -> int:
        return 90 if tuple(csv_header(sample)) == DYNAMIC_HEADER else 0

    def read(self, source: Source) -> Reading:
        header, rows = _table(source)
        items = [dict(zip(header, row, strict=False)) for _number, row in rows]
        warnings = list(_cut_off(source, rows))
        if not items:
            message = "An empty report does not prove static shapes: DETECTOR.start may be missing."
            warnings.append(ReadingWarning("detector_not_started", message))
        if any("Function Name" not in item for item in items):
            raise ReadError("damaged_csv", "A row has no function name.")
        values = {
            "form": "dynamic_shape",
            "table": "msft_dynamic_shape_analysis_report",
            "rows": len(items),
            "functions": sorted({item["Function Name"] for item in items}),
            "items": items[:LISTED],
        }
        return self.reading(values, warnings=warnings)
