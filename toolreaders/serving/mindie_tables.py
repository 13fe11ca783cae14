"""MindIE Benchmark and AISBench: performance tables as console, CSV and JSON.

MindIE: DecodeTime is the inter-token latency over all tokens, QueueWaitTime is in μs, ``/`` means
not available. AISBench (its successor): E2EL, TTFT, TPOT, ITL with a stage (total or stable).
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.csv_rows import csv_lines
from toolreaders.serving.normalised_results import (
    Table,
    cell_number,
    cross_check,
    damaged_cells,
    failed_requests,
    latencies_of,
    milliseconds,
    per_second,
    several_results,
    without_none,
)
from toolreaders.source import ReadError, ReadingWarning
from toolreaders.tables import framed_tables
from toolreaders.training.jsonl_logs import json_records
from toolreaders.training.series import to_float

KIND = "inference_benchmark"
PERFORMANCE = "Performance Parameters"
MINDIE_TEXTS = ("CurrentTime", "DataSource", "ModelName")
STAGES = ("stable", "total")


def _last_tables(source: Source, first_cell: str) -> list[Any]:
    tables = framed_tables(source.lines())
    return [table for table in tables if table.header[0] == first_cell]


@register
class MindIeReader(Reader):
    """MindIE Benchmark console: a table of metrics and a table of common values."""

    name = "mindie_benchmark"
    kind = KIND
    version = "2"
    tool = "MindIE Benchmark"
    header = re.compile(r"\|\s*Metric\s*\|\s*average\s*\|")

    def recognises(self, sample: Sample) -> int:
        return 92 if self.header.search(sample.text) else 0

    def read(self, source: Source) -> Reading:
        metrics = _last_tables(source, "Metric")
        commons = _last_tables(source, "Common Metric")
        if not metrics or not metrics[-1].rows:
            raise ReadError("damaged_file", "The table of metrics is missing.")
        table = metrics[-1]
        rows: Table = {
            row[0]: dict(zip(table.header[1:], row[1:], strict=True)) for row in table.rows
        }
        common = {row[0]: row[1] for row in commons[-1].rows} if commons else {}
        values, warnings = _mindie_values(rows, common)
        warnings += several_results(len(metrics))
        if len(commons) != len(metrics) and commons:
            message = "The tables of metrics and of common metrics are not of the same runs."
            raise ReadError("damaged_file", message)
        if not commons:
            message = "The table of common metrics is missing: no throughput is known."
            warnings.append(ReadingWarning("truncated_record", message))
        return self.reading(values, warnings=warnings)


def _mindie_values(
    rows: Table, common: dict[str, str]
) -> tuple[dict[str, Any], list[ReadingWarning]]:
    elapsed = milliseconds(common.get("TimeElapsed"), "s")
    output = per_second(common.get("OutputGenerateSpeed", common.get("GenerateSpeed")))
    requests = per_second(common.get("Throughput"))
    failed, _unit = cell_number(common.get("Failed"))
    returned, _unit = cell_number(common.get("Returned"))
    mean, _unit = cell_number(rows.get("GeneratedTokens", {}).get("average"))
    values = {
        "latency_ms": latencies_of(rows),
        "throughput": without_none(
            {
                "requests_per_second": requests,
                "output_tokens_per_second": output,
                "input_tokens_per_second": per_second(common.get("InputGenerateSpeed")),
                "total_tokens_per_second": per_second(common.get("TotalGenerateSpeed")),
                "output_tokens_per_second_per_client": per_second(
                    common.get("GenerateSpeedPerClient")
                ),
            }
        ),
        "requests": without_none(
            {
                "total": cell_number(common.get("Total"))[0],
                "completed": returned,
                "failed": failed,
                "concurrency": cell_number(common.get("Concurrency"))[0],
            }
        ),
        "duration_s": None if elapsed is None else elapsed / 1000,
        "model": common.get("ModelName"),
        "metrics": rows,
        "common": common,
    }
    numbers = {name: cell for name, cell in common.items() if name not in MINDIE_TEXTS}
    warnings = damaged_cells({**rows, "Common Metric": numbers}) + failed_requests(failed)
    if elapsed and returned:
        computed = returned * (mean or 0) * 1000 / elapsed
        warnings += cross_check("GenerateSpeed", output, computed)
        warnings += cross_check("Throughput", requests, returned * 1000 / elapsed)
    return values, warnings


def _aisbench_latency(rows: dict[str, Table]) -> dict[str, Any]:
    """Latencies of the stable stage where it was measured, else of the total."""
    stage = next((stage for stage in STAGES if stage in rows), None)
    return {"latency_ms": latencies_of(rows[stage]) if stage else {}, "stage": stage}


def _aisbench_damage(rows: dict[str, Table]) -> list[ReadingWarning]:
    return [warning for table in rows.values() for warning in damaged_cells(table)]


def _aisbench_common(common: dict[str, Any]) -> tuple[dict[str, Any], list[ReadingWarning]]:
    def number(name: str) -> float | None:
        return cell_number(common.get(name))[0]

    def rate(name: str) -> float | None:
        return per_second(common.get(name))

    duration = milliseconds(common.get("Benchmark Duration"))
    failed = number("Failed Requests")
    values = {
        "throughput": without_none(
            {
                "requests_per_second": rate("Request Throughput"),
                "output_tokens_per_second": rate("Output Token Throughput"),
                "input_tokens_per_second": rate("Input Token Throughput"),
                "total_tokens_per_second": rate("Total Token Throughput"),
                "prefill_tokens_per_second": rate("Prefill Token Throughput"),
            }
        ),
        "requests": without_none(
            {
                "total": number("Total Requests"),
                "completed": number("Success Requests"),
                "failed": failed,
                "concurrency": number("Concurrency"),
                "max_concurrency": number("Max Concurrency"),
            }
        ),
        "tokens": without_none(
            {"input": number("Total Input Tokens"), "output": number("Total Generated Tokens")}
        ),
        "duration_s": None if duration is None else duration / 1000,
        "common": common,
    }
    warnings = damaged_cells({"Common Metric": common}) + failed_requests(failed)
    output = number("Total Generated Tokens")
    if duration and output:
        printed = rate("Output Token Throughput")
        warnings += cross_check("Output Token Throughput", printed, output * 1000 / duration)
    return values, warnings


@register
class AisBenchConsoleReader(Reader):
    """AISBench console with frames; colour codes even when redirected."""

    name = "aisbench_console"
    kind = KIND
    version = "2"
    tool = "AISBench"

    def recognises(self, sample: Sample) -> int:
        if PERFORMANCE in sample.text and "│" in sample.text:
            return 92
        return 0

    def read(self, source: Source) -> Reading:
        rows: dict[str, Table] = {}
        for table in _last_tables(source, PERFORMANCE):
            for row in table.rows:
                cells = dict(zip(table.header[2:], row[2:], strict=True))
                rows.setdefault(row[1], {})[row[0]] = cells
        common: dict[str, dict[str, str]] = {}
        for table in _last_tables(source, "Common Metric"):
            for row in table.rows:
                common.setdefault(row[1], {})[row[0]] = row[2]
        if not rows:
            raise ReadError("damaged_file", "The table of performance parameters is empty.")
        chosen = next((common[stage] for stage in STAGES if stage in common), {})
        values, warnings = _aisbench_common(chosen)
        return self.reading(
            {**_aisbench_latency(rows), **values, "metrics": rows},
            warnings=_aisbench_damage(rows) + warnings,
        )


@register
class AisBenchCsvReader(Reader):
    """AISBench ``*.csv``: latencies only, the totals are in the JSON beside it."""

    name = "aisbench_csv"
    kind = KIND
    version = "2"
    tool = "AISBench"

    def recognises(self, sample: Sample) -> int:
        return 92 if sample.text.lstrip().startswith(f"{PERFORMANCE},Stage") else 0

    def read(self, source: Source) -> Reading:
        rows: dict[str, Table] = {}
        reader = csv.DictReader(csv_lines(source.text))
        for row in reader:
            if None in row.values():
                message = f"Row {reader.line_num} is cut off."
                raise ReadError("damaged_file", message)
            cells = {key: value for key, value in row.items() if key not in (PERFORMANCE, "Stage")}
            rows.setdefault(row["Stage"], {})[row[PERFORMANCE]] = cells
        if not rows:
            raise ReadError("damaged_file", "The table of performance parameters is empty.")
        values = {**_aisbench_latency(rows), "metrics": rows}
        return self.reading(values, warnings=_aisbench_damage(rows))


@register
class AisBenchJsonReader(Reader):
    """AISBench ``*.json``: ``{metric: {stage: "value unit"}}``."""

    name = "aisbench_json"
    kind = KIND
    version = "2"
    tool = "AISBench"

    def recognises(self, sample: Sample) -> int:
        if '"Benchmark Duration"' not in sample.text[:20000]:
            return 0
        return 92 if isinstance(sample.json, dict) else 0

    def read(self, source: Source) -> Reading:
        stages = source.json
        known = {stage for cell in stages.values() if isinstance(cell, dict) for stage in cell}
        stage = next((stage for stage in STAGES if stage in known), None)
        common = {name: cell.get(stage) for name, cell in stages.items() if isinstance(cell, dict)}
        values, warnings = _aisbench_common(common)
        return self.reading({**values, "stage": stage, "latency_ms": {}}, warnings=warnings)


@register
class AisBenchDetailsReader(Reader):
    """AISBench ``*_details.jsonl``: one request per line, time points are in a database."""

    name = "aisbench_details"
    kind = KIND
    tool = "AISBench"

    def recognises(self, sample: Sample) -> int:
        first = sample.first_line
        return 90 if '"time_points"' in first and '"output_tokens"' in first else 0

    def read(self, source: Source) -> Reading:
        warnings: list[ReadingWarning] = []
        total: Counter[str] = Counter()
        tokens = {"input": 0.0, "output": 0.0}
        for _line, record in json_records(source, warnings):
            is_done = bool(record.get("success"))
            total["completed" if is_done else "failed"] += 1
            for side in tokens if is_done else ():
                tokens[side] += to_float(record.get(f"{side}_tokens")) or 0
        done, failed = total["completed"], total["failed"]
        values = {
            "latency_ms": {},
            "throughput": {},
            "requests": {"total": done + failed, "completed": done, "failed": failed},
            "tokens": tokens,
        }
        return self.reading(values, warnings=warnings + failed_requests(failed))
