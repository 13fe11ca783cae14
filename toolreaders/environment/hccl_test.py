"""Tables of HCCL Performance Tester: ``mpirun -n 8 all_reduce_test -p 8 -b 8K -e 64M -f 2 -c 1``.

One row per data size: bytes per NPU, microseconds, algorithm bandwidth in GB/s, and whether the
result was checked: success, failed, or NULL where the check was off or could not be exact (CANN
8.0 and 8.5, HCCL Performance Tester, “Result Description”). The program prints ``aveg_time``, the
documentation also ``avg_time``.
"""

from __future__ import annotations

import re
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.source import ReadError, ReadingWarning

HEAD = re.compile(r"data_size\(Bytes\):?\s*\|\s*ave?g_time\(us\):?\s*\|"
                  r"\s*alg_bandwidth\(GB/s\):?\s*\|\s*check_result:?\s*\|?\s*$")
ROW = re.compile(r"(?<![\w.])(\d+)\s*\|\s*(\d+(?:\.\d+)?)\s*\|\s*(\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*\|"
                 r"\s*(success|failed|NULL)\s*\|?\s*$")
RANGE = re.compile(r"the minbytes is (\d+), maxbytes is (\d+), iters is (\d+), "
                   r"warmup_iters is (\d+)")


@register
class HcclTestReader(Reader):
    """Time and bandwidth of one collective operation by size of data."""

    name = "hccl_test"
    kind = "hccl_test"
    tool = "hccl_test"

    def recognises(self, sample: Sample) -> int:
        return 95 if any(map(HEAD.search, sample.lines)) else 0

    def read(self, source: Source) -> Reading:
        asked: tuple[int, ...] | None = None
        rows: list[dict[str, Any]] = []
        has_head = False
        for number, line in source.lines():
            if found := RANGE.search(line):
                asked = tuple(map(int, found.groups()))
            elif HEAD.search(line):
                has_head = True
            elif has_head and (found := ROW.search(line)):
                rows.append({"bytes": int(found[1]), "time_us": float(found[2]),
                             "bandwidth_gb_s": float(found[3]), "check": found[4].lower(),
                             "line": number})
        if not rows:
            raise ReadError("no_values", "The table of HCCL's test has no row.")
        warnings = [ReadingWarning("wrong_result", f"{row['bytes']} bytes: the result is wrong.",
                                   row["line"]) for row in rows if row["check"] == "failed"]
        return self.reading(_values(rows, asked), warnings=warnings)


def _values(rows: list[dict[str, Any]], asked: tuple[int, ...] | None) -> dict[str, Any]:
    largest = max(rows, key=lambda row: row["bytes"])
    return {
        "rows": rows,
        "largest_bytes": largest["bytes"],
        "bandwidth_gb_s": largest["bandwidth_gb_s"],
        "failed": sum(row["check"] == "failed" for row in rows),
        "unchecked": sum(row["check"] == "null" for row in rows),
        "asked_bytes": list(asked[:2]) if asked else None,
        "iterations": asked[2] if asked else None,
    }
