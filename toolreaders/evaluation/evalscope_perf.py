"""EvalScope's stress test, ``evalscope perf``.

It prints seconds; since 1.5 times of tokens are in milliseconds: each name tells its
unit. It prints a summary and percentiles, those as rows or (since 1.5) as columns; until 0.4 all of
it without a table.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.serving.normalised_results import (
    failed_requests,
    last_measured,
    several_results,
    without_none,
)
from toolreaders.source import ReadError, ReadingWarning
from toolreaders.tables import Table, framed_tables
from toolreaders.training.series import to_float

UNIT = re.compile(r"\s*\(((?:m?s)|seconds|tok/s|tokens/s|req/s|%)\)\s*$", re.IGNORECASE)
MILLISECONDS = {"s": 1000.0, "seconds": 1000.0, "ms": 1.0}
LATENCIES = {
    "latency": "e2e",
    "time to first token": "ttft",
    "ttft": "ttft",
    "time per output token": "tpot",
    "tpot": "tpot",
    "inter-token latency": "itl",
    "itl": "itl",
    "package latency": "itl",
}
REQUESTS = {
    "total": ("total requests",),
    "completed": ("succeed requests", "succeeded requests", "success requests"),
    "failed": ("failed requests",),
    "concurrency": ("number of concurrency", "concurrency"),
}
THROUGHPUT = {
    "requests_per_second": ("request throughput", "req throughput", "average qps"),
    "output_tokens_per_second": (
        "output token throughput", "output throughput", "throughput(average tokens/s)",
        "throughput(average output tokens per second)"),
    "total_tokens_per_second": ("total token throughput", "total throughput"),
    "input_tokens_per_second": ("input token throughput", "input throughput"),
}  # fmt: skip
DURATION = ("time taken for tests", "test duration")
COUNTS = ("Total Requests", "Success Requests", "Failed Requests")
SPLIT_COUNTS = "Total / Success / Failed"
PERCENT = re.compile(r"(\d+(?:\.\d+)?)%")


@register
class EvalScopeReader(Reader):
    """``evalscope perf``: summary and percentiles (console or ``benchmark_summary.json``)."""

    name = "evalscope_perf"
    version = "3"
    kind = "inference_benchmark"
    tool = "EvalScope"
    duration = re.compile(r"Time taken for tests|Test Duration \(s\)")
    latency = re.compile(r"(?:Average|Avg) (?:latency|TTFT)", re.IGNORECASE)
    overview = re.compile(r"[|┃│] *Conc\. *[|┃│] *Rate *[|┃│].*\bRPS\b")

    def recognises(self, sample: Sample) -> int:
        if self.overview.search(sample.text):
            return 89
        return 90 if self.duration.search(sample.text) and self.latency.search(sample.text) else 0

    def read(self, source: Source) -> Reading:
        results = [_values(items, shares) for items, shares in _results(source)]
        if not results and self.overview.search(source.text):
            return self._of_overview(source)
        if not results:
            raise ReadError("damaged_file", "The summary table is empty.")
        values, warnings = last_measured(results)
        return self.reading(
            values, warnings=failed_requests(values["requests"].get("failed")) + warnings)

    def _of_overview(self, source: Source) -> Reading:
        """Runs of several concurrencies in one table, and the statistics of their requests."""
        runs = _runs(source)
        if not runs:
            raise ReadError("damaged_file", "The table of runs is empty.")
        warnings = _not_all(runs[-1]["requests"].get("success_percent"))
        warnings += several_results(len(runs))
        return self.reading({**runs[-1], "runs": runs}, warnings=warnings)


def _not_all(percent: float | None) -> list[ReadingWarning]:
    if percent is None or percent >= 100:
        return []
    message = f"Only {percent:g} % of the requests succeeded."
    return [ReadingWarning("failed_requests", message)]


SPEEDS = {"rps": "requests_per_second", "gen/s": "output_tokens_per_second"}
STATISTICS = {"avg": "mean", "mean": "mean", "max": "max", "min": "min"}


def _runs(source: Source) -> list[dict[str, Any]]:
    """One reading per row of the overview; rows of a run follow its first in the second table."""
    runs: dict[tuple[str, str], dict[str, Any]] = {}
    for table in framed_tables(source.lines(), least=4):
        names = [name.lower() for name in table.header]
        current = None
        for cells in table.rows if names[:2] == ["conc.", "rate"] else ():
            row = dict(zip(names, cells, strict=True))
            current = (cells[0], cells[1]) if cells[0] else current
            if current and "rps" in row:
                runs[current] = _run(row)
            elif current in runs and "metric" in row:
                _add_statistics(runs[current]["latency_ms"], row)
    return list(runs.values())


def _run(row: dict[str, str]) -> dict[str, Any]:
    speeds = {name: to_float(row.get(column)) for column, name in SPEEDS.items()}
    counts = {
        "total": row.get("num"),
        "success_percent": row.get("success", "").rstrip("% "),
        "concurrency": row["conc."],
        "rate": row["rate"],
    }
    return {
        "latency_ms": {},
        "throughput": without_none(speeds),
        "requests": without_none({name: to_float(text) for name, text in counts.items()}),
        "metrics": row,
    }


def _add_statistics(latency: dict[str, dict[str, float]], row: dict[str, str]) -> None:
    measured = _latency(row["metric"])
    if measured is None:
        return
    name, factor = measured
    for column, cell in row.items():
        value = to_float(cell)
        if value is not None and (column in STATISTICS or re.fullmatch(r"p\d+", column)):
            figures = latency.setdefault(name, {})
            figures[STATISTICS.get(column, column)] = round(value * factor, 6)


Shares = dict[str, dict[str, float]]


def _results(source: Source) -> list[tuple[dict[str, float], Shares]]:
    """Every summary with its percentiles."""
    result = source.json
    if isinstance(result, dict):
        return [(found, {})] if (found := _numbers(result.items())) else []
    results: list[tuple[dict[str, float], Shares]] = []
    for table in framed_tables(source.lines()):
        if len(table.header) == 2 and (found := _summary(table)):
            results.append((found, {}))
        elif len(table.header) > 2 and results:
            results[-1][1].update(_percentiles(table))
    return results or _plain(source)


PLAIN = re.compile(r"^ ?([A-Z][\w ()/-]*?): +([\d.]+)(?: seconds)?\s*$")
PLAIN_TITLE = re.compile(r"^ ?Percentile of (?:request )?(time to first token|latency|.*): *$")
PLAIN_SHARE = re.compile(r"^\s+p(\d+): +([\d.]+)\s*$")


def _plain(source: Source) -> list[tuple[dict[str, float], Shares]]:
    """``Average latency: 14.140`` and, under their titles, ``p50: 14.7637``; all in seconds. A
    summary begins where a name stands again."""
    results: list[tuple[dict[str, str], Shares]] = [({}, {})]
    title = None
    for _number, line in source.lines():
        if found := PLAIN_TITLE.match(line):
            title = LATENCIES.get(found[1])
        elif title and (found := PLAIN_SHARE.match(line)):
            seconds = to_float(found[2]) or 0.0
            results[-1][1].setdefault(title, {})[f"p{found[1]}"] = round(1000 * seconds, 6)
        elif found := PLAIN.match(line):
            if found[1] in results[-1][0]:
                results.append(({}, {}))
            results[-1][0][found[1]], title = found[2], None
    return [(items, shares) for texts, shares in results if (items := _numbers(texts.items()))]


def _summary(table: Table) -> dict[str, float]:
    return _numbers((row[0], row[1]) for row in [table.header, *table.rows])


def _numbers(pairs: Iterable[tuple[Any, Any]]) -> dict[str, float]:
    found: dict[str, float | None] = {}
    for key, value in pairs:
        if key == SPLIT_COUNTS:
            parts = map(to_float, str(value).split("/"))
            found |= dict(zip(COUNTS, parts, strict=False))
        else:
            found[str(key)] = to_float(value)
    return {key: value for key, value in found.items() if value is not None}


def _latency(name: str) -> tuple[str, float] | None:
    """What a column or key measures, and its factor to ms."""
    unit = UNIT.search(name)
    plain = re.sub(r"^(?:average|avg) ", "", UNIT.sub("", name).strip().lower())
    factor = MILLISECONDS.get(unit[1].lower()) if unit else 1000.0
    return (LATENCIES[plain], factor) if plain in LATENCIES and factor else None


def _percentiles(table: Table) -> dict[str, dict[str, float]]:
    """Latencies of percentiles as rows or as columns."""
    first = table.header[0].lower()
    if first.startswith("percentile"):
        cells = ((name, row[0], cell) for row in table.rows
                 for name, cell in zip(table.header, row, strict=True))  # fmt: skip
    elif first == "metric":
        cells = ((row[0], share, cell) for row in table.rows
                 for share, cell in zip(table.header, row, strict=True))  # fmt: skip
    else:
        return {}
    found: dict[str, dict[str, float]] = {}
    for name, share, cell in cells:
        measured, value, is_share = _latency(name), to_float(cell), PERCENT.fullmatch(share)
        if measured and is_share and value is not None and math.isfinite(value):
            figure = round(value * measured[1], 6)
            found.setdefault(measured[0], {})[f"p{is_share[1]}"] = figure
    return found


def _values(items: dict[str, float], shares: Shares) -> dict[str, Any]:
    """What a summary says; -1 stands where nothing was measured."""
    measured_items = {key: value for key, value in items.items() if not value < 0}
    plain = {UNIT.sub("", key).strip().lower(): value for key, value in measured_items.items()}
    latency: dict[str, dict[str, float]] = {}
    for key, value in measured_items.items():
        if measured := _latency(key):
            mean = round(value * measured[1], 6)
            latency.setdefault(measured[0], {}).setdefault("mean", mean)
    for name, found in shares.items():
        latency.setdefault(name, {}).update(found)

    def named(names: dict[str, tuple[str, ...]]) -> dict[str, float]:
        return without_none({key: _first(plain, wanted) for key, wanted in names.items()})

    return {
        "latency_ms": latency,
        "throughput": named(THROUGHPUT),
        "requests": named(REQUESTS),
        "duration_s": _first(plain, DURATION),
        "metrics": items,
    }


def _first(plain: dict[str, float], names: Iterable[str]) -> float | None:
    return next((plain[name] for name in names if name in plain), None)
