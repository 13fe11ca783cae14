"""msaccucmp compare: ``result_*.csv`` of an offline model's tensors (bundled with msprobe 26.2).

Return code 2 and rows without dump file are usual. ``NaN`` = not compared, ``nan``/``inf`` =
computed so. Limits of the tool's documentation: cosine > 0.99, RelativeEuclideanDistance < 0.05,
KullbackLeiblerDivergence < 0.005, RootMeanSquareError and MeanRelativeError < 1.0.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Any

from toolreaders.accuracy.comparison_warnings import comparison_warnings
from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.csv_rows import csv_header, csv_rows
from toolreaders.number_parsing import whole_number
from toolreaders.source import ReadError, ReadingWarning
from toolreaders.tables import Table, framed_tables

NEEDED = {"Index", "GroundTruth", "CosineSimilarity"}
DUMPS = ("NPUDump", "MyOutput", "LeftOp")
LOWER_IS_BETTER = {
    "RelativeEuclideanDistance": 0.05,
    "KullbackLeiblerDivergence": 0.005,
    "RootMeanSquareError": 1.0,
    "MeanRelativeError": 1.0,
}
COSINE_LIMIT = 0.99
NOT_COMPARED = "NaN"
LISTED = 200
Record = dict[str, Any]


@register
class MsaccucmpReader(Reader):
    """One comparison of an offline model with its reference, tensor by tensor."""

    name = "msaccucmp_compare"
    kind = "accuracy_compare"
    tool = "msaccucmp"

    def recognises(self, sample: Sample) -> int:
        return 95 if set(csv_header(sample)) >= NEEDED else 0

    def read(self, source: Source) -> Reading:
        table = csv_rows(source)
        header = [str(cell).strip() for cell in next(table)]
        rows, warnings = records(header, dump_column(header), table)
        values = _values(header, rows)
        return self.reading(values, warnings=[*warnings, *comparison_warnings(
            values, nonfinite="overflow or are not finite",
            unmatched="were not compared (no dump of the operator)")])


def dump_column(header: list[str]) -> str:
    """The column that names the device's operators; it changed its name with the releases."""
    dump = next((name for name in DUMPS if name in header), None)
    if dump is None:
        raise ReadError("damaged_csv", "The comparison does not name the device's operators.")
    return dump


def records(header: list[str], dump: str, table: Any) -> tuple[list[Record], list[ReadingWarning]]:
    """Rows by column; ``line`` and ``op`` are added, "reference type" is the second DataType."""
    rows, warnings = [], []
    cosine = header.index("CosineSimilarity")
    for line, row in enumerate(table, start=2):
        if not any(row):
            continue
        if len(row) < len(header):
            message = f"Row {line} has {len(row)} of {len(header)} cells."
            warnings.append(ReadingWarning("truncated_record", message, line))
        if len(row) <= cosine:
            continue
        # DataType appears twice: the first is the device's, the second the reference's
        record: Record = {"line": line}
        for name, cell in zip(header, row, strict=False):
            again = name == "DataType" and name in record
            record.setdefault("reference type" if again else name, str(cell).strip())
        record["op"] = record[dump]
        rows.append(record)
    return rows, warnings


def metric(record: Record, name: str) -> float | None:
    """A metric; None where the tool did not compare (``NaN``) or printed nothing."""
    cell = record.get(name, "")
    if cell in ("", NOT_COMPARED, "NA", "N/A"):
        return None
    try:
        return float(cell)
    except ValueError:
        return None


def compared(record: Record) -> bool:
    """Whether the tool found both tensors."""
    return record.get("CosineSimilarity") not in ("", NOT_COMPARED, None)


def is_nonfinite(record: Record) -> bool:
    """Overflow on the device, or a metric that is NaN or Inf."""
    metrics = ("CosineSimilarity", "MaxAbsoluteError", *LOWER_IS_BETTER)
    figures = [metric(record, name) for name in metrics]
    return record.get("OverFlow") == "YES" or any(
        figure is not None and not math.isfinite(figure) for figure in figures
    )


def limits_missed(record: Record) -> list[str]:
    """Metrics beyond the limits of the tool's documentation."""
    cosine = metric(record, "CosineSimilarity")
    missed = ["CosineSimilarity"] if cosine is not None and not cosine >= COSINE_LIMIT else []
    for name, limit in LOWER_IS_BETTER.items():
        figure = metric(record, name)
        if figure is not None and not figure < limit:
            missed.append(name)
    return missed


def _cosine(record: Record) -> float:
    """The cosine; NaN (which is below nothing) where it is not known."""
    figure = metric(record, "CosineSimilarity")
    return math.nan if figure is None else figure


def _is_output(record: Record) -> bool:
    return ":output" in record.get("TensorIndex", "")


def _values(header: list[str], rows: list[Record]) -> dict[str, Any]:
    nonfinite = [row for row in rows if is_nonfinite(row)]
    missing = [row for row in rows if not compared(row)]
    low = [row for row in rows if _cosine(row) < COSINE_LIMIT]
    off = [row for row in rows if limits_missed(row) or is_nonfinite(row)]
    outputs = [row for row in off if _is_output(row)]
    cosines = [c for row in rows if (c := metric(row, "CosineSimilarity")) is not None
               and math.isfinite(c)]  # fmt: skip
    errors = [e for row in rows if (e := metric(row, "MaxRelativeError")) is not None
              and math.isfinite(e)]  # fmt: skip
    first = next(iter([*outputs, *off]), None)
    return {
        "form": "msaccucmp",
        "mode": "tensor",
        "rows": len(rows),
        "columns": len(header),
        "ops": len({row["op"] for row in rows}),
        "tool_verdicts": {},
        "nonfinite": len(nonfinite),
        "nonfinite_ops": _ops(nonfinite),
        "first_nonfinite": nonfinite[0]["op"] if nonfinite else None,
        "unmatched": len(missing),
        "unmatched_ops": _ops(missing),
        "fail_reasons": [row["CompareFailReason"] for row in rows if row.get("CompareFailReason")],
        "overflow": dict(Counter(row["OverFlow"] for row in rows if "OverFlow" in row)),
        "low_cosine": len(low),
        "first_low_cosine": _place(low[0]) if low else None,
        "deviating": len(off),
        "deviating_ops": _ops(off),
        "first_deviating": first["op"] if first else None,
        "first_deviating_row": _place(first) if first else None,
        "min_cosine": min(cosines, default=None),
        "max_relative_error": max(errors, default=None),
    }


def _ops(rows: list[Record]) -> list[str]:
    return list(dict.fromkeys(row["op"] for row in rows))[:LISTED]


def _place(row: Record) -> dict[str, Any]:
    return {
        "op": row["op"],
        "tensor": row.get("TensorIndex"),
        "row": row["line"],
        "cosine": metric(row, "CosineSimilarity"),
        "limits_missed": limits_missed(row),
    }


ADVICE = re.compile(
    r"^Detection Type: *(?P<type>.*?)\s+Operator Index: *(?P<index>.*?)\s+"
    r"Expert Advice: *(?P<advice>.*)",
    re.DOTALL,
)


@register
class MsaccucmpAdvisorReader(Reader):
    """``advisor_summary.txt`` of msaccucmp compare -advisor."""

    name = "msaccucmp_advisor"
    kind = "accuracy_advice"
    tool = "msaccucmp"

    def recognises(self, sample: Sample) -> int:
        return 90 if len(sample.data) < 65536 and ADVICE.match(sample.text.lstrip()) else 0

    def read(self, source: Source) -> Reading:
        found = ADVICE.match(source.text.lstrip())
        if found is None:
            raise ReadError("damaged_file", "The advice is incomplete.")
        values = {
            "form": "advisor",
            "detection_type": found["type"].strip(),
            "operator_index": whole_number(found["index"].strip()),
            "advice": found["advice"].strip(),
        }
        return self.reading(values)


ANALYSED = {"Monitor", "Value", "Index", "OpType", "GroundTruth"}


@register
class AnalysedComparisonReader(Reader):
    """What the comparison prints at its end: the operators that may lead to inaccuracy, a metric
    and its value each."""

    name = "msaccucmp_analysis"
    kind = "accuracy_compare"
    tool = "msaccucmp"

    def recognises(self, sample: Sample) -> int:
        if "GroundTruth" not in sample.text:
            return 0
        return 90 if any(map(_is_analysed, framed_tables(enumerate(sample.lines, 1)))) else 0

    def read(self, source: Source) -> Reading:
        rows: list[Record] = []
        for table in filter(_is_analysed, framed_tables(source.lines())):
            for line, cells in zip(table.lines, table.rows, strict=True):
                row = dict(zip(table.header, cells, strict=True))
                operator = next(row[name] for name in DUMPS if name in row)
                rows.append({"op": operator, "line": line, row["Monitor"]: row["Value"]})
        if not rows:
            raise ReadError("damaged_file", "The table names no operator.")
        off = [row for row in rows if limits_missed(row) or is_nonfinite(row)]
        cosines = [row for row in rows if math.isfinite(_cosine(row))]
        lowest = min(cosines, key=_cosine, default=None)
        return self.reading({
            "form": "analysis", "mode": "tensor", "ops": len({row["op"] for row in rows}),
            "deviating": len({row["op"] for row in off}), "deviating_ops": _ops(off),
            "first_deviating": off[0]["op"] if off else None,
            "first_deviating_row": _place(off[0]) if off else None,
            "min_cosine": _cosine(lowest) if lowest else None,
            "min_cosine_name": lowest["op"] if lowest else None,
        })  # fmt: skip


def _is_analysed(table: Table) -> bool:
    return set(table.header) >= ANALYSED and any(name in table.header for name in DUMPS)
