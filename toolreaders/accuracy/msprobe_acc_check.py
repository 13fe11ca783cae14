"""msprobe acc_check (8.x run_ut) and api_precision_compare: single APIs against a CPU reference.

Files are UTF-8 with BOM and Chinese headers. A NaN from the device is only a ``warning`` there and
``pass`` in api_precision_compare: inf/nan columns and messages are looked at themselves.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.csv_rows import csv_header, csv_rows
from toolreaders.source import ReadingWarning

RESULT = ("Forward Test Success", "Backward Test Success")
CHECK_DETAILS = ("DEVICE Dtype", "余弦相似度", "Status")
COMPARE_DETAILS = ("比对结果", "比对算法")
NONFINITE = re.compile(r"\b(?:nan|inf)\b", re.IGNORECASE)
LISTED = 200


@register
class AccCheckReader(Reader):
    """The four tables: result and details of acc_check and of api_precision_compare."""

    name = "msprobe_acc_check"
    kind = "api_accuracy"
    tool = "msprobe"

    def recognises(self, sample: Sample) -> int:
        return 95 if _form(csv_header(sample)) else 0

    def read(self, source: Source) -> Reading:
        table = [tuple(str(cell) for cell in row) for row in csv_rows(source)]
        header = [cell.strip() for cell in table[0]]
        form = _form(header)
        rows = [_record(header, row) for row in table[1:] if any(cell.strip() for cell in row)]
        whole = [row for row in rows if row.get(_verdicts(form)[0])]
        values = _values(form or "", whole)
        warnings = _warnings(values)
        if len(whole) < len(rows):
            message = f"{len(rows) - len(whole)} rows are incomplete and left out."
            warnings.append(ReadingWarning("truncated_record", message))
        return self.reading(values, warnings=warnings)


def _form(header: list[str]) -> str | None:
    names = set(header)
    if set(RESULT) <= names:
        # acc_check spells "API name", api_precision_compare "API Name"
        return "api_precision_result" if "API Name" in names else "acc_check_result"
    if set(CHECK_DETAILS) <= names:
        return "acc_check_details"
    return "api_precision_details" if set(COMPARE_DETAILS) <= names else None


def _verdicts(form: str | None) -> tuple[str, ...]:
    return {"acc_check_details": ("Status",), "api_precision_details": ("比对结果",)}.get(
        form or "", RESULT
    )


def _record(header: list[str], row: tuple[str, ...]) -> dict[str, str]:
    record = {name: cell.strip() or " " for name, cell in zip(header, row, strict=False)}
    record["name"] = record.get("API Name", record.get("API name", "")).strip()
    return record


def _values(form: str, rows: list[dict[str, str]]) -> dict[str, Any]:
    columns = _verdicts(form)
    verdicts = {name: dict(Counter(row.get(name, " ") for row in rows)) for name in columns}
    failed = [row["name"] for row in rows if any(row.get(name) == "error" for name in columns)]
    noticed = [row["name"] for row in rows if any(row.get(name) == "warning" for name in columns)]
    nonfinite = [row["name"] for row in rows if _nonfinite(row)]
    return {
        "form": form,
        "rows": len(rows),
        "apis": len({row["name"] for row in rows}),
        "tool_verdicts": verdicts if len(columns) > 1 else verdicts[columns[0]],
        "errors": len(failed),
        "error_names": failed[:LISTED],
        "first_error": failed[0] if failed else None,
        "warnings": len(noticed),
        "warning_names": noticed[:LISTED],
        "nonfinite": len(nonfinite),
        "nonfinite_names": nonfinite[:LISTED],
    }


def _nonfinite(row: dict[str, str]) -> bool:
    """A metric that is NaN or Inf, or a positive share of wrong inf/nan positions."""
    share = row.get("inf/nan错误率", " ")
    if _positive(share):
        return True
    return any(
        NONFINITE.fullmatch(cell.strip().lstrip("-"))
        for name, cell in row.items()
        if name != "Message"
    )


def _positive(cell: str) -> bool:
    try:
        return not float(cell) <= 0
    except ValueError:
        return False


def _warnings(values: dict[str, Any]) -> list[ReadingWarning]:
    warnings = []
    if values["errors"]:
        message = f"{values['errors']} rows are errors, first {values['first_error']}."
        warnings.append(ReadingWarning("api_errors", message))
    if values["warnings"]:
        message = (
            f"{values['warnings']} rows are warnings; the tool calls a NaN from the device only"
            f" that. First {values['warning_names'][0]}."
        )
        warnings.append(ReadingWarning("warnings_may_be_nan", message))
    if values["nonfinite"]:
        message = f"{values['nonfinite']} rows hold NaN or Inf."
        warnings.append(ReadingWarning("nonfinite_values", message))
    if values["form"].startswith("api_precision"):
        message = "api_precision_compare passes NaN: read acc_check's own tables beside it."
        warnings.append(ReadingWarning("nan_passes_here", message))
    return warnings
