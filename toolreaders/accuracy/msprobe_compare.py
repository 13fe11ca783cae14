"""msprobe compare: ``compare_result_*.xlsx`` and ``.csv`` of 26.x, 8.x and 1.x, and the advisor.

What is judged are the numbers: non-finite values, operators without counterpart and the first
deviating row in execution order. The tool's verdicts are counted beside.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from toolreaders.accuracy.msprobe_rows import CompareRow, in_execution_order
from toolreaders.accuracy.msprobe_table import NAMES, compare_table, json_table
from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.csv_rows import csv_header
from toolreaders.number_parsing import whole_number
from toolreaders.source import ReadError, ReadingWarning
from toolreaders.xlsx import workbook_of

LISTED = 200


@register
class MsprobeCompareReader(Reader):
    """One comparison of a device dump (NPU) with a reference dump (Bench)."""

    name = "msprobe_compare"
    kind = "accuracy_compare"
    version = "2"
    tool = "msprobe"

    def recognises(self, sample: Sample) -> int:
        book = workbook_of(sample.source)
        if book is not None:
            return 95 if book.has(*NAMES) else 0
        return 95 if set(NAMES) <= set(csv_header(sample)) else 0

    def read(self, source: Source) -> Reading:
        table = compare_table(source)
        values = _values(table.header, table.rows, table.verdict)
        return self.reading(
            values,
            warnings=[*table.warnings, *_warnings(values)],
            tool_version=_version(table.header, table.rows, table.verdict),
        )


def _mode(header: list[str]) -> str:
    if "NPU MD5" in header:
        return "md5"
    return "tensor" if "Cosine" in header else "statistics"


def _version(header: list[str], rows: list[CompareRow], verdict: str) -> str | None:
    """Family of versions that writes such a table; single versions cannot be told apart."""
    if "NPU Requires_grad" not in header:
        return "1.x"
    if verdict != "Result" or "Err_message" not in header:
        return "8.x"
    messages = {row.text("Err_message")[:1] for row in rows}
    if not rows:
        return None
    return "26.x" if messages == {"["} else "8.x"


def _values(header: list[str], rows: list[CompareRow], verdict: str) -> dict[str, Any]:
    ordered = in_execution_order(rows)
    nonfinite = [row for row in ordered if row.nonfinite]
    unmatched = [row for row in ordered if not row.matched]
    flagged = [row for row in rows if _flagged(row.text(verdict))]
    return {
        "form": "msprobe_compare",
        "mode": _mode(header),
        "rows": len(rows),
        "columns": len(header),
        "ops": len({row.op for row in rows}),
        "verdict_column": verdict,
        "tool_verdicts": dict(Counter(_spelt(row.text(verdict)) for row in rows)),
        "first_flagged_by_tool": _place(flagged[0], verdict) if flagged else None,
        **_group("nonfinite", nonfinite, verdict),
        "npu_nonfinite": sum(row.npu_nonfinite for row in rows),
        "bench_nonfinite": sum(row.bench_nonfinite for row in rows),
        **_group("unmatched", unmatched, verdict),
        "npu_only": sum(not row.bench_matched for row in rows),
        "bench_only": sum(not row.npu_matched for row in rows),
        **_deviation(ordered, verdict),
        "dtype_mismatches": sum(row.dtype_differs for row in rows),
        "first_dtype_mismatch_row": next((row.line for row in rows if row.dtype_differs), None),
        "dtypes": {side: dict(Counter(row.text(f"{column} Dtype") for row in rows if row.matched))
                   for side, column in (("npu", "NPU"), ("bench", "Bench"))},
        "shape_mismatches": sum(row.shape_differs for row in rows),
        "md5_differences": sum(row.md5_differs for row in rows),
        **_extremes(rows),
    }


def _group(label: str, rows: list[CompareRow], verdict: str) -> dict[str, Any]:
    """Number of rows, their ops in execution order, the first op and where it stands."""
    ops = list(dict.fromkeys(row.op for row in rows))
    return {
        label: len(rows),
        f"{label}_ops": ops[:LISTED],
        f"first_{label}": ops[0] if ops else None,
        f"first_{label}_row": _place(rows[0], verdict) if rows else None,
    }


def _deviation(ordered: list[CompareRow], verdict: str) -> dict[str, Any]:
    """Deviating rows, the first op with a deviating output, and the suspect.

    An op that only receives a deviating input is not the one that deviates. The suspect is the
    first whose own inputs and parameters agree; None when the deviation came with the inputs.
    """
    deviating = [row for row in ordered if row.deviates]
    outputs = [row for row in deviating if row.role == "output"]
    suspect = _suspect(deviating)
    found = _group("deviating", deviating, verdict)
    if outputs:
        found["first_deviating"] = outputs[0].op
    return {
        **found,
        "first_deviating_output": _place(outputs[0], verdict) if outputs else None,
        "suspect": suspect.op if suspect else None,
        "suspect_row": _place(suspect, verdict) if suspect else None,
        "deviating_passed_by_tool": sum(not _flagged(row.text(verdict)) for row in deviating),
    }


def _suspect(deviating: list[CompareRow]) -> CompareRow | None:
    spoilt: set[str] = set()
    for row in deviating:
        if row.role == "output" and row.call not in spoilt:
            return row
        spoilt.add(row.call)
    return None


def _place(row: CompareRow, verdict: str) -> dict[str, Any]:
    return {
        "name": row.name,
        "op": row.op,
        "role": row.role,
        "row": row.line,
        "cosine": row.number("Cosine"),
        "relative_error": row.relative_error,
        "max_abs_error": row.number("MaxAbsErr"),
        "nonfinite": row.nonfinite,
        "tool_verdict": row.text(verdict),
    }


def _extremes(rows: list[CompareRow]) -> dict[str, Any]:
    """Worst finite figures and the row of each; NaN cosines are counted among the non-finite."""
    cosines = [(row.number("Cosine"), row) for row in rows]
    worst = min(
        ((value, row) for value, row in cosines if value is not None and not math.isnan(value)),
        key=lambda pair: pair[0],
        default=(None, None),
    )
    errors = [(row.relative_error, row) for row in rows if row.relative_error is not None]
    largest = max(errors, key=lambda pair: pair[0], default=(None, None))
    printed = [value for row in rows if (value := row.number("MaxRelativeErr")) is not None]
    finite = [value for value in printed if abs(value) < float("inf")]
    return {
        "min_cosine": worst[0],
        "min_cosine_name": worst[1].name if worst[1] else None,
        "max_scaled_error": largest[0],
        "max_scaled_error_name": largest[1].name if largest[1] else None,
        "max_relative_error": max(finite, default=None),
    }


def _spelt(verdict: str) -> str:
    return "" if verdict == "None" else verdict


def _flagged(verdict: str) -> bool:
    return verdict.lower() not in ("", "pass", "yes", "none")


def _warnings(values: dict[str, Any]) -> Iterator[ReadingWarning]:
    if not values["rows"]:
        yield ReadingWarning("no_rows", "The comparison holds no row: nothing was compared.")
    if count := values["nonfinite"]:
        first = values["first_nonfinite_row"]
        message = f"{count} rows hold NaN or Inf, first {first['name']}."
        yield ReadingWarning("nonfinite_values", message, first["row"])
    if count := values["unmatched"]:
        first = values["first_unmatched_row"]
        message = f"{count} rows have no counterpart, first {first['name']}."
        yield ReadingWarning("unmatched_operators", message, first["row"])
    if count := values["deviating_passed_by_tool"]:
        message = f"The tool does not flag {count} of {values['deviating']} deviating rows."
        yield ReadingWarning("tool_verdict_passes_deviation", message)
    if count := values["dtype_mismatches"]:
        message = f"{count} rows compare different data types."
        yield ReadingWarning("dtype_mismatch", message)
    if count := values["shape_mismatches"]:
        message = f"{count} rows compare different shapes."
        yield ReadingWarning("shape_mismatch", message)


@register
class MsprobeCompareJsonReader(Reader):
    """``compare_result_*.json`` of ``compare -da``: {api: {is_same, op_items: [row…]}}."""

    name = "msprobe_compare_json"
    kind = "accuracy_compare"
    tool = "msprobe"

    def recognises(self, sample: Sample) -> int:
        found = sample.json
        first = next(iter(found.values()), None) if isinstance(found, dict) else None
        return 95 if isinstance(first, dict) and {"is_same", "op_items"} <= set(first) else 0

    def read(self, source: Source) -> Reading:
        table = json_table(source)
        values = _values(table.header, table.rows, table.verdict)
        values["form"] = "msprobe_compare_json"
        values["apis"] = len(source.json)
        values["apis_not_same"] = sum(not api["is_same"] for api in source.json.values())
        return self.reading(values, warnings=_warnings(values), tool_version="26.x")


ADVISOR = re.compile(
    r"^Line: *(?P<line>\S+)\s+Suspect Nodes: *(?P<nodes>.*?)\s+Expert Advice: *(?P<advice>.*)",
    re.DOTALL,
)


@register
class MsprobeAdvisorReader(Reader):
    """``advisor_*.txt`` of msprobe 8.x and 1.x. Its Line is a 0-based data row, NA means none."""

    name = "msprobe_advisor"
    kind = "accuracy_advice"
    tool = "msprobe"

    def recognises(self, sample: Sample) -> int:
        return 90 if len(sample.data) < 65536 and ADVISOR.match(sample.text.lstrip()) else 0

    def read(self, source: Source) -> Reading:
        found = ADVISOR.match(source.text.lstrip())
        if found is None:
            raise ReadError("damaged_file", "The advice is incomplete.")
        row, nodes = whole_number(found["line"]), found["nodes"].strip()
        values = {
            "form": "advisor",
            "data_row": row,
            "spreadsheet_row": None if row is None else row + 2,
            "suspect_nodes": None if nodes == "NA" else nodes,
            "advice": found["advice"].strip(),
        }
        message = (
            "The advisor follows the sheet's order and the tool's verdicts: it misses NaN in"
            " statistics mode and names gradients before the operator at fault."
        )
        return self.reading(
            values, warnings=[ReadingWarning("advice_is_not_proof", message)], tool_version="8.x"
        )
