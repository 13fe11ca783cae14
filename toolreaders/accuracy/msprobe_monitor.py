"""msprobe monitor: ``grad_reduced_0-9.csv``, ``actv_0-9.csv`` …, a tensor's statistics per row.

``vpp_stage,name,step[,micro_step],norm,min,max,mean,nans,…``; activations have each statistic of
inputs and outputs (``input.norm``, ``output.norm``) and, in earlier releases, ``module_name``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.source import ReadError, ReadingWarning
from toolreaders.tables import csv_table
from toolreaders.training.series import to_float

NAMES = ("name", "module_name")
STATISTICS = {"norm", "min", "max", "mean", "nans", "zeros"}
COUNTS = {"nans"}
Row = dict[str, str]


def _statistics(header: Iterable[str]) -> list[str]:
    return [name for name in header if name.rpartition(".")[2] in STATISTICS]


@register
class MonitorReader(Reader):
    """One CSV file of a rank; a row is bad where it counts NaN or a statistic is not finite."""

    name = "msprobe_monitor"
    kind = "accuracy_dump"
    tool = "msprobe"

    def recognises(self, sample: Sample) -> int:
        header = [cell.strip() for cell in sample.first_line.split(",")]
        is_one = header[:1] == ["vpp_stage"] and "step" in header and set(NAMES) & set(header)
        return 92 if is_one and _statistics(header) else 0

    def read(self, source: Source) -> Reading:
        table = csv_table(source)
        whole = [(number, dict(zip(table.header, cells, strict=True)))
                 for number, cells in zip(table.lines, table.rows, strict=True)
                 if len(cells) == len(table.header)]  # fmt: skip
        if not whole:
            raise ReadError("no_rows", "The file has a header but no whole row.")
        statistics = _statistics(table.header)
        bad = [(number, row) for number, row in whole if _is_bad(row, statistics)]
        name = next(name for name in NAMES if name in table.header)
        bad.sort(key=lambda item: _position(item[1]))
        first = {"name": bad[0][1][name], "step": int(bad[0][1]["step"])} if bad else None
        values = {
            "form": "monitor",
            "steps": sorted({int(row["step"]) for _number, row in whole}),
            "targets": len({row[name] for _number, row in whole}),
            "points": len(whole),
            "nonfinite": len(bad),
            "first_nonfinite": first,
        }
        short = len(table.rows) - len(whole)
        return self.reading(values, warnings=_warnings(bad, name, short))


def _is_bad(row: Row, statistics: list[str]) -> bool:
    numbers = {name: to_float(row[name]) for name in statistics}
    return any(
        value is not None and (not math.isfinite(value) or (value > 0 and _is_count(name)))
        for name, value in numbers.items()
    )


def _is_count(name: str) -> bool:
    return name.rpartition(".")[2] in COUNTS


def _position(row: Row) -> tuple[int, float]:
    return int(row["step"]), to_float(row.get("micro_step")) or 0.0


def _warnings(bad: list[tuple[int, Row]], name: str, short: int) -> list[ReadingWarning]:
    warnings: list[ReadingWarning] = []
    if bad:
        number, row = bad[0]
        message = f"{len(bad)} rows hold NaN or Inf, first {row[name]} at step {row['step']}."
        warnings.append(ReadingWarning("nonfinite_values", message, number))
    if short:
        message = f"{short} rows have not as many cells as the header and were left out."
        warnings.append(ReadingWarning("damaged_lines", message))
    return warnings
