"""``vllm bench serve`` (console and ``--save-result`` JSON), and SGLang's bench_serving.

Times are in milliseconds. ``request_rate`` may be the string "inf"; TPOT is 0
when requests produce one token. Peak concurrency is counted per second and may exceed the limit.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterable
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.serving.normalised_results import (
    MILLISECONDS,
    PER_SECOND,
    cross_check,
    failed_requests,
    last_measured,
    several_results,
    without_none,
)
from toolreaders.source import ReadError, ReadingWarning

KIND = "inference_benchmark"
JSON_KEY = re.compile(r"^(mean|median|std|p\d+(?:\.\d+)?)_(ttft|tpot|itl|e2el|e2e_latency)_ms$")
TITLE = re.compile(r"=+ ?(?:Serving|Offline Throughput) Benchmark Result ?=+")
ITEM = re.compile(r"^\s*([A-Z][\w ./()-]*?)\s*(?:\(([^()]+)\))?:\s+([-\d.]+|inf|nan)\s*$")
CONSOLE_KEY = re.compile(
    r"^(Mean|Median|Std|Max|P\d+(?:\.\d+)?) (TTFT|TPOT|ITL|E2EL|E2E Latency)$"
)
NAMES = {"ttft": "ttft", "tpot": "tpot", "itl": "itl", "e2el": "e2e", "e2e latency": "e2e",
         "e2e_latency": "e2e"}  # fmt: skip
COUNTED_AGAIN = "retokenized"
DURATION_UNITS = {"s": 1.0, "ms": 1e-3, "": 1.0}


@register
class VllmJsonReader(Reader):
    """JSON of ``vllm bench serve --save-result`` and SGLang's bench_serving."""

    name = "vllm_bench_json"
    kind = KIND
    version = "2"
    tool = "vllm bench serve"

    def recognises(self, sample: Sample) -> int:
        if not any(sign in sample.text for sign in ("_ttft_ms", '"request_rate"')):
            return 0
        return 92 if "output_throughput" in _records(sample.json, sample.lines)[-1] else 0

    def read(self, source: Source) -> Reading:
        records = _records(source.json, (line for _number, line in source.lines()))
        result = records[-1]
        latency: dict[str, dict[str, float]] = {}
        for key, value in result.items():
            if found := JSON_KEY.match(key):
                latency.setdefault(NAMES[found[2]], {})[found[1]] = value
        scalars = {key: v for key, v in result.items() if not isinstance(v, list | dict)}
        completed, total = result.get("completed"), result.get("num_prompts")
        failed = result.get("failed")
        if failed is None and total is not None and completed is not None:
            failed = total - completed
        values = {
            "latency_ms": latency,
            "throughput": without_none(
                {
                    "requests_per_second": result.get("request_throughput"),
                    "output_tokens_per_second": result.get("output_throughput"),
                    "total_tokens_per_second": result.get("total_token_throughput"),
                    "peak_output_tokens_per_second": result.get("max_output_tokens_per_s"),
                }
            ),
            "requests": without_none(
                {
                    "total": total,
                    "completed": completed,
                    "failed": failed,
                    "concurrency": result.get("max_concurrency"),
                    "rate": result.get("request_rate"),
                }
            ),
            "tokens": without_none(
                {"input": result.get("total_input_tokens"), "output": _output(result)}
            ),
            "duration_s": result.get("duration"),
            "model": result.get("model_id"),
            "metrics": scalars,
        }
        warnings = _vllm_warnings(values, _output(result)) + several_results(len(records))
        return self.reading(values, warnings=warnings)


def _records(whole: Any, lines: Iterable[str]) -> list[dict[str, Any]]:
    """The one result of vLLM, or SGLang's, which appends a line per run; at least an empty one."""
    if whole is None:
        whole = [json.loads(line) for line in lines if line.lstrip().startswith("{")]
    results = whole if isinstance(whole, list) else [whole]
    return [result for result in results if isinstance(result, dict)] or [{}]


def _output(result: dict[str, Any]) -> Any:
    return result.get("total_output_tokens", result.get("total_generated_tokens"))


def _vllm_warnings(values: dict[str, Any], output: float | None) -> list[ReadingWarning]:
    warnings = failed_requests(values["requests"].get("failed"))
    printed, duration = values["throughput"].get("output_tokens_per_second"), values["duration_s"]
    if output and duration:
        warnings += cross_check("Output token throughput", printed, output / duration)
    if values["latency_ms"].get("tpot", {}).get("mean") == 0:
        message = "TPOT is 0: every request produced one token."
        warnings.append(ReadingWarning("single_token_outputs", message))
    return warnings


@register
class VllmConsoleReader(Reader):
    """The block ``Serving Benchmark Result`` of the console."""

    name = "vllm_bench_console"
    version = "5"
    kind = KIND
    tool = "vllm bench serve"

    def recognises(self, sample: Sample) -> int:
        return 90 if TITLE.search(sample.text) else 0

    def read(self, source: Source) -> Reading:
        blocks: list[dict[str, float]] = []
        closed, tool, titles = False, self.tool, array("q")
        for number, line in source.lines():
            if TITLE.search(line):
                blocks.append({})
                closed = False
                titles.append(number)
            elif re.fullmatch(r"=+\s*", line) and blocks and blocks[-1]:
                closed = True
            elif line.startswith("Backend:"):
                tool = "SGLang"  # its bench_serving names the server it measures; vLLM's does not
            elif blocks and not closed and (found := ITEM.match(line)) and (
                found[2] != COUNTED_AGAIN
            ):
                factor = _factor(found[1], found[2])
                if factor is not None:
                    blocks[-1][found[1].strip()] = float(found[3]) * factor
        results = [_console_values(items) for items in blocks if "Successful requests" in items]
        if not results:
            raise ReadError("damaged_file", "The result block holds no figures.")
        values, several = last_measured(results, titles[-1])
        if not values["latency_ms"] and not values["throughput"]:
            raise ReadError("no_values", "The result block holds neither times nor rates.")
        warnings = _vllm_warnings(values, values["tokens"].get("output")) + several
        if not closed and values is results[-1]:
            message = "The result block has no end: figures may be missing."
            warnings.append(ReadingWarning("truncated_record", message))
        return self.reading(values, warnings=warnings, tool=tool)


def _factor(name: str, unit: str | None) -> float | None:
    """What turns a figure into milliseconds, seconds or a rate per second; None if unknown."""
    if CONSOLE_KEY.match(name.strip()):
        return MILLISECONDS.get(unit or "")
    if name.startswith("Benchmark duration"):
        return DURATION_UNITS.get(unit or "")
    return None if unit and "/" in unit and unit not in PER_SECOND else 1.0


def _console_values(items: dict[str, float]) -> dict[str, Any]:
    latency: dict[str, dict[str, float]] = {}
    for key, value in items.items():
        if found := CONSOLE_KEY.match(key):
            latency.setdefault(NAMES[found[2].lower()], {})[found[1].lower()] = value
    done, failed = items["Successful requests"], items.get("Failed requests")
    total = items.get("Total Token throughput", items.get("Total token throughput"))
    return {
        "latency_ms": latency,
        "throughput": without_none(
            {
                "requests_per_second": items.get("Request throughput"),
                "output_tokens_per_second": items.get("Output token throughput"),
                "total_tokens_per_second": total,
                "peak_output_tokens_per_second": items.get("Peak output token throughput"),
            }
        ),
        "requests": without_none(
            {
                "completed": done,
                "failed": failed,
                "concurrency": items.get(
                    "Maximum request concurrency", items.get("Max request concurrency")
                ),
                "peak_concurrency": items.get("Peak concurrent requests"),
                "rate": items.get("Request rate configured", items.get("Traffic request rate")),
            }
        ),
        "tokens": without_none(
            {
                "input": items.get("Total input tokens"),
                "output": items.get("Total generated tokens"),
            }
        ),
        "duration_s": items.get("Benchmark duration"),
        "metrics": items,
    }
