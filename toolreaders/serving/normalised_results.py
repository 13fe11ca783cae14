"""What every inference benchmark is normalised to: milliseconds and tokens per second.

``values`` of kind inference_benchmark: ``latency_ms`` {ttft, tpot, itl, e2e, inference → mean,
median, min, max, std, p50…p99}, ``throughput`` {requests_per_second, output_tokens_per_second,
total_tokens_per_second, samples_per_second …}, ``requests`` {total, completed, failed,
concurrency, rate}, ``tokens`` {input, output}, ``duration_s`` and the tool's own names in
``metrics`` and ``common``.
"""

from __future__ import annotations

import re
from typing import Any

from toolreaders.source import ReadingWarning

CELL = re.compile(
    r"^([-+]?\d[\d,]*+(?:\.\d*+)?(?:[eE][-+]?\d++)?+)(?![.\d])"
    r"(?:\s*(ms|μs|µs|us|s|ns|tokens?/s|tok/s|req/s|%)|\s+([A-Za-z][A-Za-z/]*))?"
    r"\s*(?:[(\[].*)?$"
)
"""A number and its unit; behind a blank it may be a unit that nothing here converts."""
DIGIT = re.compile(r"[-+]?\d")
MILLISECONDS = {"ms": 1.0, "μs": 1e-3, "µs": 1e-3, "us": 1e-3, "s": 1e3, "ns": 1e-6}
PER_SECOND = ("", "token/s", "tokens/s", "tok/s", "req/s", "requests/s")
STATISTICS = {"average": "mean", "avg": "mean", "mean": "mean", "median": "median"}
STATISTICS |= {"min": "min", "max": "max", "std": "std", "n": "count", "slo_p90": "slo_p90"}
LATENCIES = {
    "ttft": "ttft",
    "firsttokentime": "ttft",
    "tpot": "tpot",
    "itl": "itl",
    "decodetime": "itl",
    "e2el": "e2e",
    "generatetime": "e2e",
}
Table = dict[str, dict[str, str]]


def cell_number(text: str | float | None) -> tuple[float | None, str]:
    """Number and unit of a cell such as ``33.0 ms``, ``0( 0.0% )`` or ``/`` (not available)."""
    if isinstance(text, int | float):
        return float(text), ""
    found = CELL.match((text or "").strip())
    if found is None:
        return None, ""
    try:
        return float(found[1].replace(",", "")), found[2] or found[3] or ""
    except ValueError:
        return None, ""


def milliseconds(text: str | float | None, default: str = "ms") -> float | None:
    """A duration in ms; ``default`` is the unit of a bare number."""
    number, unit = cell_number(text)
    if number is None:
        return None
    factor = MILLISECONDS.get(unit or default)
    return None if factor is None else number * factor


def per_second(text: str | float | None) -> float | None:
    """A rate; None for a number of another unit, such as requests per minute."""
    number, unit = cell_number(text)
    return number if unit in PER_SECOND else None


def damaged_cells(table: Table) -> list[ReadingWarning]:
    """A warning that names the cells of a metric which begin like a number and are none."""
    bad = [f"{metric} {column}: “{str(cell)[:40]}”" for metric, row in table.items()
           for column, cell in row.items()
           if DIGIT.match(str(cell)) and cell_number(cell)[0] is None]  # fmt: skip
    if not bad:
        return []
    message = f"{len(bad)} cells hold no number and were left out: {', '.join(bad[:5])}."
    return [ReadingWarning("damaged_cells", message)]


def statistic_name(header: str) -> str:
    """mean, median, min, max, p90 … for a column header."""
    lowered = header.strip().lower()
    return STATISTICS.get(lowered, lowered)


def latencies_of(table: Table) -> dict[str, dict[str, float]]:
    """Normalised latencies of a table metric → column → cell with unit."""
    found: dict[str, dict[str, float]] = {}
    for metric, row in table.items():
        name = LATENCIES.get(metric.lower())
        if name is None:
            continue
        numbers = {
            statistic_name(column): milliseconds(cell)
            for column, cell in row.items()
            if statistic_name(column) not in ("count", "stage")
        }
        found[name] = {key: value for key, value in numbers.items() if value is not None}
    return found


def without_none(values: dict[str, Any]) -> dict[str, Any]:
    """Only the keys that are known."""
    return {key: value for key, value in values.items() if value is not None}


def several_results(count: int, line: int | None = None) -> list[ReadingWarning]:
    """A warning when a file holds more than one result."""
    if count < 2:
        return []
    message = f"The file holds {count} results; the last one counts."
    return [ReadingWarning("several_results", message, line)]


def last_measured(
    results: list[dict[str, Any]], line: int | None = None
) -> tuple[dict[str, Any], list[ReadingWarning]]:
    """The last result that holds a time or a rate, with a warning where several stand in the file
    or one that was cut off stands behind it; the last one where none holds any."""
    measured = [result for result in results if result["latency_ms"] or result["throughput"]]
    if not measured or measured[-1] is results[-1]:
        return results[-1], several_results(len(results), line)
    message = (f"The file holds {len(results)} results; the last one is cut off before its times "
               "and rates: the one before it counts.")
    return measured[-1], [ReadingWarning("several_results", message, line)]


def failed_requests(failed: float | None) -> list[ReadingWarning]:
    """A warning when requests failed."""
    if not failed:
        return []
    return [ReadingWarning("failed_requests", f"{failed:g} requests failed.")]


def cross_check(name: str, printed: float | None, computed: float | None) -> list[ReadingWarning]:
    """A warning when a stated rate and the one computed from totals differ by over 1 %."""
    if not printed or not computed or abs(printed - computed) <= 0.01 * abs(computed):
        return []
    message = f"{name} is stated as {printed:g} but totals give {computed:g}."
    return [ReadingWarning("inconsistent_figures", message)]
