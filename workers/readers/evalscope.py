"""EvalScope: its stress test (``evalscope perf``) and its evaluation reports.

The stress test prints seconds; since 1.5 times of tokens are in milliseconds: each name tells its
unit. It prints a summary and percentiles, those as rows or (since 1.5) as columns; until 0.4 all of
it without a table.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from typing import Any

from workers.readers.base import Reader, Reading, Sample, Source, register
from workers.readers.evaluation import KIND as EVALUATION
from workers.readers.evaluation import scale_of
from workers.readers.series import to_float
from workers.readers.serving import failed_requests, without_none
from workers.readers.source import ReadError, ReadingWarning
from workers.readers.tables import Table, framed_tables

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
    version = "2"
    kind = "inference_benchmark"
    tool = "EvalScope"
    duration = re.compile(r"Time taken for tests|Test Duration \(s\)")
    latency = re.compile(r"(?:Average|Avg) (?:latency|TTFT)", re.IGNORECASE)

    def recognises(self, sample: Sample) -> int:
        return 90 if self.duration.search(sample.text) and self.latency.search(sample.text) else 0

    def read(self, source: Source) -> Reading:
        summaries, latency = _tables(source)
        if not summaries:
            raise ReadError("damaged_file", "The summary table is empty.")
        items = summaries[-1]
        values = _values(items, latency)
        warnings = failed_requests(values["requests"].get("failed"))
        if len(summaries) > 1:
            message = f"The log holds {len(summaries)} results; the last one counts."
            warnings.append(ReadingWarning("several_results", message))
        return self.reading(values, warnings=warnings)


def _tables(source: Source) -> tuple[list[dict[str, float]], dict[str, dict[str, float]]]:
    """Every summary, and the percentiles of the last one."""
    result = source.json
    if isinstance(result, dict):
        return [found] if (found := _numbers(result.items())) else [], {}
    summaries: list[dict[str, float]] = []
    latency: dict[str, dict[str, float]] = {}
    for table in framed_tables(source.lines()):
        if len(table.header) == 2 and (found := _summary(table)):
            summaries.append(found)
            latency = {}
        elif len(table.header) > 2:
            latency = latency | _percentiles(table)
    return (summaries, latency) if summaries else _plain(source)


PLAIN = re.compile(r"^ ?([A-Z][\w ()/-]*?): +([\d.]+)(?: seconds)?\s*$")
PLAIN_TITLE = re.compile(r"^ ?Percentile of (?:request )?(time to first token|latency|.*): *$")
PLAIN_SHARE = re.compile(r"^\s+p(\d+): +([\d.]+)\s*$")


def _plain(source: Source) -> tuple[list[dict[str, float]], dict[str, dict[str, float]]]:
    """``Average latency: 14.140`` and, under their titles, ``p50: 14.7637``; all in seconds."""
    pairs: list[tuple[str, str]] = []
    latency: dict[str, dict[str, float]] = {}
    title = None
    for _number, line in source.lines():
        if found := PLAIN_TITLE.match(line):
            title = LATENCIES.get(found[1])
        elif title and (found := PLAIN_SHARE.match(line)):
            seconds = to_float(found[2]) or 0.0
            latency.setdefault(title, {})[f"p{found[1]}"] = round(1000 * seconds, 6)
        elif found := PLAIN.match(line):
            pairs.append((found[1], found[2]))
    items = _numbers(pairs)
    return [items] if items else [], latency


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


def _values(items: dict[str, float], shares: dict[str, dict[str, float]]) -> dict[str, Any]:
    plain = {UNIT.sub("", key).strip().lower(): value for key, value in items.items()}
    latency: dict[str, dict[str, float]] = {}
    for key, value in items.items():
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


@register
class EvalScopeReportReader(Reader):
    """Evaluation report: the printed table, a report's JSON, or several in ``report_list``."""

    name = "evalscope_report"
    kind = EVALUATION
    tool = "EvalScope"
    header = re.compile(
        r"\| *Model(?: Name)? *\| *Dataset(?: Name)? *\| *Metric(?: Name)? *\|.*\| *Num *\| *Score"
    )

    def recognises(self, sample: Sample) -> int:
        if self.header.search(sample.text):
            return 90
        if '"dataset_name"' not in sample.text or '"metrics"' not in sample.text:
            return 0
        return 90 if any(map(_is_report, _reports(sample.json))) else 0

    def read(self, source: Source) -> Reading:
        reports = [report for report in _reports(source.json) if _is_report(report)]
        found = [one for report in reports for one in _report_scores(report)]
        scores = found if reports else list(_printed_scores(source))
        if not scores:
            raise ReadError("no_scores", "The report holds no score.")
        return self.reading({"scores": scores, "scale": _scale(scores)})


def _scale(scores: list[dict[str, Any]]) -> str:
    """As printed where a sign tells, else by size."""
    signs = {score.pop("is_percent", False) for score in scores}
    return "percent" if signs == {True} else scale_of(scores)


def _reports(found: Any) -> list[Any]:
    if isinstance(found, dict) and isinstance(found.get("report_list"), list):
        return found["report_list"]
    return found if isinstance(found, list) else [found]


def _is_report(report: Any) -> bool:
    names = {"dataset_name", "model_name", "metrics"}
    return isinstance(report, dict) and names <= report.keys() and bool(report["metrics"])


def _report_scores(report: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """One score per metric; its subsets stand in ``categories``."""
    for metric in report["metrics"]:
        value = to_float(metric.get("score"))
        if value is not None:
            name = metric.get("name") or metric.get("identity", {}).get("name")
            yield {
                "task": report["dataset_name"],
                "metric": name,
                "filter": None,
                "model": report["model_name"],
                "value": value,
                "stderr": None,
                "samples": metric.get("num"),
            }


def _printed_scores(source: Source) -> Iterator[dict[str, Any]]:
    for table in framed_tables(source.lines(), least=6):
        names = [name.lower().removesuffix(" name") for name in table.header]
        for cells in table.rows if {"dataset", "metric", "score"} <= set(names) else ():
            row = dict(zip(names, cells, strict=True))
            text = row["score"]
            value = to_float(text.rstrip("% "))
            if value is not None:
                yield {
                    "task": row["dataset"],
                    "metric": row["metric"].replace(" ↑", "").replace(" ↓", ""),
                    "filter": row.get("subset"),
                    "model": row.get("model"),
                    "value": value,
                    "stderr": None,
                    "samples": to_float(row.get("num")),
                    "is_percent": text.endswith("%"),
                }
