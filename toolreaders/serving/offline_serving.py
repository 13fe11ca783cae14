"""Benchmarks without a server: ``vllm bench throughput`` and ``latency`` (also of vLLM-Ascend),
SGLang's ``bench_one_batch`` and ``trtexec``, which measures the GPU baseline of an exported model.

vLLM counts prompt tokens in its tokens per second; later releases print the output apart. Latency
is of a whole batch, in seconds.
"""

from __future__ import annotations

import re
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.serving.normalised_results import several_results, without_none
from toolreaders.source import ReadError
from toolreaders.training.jsonl_logs import json_records

KIND = "inference_benchmark"
THROUGHPUT = re.compile(
    r"^Throughput: ([\d.]+) requests/s, ([\d.]+) (?:total )?tokens/s"
    r"(?:, ([\d.]+) output tokens/s)?",
    re.MULTILINE,
)
PROMPTS = re.compile(r"^Total num (prompt|output) tokens: +(\d+)", re.MULTILINE)
AVERAGE = re.compile(r"^Avg latency: ([\d.]+) seconds", re.MULTILINE)
PERCENTILE = re.compile(r"^(\d+)% percentile latency: ([\d.]+) seconds", re.MULTILINE)
SIDES = {"prompt": "input", "output": "output"}
THROUGHPUT_KEYS = {"requests_per_second", "tokens_per_second", "elapsed_time"}


@register
class VllmThroughputReader(Reader):
    """``vllm bench throughput``: the printed line or the JSON of ``--output-json``."""

    name = "vllm_throughput"
    kind = KIND
    version = "3"
    tool = "vllm bench throughput"

    def recognises(self, sample: Sample) -> int:
        if THROUGHPUT.search(sample.text):
            return 85
        if '"requests_per_second"' not in sample.text:
            return 0
        result = sample.json
        return 90 if isinstance(result, dict) and set(result) >= THROUGHPUT_KEYS else 0

    def read(self, source: Source) -> Reading:
        result = source.json
        if isinstance(result, dict):
            return self.reading(_of_json(result))
        results = list(THROUGHPUT.finditer(source.text))
        found = results[-1]
        rates = zip(
            ("requests_per_second", "total_tokens_per_second", "output_tokens_per_second"),
            found.groups(),
            strict=True,
        )
        throughput = {name: float(value) for name, value in rates if value}
        counts = {SIDES[side]: int(count) for side, count in PROMPTS.findall(source.text)}
        values = {"latency_ms": {}, "throughput": throughput, "tokens": counts}
        return self.reading(values, warnings=several_results(len(results)))


def _of_json(result: dict[str, Any]) -> dict[str, Any]:
    throughput = {
        "requests_per_second": result["requests_per_second"],
        "total_tokens_per_second": result["tokens_per_second"],
    }
    return {
        "latency_ms": {},
        "throughput": throughput,
        "requests": without_none({"total": result.get("num_requests")}),
        "tokens": without_none({"total": result.get("total_num_tokens")}),
        "duration_s": result["elapsed_time"],
    }


@register
class RunPaReader(Reader):
    """``examples/run_pa.py`` of MindIE's ATB Speed: questions, answers and how many tokens each
    answer has; no time."""

    name = "mindie_run_pa"
    kind = KIND
    tool = "MindIE run_pa"
    count = re.compile(r"\bGenerate\[(\d+)\] token num: \((\d+), (\d+)\)")
    answer = re.compile(r"\bAnswer\[(\d+)\]: *(\S.*)?$", re.MULTILINE)

    def recognises(self, sample: Sample) -> int:
        return 80 if self.count.search(sample.text) else 0

    def read(self, source: Source) -> Reading:
        tokens = {number: int(count) for number, _index, count in self.count.findall(source.text)}
        answered = {number for number, text in self.answer.findall(source.text) if text}
        values = {"mode": "run_pa", "requests": {"total": len(tokens), "completed": len(
            answered & tokens.keys())}, "tokens": {"output": sum(tokens.values())},
            "latency_ms": {}, "throughput": {}}  # fmt: skip
        return self.reading(values)


@register
class VllmLatencyReader(Reader):
    """``vllm bench latency``: seconds per batch, printed or as JSON."""

    name = "vllm_latency"
    kind = KIND
    version = "2"
    tool = "vllm bench latency"

    def recognises(self, sample: Sample) -> int:
        if AVERAGE.search(sample.text):
            return 85
        result = sample.json if '"avg_latency"' in sample.text else None
        return 90 if isinstance(result, dict) and "percentiles" in result else 0

    def read(self, source: Source) -> Reading:
        result, count = source.json, 1
        if isinstance(result, dict):
            mean, shares = result["avg_latency"], result["percentiles"].items()
        else:
            results = list(AVERAGE.finditer(source.text))
            if not results:
                raise ReadError("no_latency", "The average latency is missing.")
            mean, count = results[-1][1], len(results)
            shares = PERCENTILE.findall(source.text, results[-1].end())
        latency = {"mean": 1000 * float(mean)}
        latency |= {f"p{share}": 1000 * float(seconds) for share, seconds in shares}
        values = {"latency_ms": {"inference": latency}, "throughput": {}}
        return self.reading(values, warnings=several_results(count))


BATCH = re.compile(
    r"\b(?P<part>Prefill|Decode|Total)\. +(?P<median>median )?latency: +(?P<seconds>[\d.]+) s, "
    r"(?:median )?throughput: +(?P<rate>[\d.]+) token/s"
)
PARTS = {"Prefill": "ttft", "Decode": "tpot", "Total": "e2e"}
RATES = {"Prefill": "prefill", "Decode": "output", "Total": "total"}
BATCH_KEYS = {
    "Prefill": ("prefill_latency", "prefill_throughput"),
    "Decode": ("median_decode_latency", "median_decode_throughput"),
    "Total": ("total_latency", "overall_throughput"),
}
Batch = dict[str, tuple[float, float]]


@register
class OneBatchReader(Reader):
    """SGLang's ``bench_one_batch``: seconds of a whole batch; the warm-up prints the same lines."""

    name = "sglang_one_batch"
    kind = KIND
    tool = "SGLang"

    def recognises(self, sample: Sample) -> int:
        if BATCH.search(sample.text):
            return 85
        return 85 if all(f'"{key}"' in sample.first_line for key in BATCH_KEYS["Total"]) else 0

    def read(self, source: Source) -> Reading:
        batches = _printed_batches(source) or _stored_batches(source)
        if not batches:
            raise ReadError("truncated_record", "No batch was measured to its end.")
        last = batches[-1]
        latency = {PARTS[part]: {"median" if part == "Decode" else "mean": 1000 * seconds}
                   for part, (seconds, _rate) in last.items()}  # fmt: skip
        rates = {f"{RATES[part]}_tokens_per_second": rate for part, (_s, rate) in last.items()}
        values = {"latency_ms": latency, "throughput": rates}
        return self.reading(values, warnings=several_results(len(batches)))


def _printed_batches(source: Source) -> list[Batch]:
    """Part → (seconds, tokens per second) of each batch up to its total, without the warm-up."""
    batches: list[Batch] = []
    current: Batch = {}
    for _number, line in source.lines():
        if line.strip() == "Benchmark ...":
            batches.clear()
        elif found := BATCH.search(line):
            current[found["part"]] = (float(found["seconds"]), float(found["rate"]))
            if found["part"] == "Total":
                batches.append(current)
                current = {}
    return batches


def _stored_batches(source: Source) -> list[Batch]:
    records = [record for _number, record in json_records(source, [])]
    return [
        {part: (float(record[time]), float(record[rate]))
         for part, (time, rate) in BATCH_KEYS.items() if time in record}
        for record in records if "total_latency" in record
    ]  # fmt: skip


SUMMARY = re.compile(r"(?:^|\] )([A-Z][\w -]*?): (min = .+)$")
STATISTIC = re.compile(r"(min|max|mean|median|percentile\((\d+)%\)) = ([\d.]+) ms")
MEASURED = {"GPU Compute Time": "inference", "Latency": "e2e"}
"""The latter holds the copies between host and device too."""
QUERIES = re.compile(r"\[I\] Throughput: ([\d.]+) qps")


@register
class TrtexecReader(Reader):
    """``trtexec``'s performance summary; a query is a batch."""

    name = "trtexec"
    kind = KIND
    version = "2"
    tool = "trtexec"

    def recognises(self, sample: Sample) -> int:
        return 90 if QUERIES.search(sample.text) else 0

    def read(self, source: Source) -> Reading:
        latency: dict[str, dict[str, float]] = {}
        rates: list[float] = []
        for _number, line in source.lines():
            if found := QUERIES.search(line):
                rates.append(float(found[1]))
                latency = {}
            elif found := SUMMARY.search(line):
                latency[found[1]] = {
                    f"p{share}" if share else name: float(value)
                    for name, share, value in STATISTIC.findall(found[2])
                }
        if not rates:
            raise ReadError("no_throughput", "The line with the throughput is missing.")
        measured = {name: latency[line] for line, name in MEASURED.items() if line in latency}
        values = {"latency_ms": measured, "metrics": latency}
        values["throughput"] = {"batches_per_second": rates[-1]}
        return self.reading(values, warnings=several_results(len(rates)))
