"""Benchmarks of serving whose printed results differ by their labels alone: a row of `FORMATS` per
tool."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.figures import AMOUNT
from toolreaders.serving.normalised_results import (
    MILLISECONDS,
    cell_number,
    failed_requests,
    several_results,
    statistic_name,
)
from toolreaders.source import ReadError
from toolreaders.tables import Table, framed_tables

KIND = "inference_benchmark"
VALUE = rf"\s*(?P<value>{AMOUNT})"


@dataclass(frozen=True, kw_only=True)
class ServingFormat:
    """What one tool prints of a benchmark.

    Args:
        mark: stands in every result.
        figures: path in the values → label, whose figure follows behind `:`, `=` or blanks. A unit
            in the group `unit` turns the figure into milliseconds.
        unit: of latencies whose label names none.
    """

    name: str
    tool: str
    mark: str
    figures: dict[str, str]
    unit: str = "ms"


def _of_llmperf(section: str, statistic: str = "mean") -> str:
    """A statistic of a section: its lines are indented."""
    return rf"^{section}_s\n(?:[ \t]+.*\n)*?[ \t]+{statistic} ="


TRTLLM_SECTIONS = {"e2e": "Latency", "ttft": "TTFT", "tpot": "TPOT"}
TRTLLM_STATISTICS = {"p50": "P50", "p90": "P90", "p95": "P95", "p99": "P99", "min": "MINIMUM",
                     "max": "MAXIMUM"}  # fmt: skip

FORMATS = (
    ServingFormat(
        name="vllm_benchmark_2023", tool="vLLM benchmark_serving", unit="s",
        mark=rf"^Throughput: {AMOUNT} requests/s\s*$\n(?:.*\n)?Average latency:",
        figures={
            "duration_s": r"^Total time:",
            "throughput.requests_per_second": r"^Throughput:",
            "latency_ms.e2e.mean": r"^Average latency:",
            "latency_ms.token.mean": r"^Average latency per token:",
            "latency_ms.output_token.mean": r"^Average latency per output token:",
        }),
    ServingFormat(
        name="trtllm_bench", tool="trtllm-bench", mark=r"^= PERFORMANCE OVERVIEW",
        figures={
            "throughput.requests_per_second": r"Request Throughput \(req/sec\):",
            "throughput.output_tokens_per_second": r"^(?:Total )?Output Throughput \(tokens/sec\):",
            "throughput.total_tokens_per_second": r"Total Token Throughput \(tokens/sec\):",
            "latency_ms.e2e.mean": r"Average request latency \((?P<unit>ms)\):",
            "latency_ms.ttft.mean": r"Average time-to-first-token \[TTFT\] \((?P<unit>ms)\):",
            "latency_ms.tpot.mean": r"Average time-per-output-token \[TPOT\] \((?P<unit>ms)\):",
            "requests.total": r"Number of requests:",
            **{f"latency_ms.{name}.{key}": rf"^\[{section}\] {statistic} *:"
               for name, section in TRTLLM_SECTIONS.items()
               for key, statistic in TRTLLM_STATISTICS.items()},
        }),
    ServingFormat(
        name="trtllm_benchmark_2023", tool="TensorRT-LLM benchmark",
        mark=r"^\[BENCHMARK\] (?:model_name|batch_size) ",
        figures={
            "batch_size": r"^\[BENCHMARK\](?: \S+ \S+)*? batch_size",
            "throughput.output_tokens_per_second": r"\b(?:tokens_per_sec|tokensPerSec)\b",
            "latency_ms.e2e.mean": r"(?<!\w)latency\(ms\)",
            "latency_ms.e2e.p95": r"\bpercentile95\(ms\)",
            "latency_ms.e2e.p99": r"\bpercentile99\(ms\)",
            "tokens.output": r"\btotal_generated_tokens\b",
        }),
    ServingFormat(
        name="jetstream_benchmark", tool="JetStream benchmark_serving",
        mark=rf"^Input token throughput: {AMOUNT} tokens/s",
        figures={
            "duration_s": r"^Benchmark duration:",
            "requests.completed": r"^Successful requests:",
            "tokens.input": r"^Total input tokens:",
            "tokens.output": r"^Total generated tokens:",
            "throughput.requests_per_second": r"^Request throughput:",
            "throughput.output_tokens_per_second": r"^Output token throughput:",
            **{f"latency_ms.{name.lower()}.{statistic.lower()}": rf"^{statistic} {name}:"
               for name in ("TTFT", "TPOT") for statistic in ("Mean", "Median", "P99")},
        }),
    ServingFormat(
        name="llmperf", tool="llmperf", unit="s",
        mark=r"^Results for token benchmark for .* queried with",
        figures={
            **{f"latency_ms.{name}.{key}": _of_llmperf(section, statistic)
               for name, section in (("ttft", "ttft"), ("itl", "inter_token_latency"),
                                     ("e2e", "end_to_end_latency"))
               for key, statistic in (("mean", "mean"), ("median", "p50"), ("p99", "p99"))},
            "throughput.output_tokens_per_second": r"^Overall Output Throughput:",
            "requests.completed": r"^Number Of Completed Requests:",
            "requests.failed": r"^Number Of Errored Requests:",
        }),
)  # fmt: skip


class PrintedResultReader(Reader):
    """The reader of a row."""

    kind = KIND
    row: ServingFormat

    def recognises(self, sample: Sample) -> int:
        return 88 if re.search(self.row.mark, sample.text, re.MULTILINE) else 0

    def read(self, source: Source) -> Reading:
        values: dict[str, Any] = {"latency_ms": {}, "throughput": {}, "requests": {}, "tokens": {}}
        text, results, line = self._last_result(source.text)
        for path, label in self.row.figures.items():
            if found := re.search(label + VALUE, text, re.MULTILINE):
                figure = float(found["value"].replace(",", ""))
                if path.startswith("latency_ms"):
                    unit = found.groupdict().get("unit") or self.row.unit
                    figure *= MILLISECONDS[unit]
                _put(values, path, figure)
        if not values["latency_ms"] and not values["throughput"]:
            raise ReadError("no_values", "The result holds neither times nor rates.")
        warnings = failed_requests(values["requests"].get("failed"))
        return self.reading(values, warnings=warnings + several_results(results, line))

    def _last_result(self, text: str) -> tuple[str, int, int]:
        """The text from the last result on, how many results there are, and its line: each begins
        with the same label."""
        places = [[found.start() for found in re.finditer(label + VALUE, text, re.MULTILINE)]
                  for label in self.row.figures.values()]
        first = min(filter(None, places), default=[0])
        return text[first[-1]:], len(first), text.count("\n", 0, first[-1]) + 1


def _put(values: dict[str, Any], path: str, figure: float) -> None:
    *places, name = path.split(".")
    for place in places:
        values = values.setdefault(place, {})
    values[name] = figure


for _row in FORMATS:
    register(type(_row.name, (PrintedResultReader,), {
        "__doc__": f"The result that {_row.tool} prints.", "name": _row.name, "tool": _row.tool,
        "row": _row}))  # fmt: skip

GENAI = re.compile(
    r"NVIDIA (GenAI-Perf|AIPerf) \| .*Metrics|^ *LLM Metrics *\n *┏.*\n.*\bStatistic\b",
    re.MULTILINE)
GENAI_RATE = re.compile(rf"^(?P<name>[A-Z][a-z ]+ throughput) \(per sec\): *(?P<rate>{AMOUNT})",
                        re.MULTILINE)
"""Below the table, until 0.0.3."""
LABEL = re.compile(r"(?P<name>.+?) \((?P<unit>[^()]+)\)$")
LATENCIES = {"time to first token": "ttft", "inter token latency": "itl", "request latency": "e2e",
             "time per output token": "tpot"}  # fmt: skip
RATES = {"request throughput": "requests_per_second",
         "output token throughput": "output_tokens_per_second",
         "total token throughput": "total_tokens_per_second"}  # fmt: skip


@register
class GenAiPerfReader(Reader):
    """The table of GenAI-Perf and AIPerf: a metric and its statistics per row; long names go on in
    the next row."""

    name = "genai_perf"
    kind = KIND
    tool = "GenAI-Perf"

    def recognises(self, sample: Sample) -> int:
        return 90 if GENAI.search(sample.text) else 0

    def read(self, source: Source) -> Reading:
        values: dict[str, Any] = {"latency_ms": {}, "throughput": {}, "requests": {}, "tokens": {}}
        tables = [table for table in framed_tables(source.lines())
                  if {"avg", "p99"} <= set(map(str.lower, table.header))]  # fmt: skip
        for label, row in (pair for table in tables for pair in _metrics(table)):
            named = LABEL.match(label)
            name, unit = (named["name"].lower(), named["unit"]) if named else (label.lower(), "")
            if (latency := LATENCIES.get(name)) and unit in MILLISECONDS:
                values["latency_ms"][latency] = {
                    statistic_name(column): figure * MILLISECONDS[unit]
                    for column, figure in row.items()}
            elif (rate := RATES.get(name)) and unit.endswith("sec"):
                values["throughput"][rate] = row.get("avg")
            elif name == "request count":
                values["requests"]["completed"] = row.get("avg")
        for found in GENAI_RATE.finditer(source.text):
            if rate := RATES.get(found["name"].lower()):
                values["throughput"][rate] = float(found["rate"])
        if not values["latency_ms"] and not values["throughput"]:
            raise ReadError("no_values", "The table holds neither times nor rates.")
        found = GENAI.search(source.text)
        return self.reading(values, tool=found[1] if found else None)


def _metrics(table: Table) -> Iterator[tuple[str, dict[str, float]]]:
    """The name of each metric, and its statistics by column."""
    name, row = "", {}
    for cells in table.rows:
        if any(cells[1:]):
            if name:
                yield name, row
            figures = zip(table.header[1:], map(cell_number, cells[1:]), strict=True)
            name, row = cells[0], {column: number for column, (number, _unit) in figures
                                   if number is not None}
        else:
            name = f"{name} {cells[0]}".strip()
    if name:
        yield name, row
