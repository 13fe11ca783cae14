"""Tables of HCCL Performance Tester: ``mpirun -n 8 all_reduce_test -p 8 -b 8K -e 64M -f 2 -c 1``,
and of its partner on GPUs, nccl-tests: ``all_reduce_perf -b 8K -e 8G -f 2 -g 8``.

One row per data size: bytes per NPU, microseconds, algorithm bandwidth in GB/s, and whether the
result was checked: success, failed, or NULL where the check was off or could not be exact (CANN
8.0 and 8.5, HCCL Performance Tester, “Result Description”). The program prints ``aveg_time``, the
documentation also ``avg_time``. nccl-tests prints time, algorithm and bus bandwidth out of place
and in place; out of place is what HCCL's test measures (doc/PERFORMANCE.md of NVIDIA/nccl-tests).
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
        return self.reading(_values(rows, asked), warnings=_warnings(rows))


def _warnings(rows: list[dict[str, Any]]) -> list[ReadingWarning]:
    warnings = [ReadingWarning("wrong_result", f"{row['bytes']} bytes: the result is wrong.",
                               row["line"]) for row in rows if row["check"] == "failed"]
    sizes = [row["bytes"] for row in rows]
    if again := next((row for n, row in enumerate(rows) if row["bytes"] in sizes[:n]), None):
        message = f"{again['bytes']} bytes were measured more than once; the last row counts."
        warnings.append(ReadingWarning("several_results", message, again["line"]))
    return warnings


def _values(rows: list[dict[str, Any]], asked: tuple[int, ...] | None) -> dict[str, Any]:
    largest = max(reversed(rows), key=lambda row: row["bytes"])  # the last of equals
    return {
        "rows": rows,
        "largest_bytes": largest["bytes"],
        "bandwidth_gb_s": largest["bandwidth_gb_s"],
        "failed": sum(row["check"] == "failed" for row in rows),
        "unchecked": sum(row["check"] == "null" for row in rows),
        "asked_bytes": list(asked[:2]) if asked else None,
        "iterations": asked[2] if asked else None,
    }


NCCL_HEAD = re.compile(
    r"#? +size +count(?: +\(\w+\))? +type(?: +redop)?(?: +root)? +time +algbw +busbw ")
TIMES = r"(\d+(?:\.\d+)?) +(\d+(?:\.\d+)?) +(\d+(?:\.\d+)?) +(\d+(?:\.\d+)?(?:e[+-]?\d+)?|N/A)"
NCCL_ROW = re.compile(
    rf"^ *(\d+) +\d+ +[a-z]\w+(?: +[a-z]\w*)?(?: +-?\d+)? +{TIMES}(?: +{TIMES})? *$")
NCCL_BARE_ROW = re.compile(
    r"^ *\d+ +\d+ +(?:u?int\d+|half|float|double|bfloat16|f\w*8\w*) +(?:sum|prod|max|min|avg|none)"
    rf"(?P<root> +-?\d+)?(?: +{TIMES}){{2}} *$")
LEAST_BARE = 2
"""Rows by which a table without its head is known."""
NCCL_FACTS = {
    "operation": re.compile(r"Collective test starting: (\w+)"),
    "average_bus_bandwidth_gb_s": re.compile(r"# Avg bus bandwidth *: *([\d.]+)"),
}
ITERATIONS = re.compile(r"# nThread .*minBytes (\d+) maxBytes (\d+) .*?(?<!warmup )iters: (\d+)")


@register
class NcclTestsReader(Reader):
    """The same of GPUs: out of place as HCCL's test, in place beside it."""

    name = "nccl_tests"
    kind = "hccl_test"
    tool = "nccl-tests"

    def recognises(self, sample: Sample) -> int:
        if any(map(NCCL_HEAD.match, sample.lines)):
            return 95
        bare = sum(NCCL_BARE_ROW.match(line) is not None for line in sample.lines)
        return 90 if bare >= LEAST_BARE else 0

    def read(self, source: Source) -> Reading:
        rows: list[dict[str, Any]] = []
        facts: dict[str, Any] = {}
        asked: tuple[int, ...] | None = None
        is_counted: bool | None = None
        for number, line in source.lines():
            if NCCL_HEAD.match(line):
                is_counted = "#wrong" in line  # before 2.12 the largest error was printed
            elif found := ITERATIONS.search(line):
                asked = tuple(map(int, found.groups()))
            elif found := NCCL_ROW.match(line):
                counts = NCCL_BARE_ROW.match(line) if is_counted is None else None
                has_root = bool(counts and counts["root"])  # since 2.12, as the count
                rows.append(_nccl_row(found, number, is_counted=has_root or bool(is_counted)))
            for name, pattern in NCCL_FACTS.items():
                if found := pattern.search(line):
                    facts[name] = found[1] if name == "operation" else float(found[1])
        if not rows:
            raise ReadError("no_values", "The table of nccl-tests has no row.")
        warnings = _warnings(rows)
        if is_counted is None:
            message = ("The head of the table is missing: its columns are taken in the order in "
                       "which nccl-tests prints them.")
            warnings.append(ReadingWarning("head_missing", message, rows[0]["line"]))
        return self.reading({**_values(rows, asked), **facts}, warnings=warnings)


def _nccl_row(found: re.Match[str], number: int, *, is_counted: bool) -> dict[str, Any]:
    time, bandwidth, bus, wrong = found.groups()[1:5]
    check = "null"
    if is_counted and wrong != "N/A":
        check = "failed" if float(wrong) or found[9] not in (None, "N/A", "0") else "success"
    row = {"bytes": int(found[1]), "time_us": float(time), "bandwidth_gb_s": float(bandwidth),
           "bus_bandwidth_gb_s": float(bus), "check": check, "line": number}  # fmt: skip
    if found[6]:
        row["in_place"] = {"time_us": float(found[6]), "bandwidth_gb_s": float(found[7]),
                           "bus_bandwidth_gb_s": float(found[8])}  # fmt: skip
    return row
