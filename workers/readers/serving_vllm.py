"""``vllm bench serve`` (console and ``--save-result`` JSON) and EvalScope's stress test.

vLLM prints milliseconds, EvalScope seconds. ``request_rate`` may be the string "inf"; TPOT is 0
when requests produce one token. Peak concurrency is counted per second and may exceed the limit.
"""

from __future__ import annotations

import re
from array import array
from typing import Any

from workers.readers.base import Reader, Reading, Sample, Source, register
from workers.readers.series import to_float
from workers.readers.serving import cross_check, failed_requests, without_none
from workers.readers.source import ReadError, ReadingWarning
from workers.readers.tables import framed_tables

KIND = "inference_benchmark"
JSON_KEY = re.compile(r"^(mean|median|std|p\d+(?:\.\d+)?)_(ttft|tpot|itl|e2el)_ms$")
TITLE = "Serving Benchmark Result"
ITEM = re.compile(r"^\s*([A-Z][\w ./()-]*?)\s*(?:\(([^()]+)\))?:\s+([-\d.]+|inf|nan)\s*$")
CONSOLE_KEY = re.compile(
    r"^(Mean|Median|Std|Max|P\d+(?:\.\d+)?) (TTFT|TPOT|ITL|E2EL|E2E Latency)$"
)
NAMES = {"ttft": "ttft", "tpot": "tpot", "itl": "itl", "e2el": "e2e", "e2e latency": "e2e"}
COUNTED_AGAIN = "retokenized"


@register
class VllmJsonReader(Reader):
    """JSON of ``vllm bench serve --save-result`` and SGLang's bench_serving."""

    name = "vllm_bench_json"
    kind = KIND
    tool = "vllm bench serve"

    def recognises(self, sample: Sample) -> int:
        if not any(sign in sample.text for sign in ("_ttft_ms", '"request_rate"')):
            return 0
        result = sample.json
        return 92 if isinstance(result, dict) and "output_throughput" in result else 0

    def read(self, source: Source) -> Reading:
        result = source.json
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
        return self.reading(values, warnings=_vllm_warnings(values, _output(result)))


def _output(result: dict[str, Any]) -> Any:
    return result.get("total_output_tokens", result.get("total_generated_tokens"))


def _vllm_warnings(values: dict[str, Any], output: float | None) -> list[ReadingWarning]:
    warnings = failed_requests(values["requests"].get("failed"))
    stated, duration = values["throughput"].get("output_tokens_per_second"), values["duration_s"]
    if output and duration:
        warnings += cross_check("Output token throughput", stated, output / duration)
    if values["latency_ms"].get("tpot", {}).get("mean") == 0:
        message = "TPOT is 0: every request produced one token."
        warnings.append(ReadingWarning("single_token_outputs", message))
    return warnings


@register
class VllmConsoleReader(Reader):
    """The block ``Serving Benchmark Result`` of the console."""

    name = "vllm_bench_console"
    version = "2"
    kind = KIND
    tool = "vllm bench serve"

    def recognises(self, sample: Sample) -> int:
        return 90 if TITLE in sample.text else 0

    def read(self, source: Source) -> Reading:
        items: dict[str, float] = {}
        closed, tool, titles = False, self.tool, array("q")
        for number, line in source.lines():
            if TITLE in line:
                items, closed = {}, False
                titles.append(number)
            elif re.fullmatch(r"=+\s*", line) and items:
                closed = True
            elif line.startswith("Backend:"):
                tool = "SGLang"  # its bench_serving names the server it measures; vLLM's does not
            elif not closed and (found := ITEM.match(line)) and found[2] != COUNTED_AGAIN:
                items[found[1].strip()] = float(found[3])
        if "Successful requests" not in items:
            raise ReadError("damaged_file", "The result block holds no figures.")
        values = _console_values(items)
        warnings = _vllm_warnings(values, values["tokens"].get("output"))
        if len(titles) > 1:
            message = f"The log holds {len(titles)} results; the last one counts."
            warnings.append(ReadingWarning("several_results", message, titles[-1]))
        if not closed:
            message = "The result block has no end: figures may be missing."
            warnings.append(ReadingWarning("truncated_record", message))
        return self.reading(values, warnings=warnings, tool=tool)


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


EVALSCOPE = {
    "average latency": ("e2e", 1000.0),
    "average time to first token": ("ttft", 1000.0),
    "average ttft": ("ttft", 1000.0),
    "average time per output token": ("tpot", 1000.0),
    "average tpot": ("tpot", 1000.0),
    "average inter-token latency": ("itl", 1000.0),
    "average package latency": ("itl", 1000.0),
}


@register
class EvalScopeReader(Reader):
    """``evalscope perf``: summary and percentile tables in seconds (console or JSON)."""

    name = "evalscope_perf"
    kind = KIND
    tool = "EvalScope"

    def recognises(self, sample: Sample) -> int:
        text = sample.text
        if re.search(r"Time taken for tests", text) and re.search(
            r"Average (?:latency|TTFT)", text
        ):
            return 90
        return 0

    def read(self, source: Source) -> Reading:
        items = _evalscope_items(source)
        if not items:
            raise ReadError("damaged_file", "The summary table is empty.")
        latency: dict[str, dict[str, float]] = {}
        for key, value in items.items():
            plain = re.sub(r"\s*\((?:s|tok/s|ms)\)", "", key.lower())
            if plain in EVALSCOPE:
                name, factor = EVALSCOPE[plain]
                latency[name] = {"mean": value * (1.0 if "(ms)" in key else factor)}

        def figure(*names: str) -> float | None:
            return next(
                (v for k, v in items.items() for n in names if k.lower().startswith(n)), None
            )

        failed = figure("failed requests")
        values = {
            "latency_ms": latency,
            "throughput": without_none(
                {
                    "requests_per_second": figure("request throughput"),
                    "output_tokens_per_second": figure("output token throughput"),
                    "total_tokens_per_second": figure("total token throughput"),
                }
            ),
            "requests": without_none(
                {
                    "total": figure("total requests"),
                    "completed": figure("succeed requests", "success requests"),
                    "failed": failed,
                    "concurrency": figure("number of concurrency"),
                }
            ),
            "duration_s": figure("time taken for tests"),
            "metrics": items,
        }
        return self.reading(values, warnings=failed_requests(failed))


def _evalscope_items(source: Source) -> dict[str, float]:
    result = source.json
    if isinstance(result, dict):
        pairs = result.items()
    else:
        tables = [table for table in framed_tables(source.lines()) if len(table.header) == 2]
        pairs = ((row[0], row[1]) for table in tables for row in [table.header, *table.rows])
    numbers = {str(key): to_float(value) for key, value in pairs}
    return {key: value for key, value in numbers.items() if value is not None}
