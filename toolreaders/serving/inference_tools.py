"""Offline inference on .om models and MLPerf: ais_bench (ACL), benchmark, msame, loadgen."""

from __future__ import annotations

import re
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.figures import NUMBER
from toolreaders.serving.normalised_results import (
    cross_check,
    several_results,
    without_none,
)
from toolreaders.source import ReadError, ReadingWarning
from toolreaders.training.series import to_float

KIND = "inference_benchmark"
LATENCY = re.compile(r"(H2D_latency|NPU_compute_time|D2H_latency) \(ms\): (.+)$")
STATISTIC = re.compile(rf"(min|max|mean|median|percentile\(99%\)) = ({NUMBER})")
THROUGHPUT = re.compile(
    rf"throughput 1000\*batchsize(?:\.mean)?\(({NUMBER})\)/NPU_compute_time\.mean\(({NUMBER})\): "
    rf"({NUMBER})"
)
RATE = re.compile(r"\[(e2e|data read|preprocess|infer(?:ence)?|post(?:process)?)\] (.*)$")
PURE_RATE = re.compile(r"ave_throughputRate: ?([\d.]+) ?samples/s, ave_latency: ?([\d.]+) ?ms")
RATE_ITEM = re.compile(
    rf"(throughputRate|Interface throughputRate|latency|moduleLatency): ?({NUMBER})"
)
MSAME = re.compile(r"Inference average time ?(without first time)? ?: ?([\d.]+) ?ms")
MSAME_ONE = re.compile(r"Inference time ?: ?([\d.]+) ?ms")
STAGES = {"infer": "inference", "post": "postprocess"}
CHIPS_PER_310_CARD = 4


@register
class AisBenchInferReader(Reader):
    """``python -m ais_bench``: throughput = 1000 · batch / mean NPU time."""

    name = "ais_bench_infer"
    kind = KIND
    version = "2"
    tool = "ais_bench"

    def recognises(self, sample: Sample) -> int:
        return 90 if THROUGHPUT.search(sample.text) or LATENCY.search(sample.text) else 0

    def read(self, source: Source) -> Reading:
        latency: dict[str, dict[str, float]] = {}
        results: list[re.Match[str]] = []
        is_complete = False  # the result before this line is complete
        for _number, line in source.lines():
            if found := LATENCY.search(line):
                latency, is_complete = {} if is_complete else latency, False
                statistics = {
                    n.replace("percentile(99%)", "p99"): float(v)
                    for n, v in STATISTIC.findall(found[2])
                }
                latency[found[1]] = statistics
            if found := THROUGHPUT.search(line):
                results.append(found)
                is_complete = True
        if not is_complete:
            raise ReadError("no_throughput", "The line with the throughput of a run is missing.")
        last = results[-1]
        batch, mean, printed = float(last[1]), float(last[2]), float(last[3])
        computed = 1000 * batch / mean
        values = {
            "latency_ms": {"inference": latency.get("NPU_compute_time", {"mean": mean})},
            "throughput": {"samples_per_second": computed, "stated_samples_per_second": printed},
            "batch_size": batch,
            "metrics": latency,
        }
        warnings = cross_check("Throughput", printed, computed) + several_results(len(results))
        return self.reading(values, warnings=warnings)


@register
class AisBenchSummaryReader(Reader):
    """``*_summary.json`` of ais_bench."""

    name = "ais_bench_summary"
    kind = KIND
    tool = "ais_bench"

    def recognises(self, sample: Sample) -> int:
        if '"filesinfo"' not in sample.text and '"NPU_compute_time"' not in sample.text:
            return 0
        summary = sample.json
        return 90 if isinstance(summary, dict) and "NPU_compute_time" in summary else 0

    def read(self, source: Source) -> Reading:
        summary = source.json
        parts = {
            name: _statistics(summary[name])
            for name in ("H2D_latency", "NPU_compute_time", "D2H_latency")
            if isinstance(summary.get(name), dict)
        }
        throughput = to_float(summary.get("throughput"))
        values = {
            "latency_ms": {"inference": parts.get("NPU_compute_time", {})},
            "throughput": without_none({"samples_per_second": throughput}),
            "metrics": parts,
            "samples": len(summary.get("filesinfo", {})) or None,
        }
        return self.reading(values)


def _statistics(part: dict[str, Any]) -> dict[str, float]:
    numbers = {
        name.replace("percentile(99%)", "p99"): to_float(v)
        for name, v in part.items()
        if not isinstance(v, list)
    }
    return {name: value for name, value in numbers.items() if value is not None}


@register
class BenchmarkToolReader(Reader):
    """CANN ``benchmark`` (perf_vision_…txt, PureInfer_perf_…txt); a 310 card has four chips, so
    its rate is ×4."""

    name = "cann_benchmark"
    kind = KIND
    tool = "benchmark"

    def recognises(self, sample: Sample) -> int:
        is_staged = re.search(r"\[(?:e2e|infer(?:ence)?)\] throughputRate:", sample.text)
        return 90 if is_staged or PURE_RATE.search(sample.text) else 0

    def read(self, source: Source) -> Reading:
        stages = {
            STAGES.get(found[1], found[1]): {
                name: float(value) for name, value in RATE_ITEM.findall(found[2])
            }
            for _number, line in source.lines()
            if (found := RATE.search(line))
        }
        if found := PURE_RATE.search(source.text):
            pure = {"Interface throughputRate": float(found[1]), "moduleLatency": float(found[2])}
            stages["inference"] = pure
        rate = stages.get("inference", {}).get("Interface throughputRate")
        whole = stages.get("e2e", {}).get("throughputRate")
        if rate is None and ("inference" in stages or whole is None):
            raise ReadError("no_throughput", "The line has no Interface throughputRate.")
        if rate is None:  # of reading, preparing and inference together
            throughput = {"e2e_samples_per_second": whole}
            return self.reading({"latency_ms": {}, "throughput": throughput, "metrics": stages})
        message = "The rate is of one chip; a 310 card has four (samples_per_second_310_card)."
        values = {
            "latency_ms": {"inference": {"mean": stages["inference"].get("moduleLatency")}},
            "throughput": {
                "samples_per_second": rate,
                "samples_per_second_310_card": rate * CHIPS_PER_310_CARD,
            },
            "metrics": stages,
        }
        return self.reading(values, warnings=[ReadingWarning("rate_of_one_chip", message)])


@register
class MsameReader(Reader):
    """msame: average time with and without the first inference; batch size is not printed."""

    name = "msame"
    kind = KIND
    tool = "msame"

    def recognises(self, sample: Sample) -> int:
        return 85 if MSAME.search(sample.text) else 0

    def read(self, source: Source) -> Reading:
        average = without_first = None
        single: list[float] = []
        for _number, line in source.lines():
            if found := MSAME.search(line):
                if found[1]:
                    without_first = float(found[2])
                else:
                    average = float(found[2])
            elif found := MSAME_ONE.search(line):
                single.append(float(found[1]))
        mean = without_first or average
        if mean is None:
            raise ReadError("no_latency", "The average inference time is missing.")
        latency = without_none({"mean": average, "mean_without_first": without_first})
        values = {
            "latency_ms": {"inference": latency},
            "throughput": {"batches_per_second": 1000 / mean},
            "runs": len(single) or None,
        }
        warnings = []
        if without_first is None:
            message = "The time without the first inference is missing: the first one counts."
            warnings.append(ReadingWarning("first_run_included", message))
        return self.reading(values, warnings=warnings)


MLPERF_ITEM = re.compile(r"^\s*\*?\s*([\w][\w ./()%-]*?)\s*:\s*(.+?)\s*$")
MLPERF_HEADLINES = {
    "Offline": "Samples per second",
    "Server": "Completed samples per second",
    "SingleStream": "90.0th percentile latency (ns)",
    "MultiStream": "99.0th percentile latency (ns)",
}
MLPERF_OLDER = {
    "Server": "Scheduled samples per second",
    "SingleStream": "90th percentile latency (ns)",
    "MultiStream": "99th percentile latency (ns)",
}


@register
class MlPerfReader(Reader):
    """``mlperf_log_summary.txt``: nanoseconds; figures count only when ``Result is : VALID``."""

    name = "mlperf_summary"
    kind = KIND
    tool = "MLPerf loadgen"

    def recognises(self, sample: Sample) -> int:
        return 92 if "MLPerf Results Summary" in sample.text else 0

    def read(self, source: Source) -> Reading:
        items: dict[str, str] = {}
        for _number, line in source.lines():
            if found := MLPERF_ITEM.match(line):
                items.setdefault(found[1].strip(), found[2])
        scenario, result = items.get("Scenario"), items.get("Result is")
        if scenario is None or result is None:
            raise ReadError("damaged_file", "The summary names no scenario or no result.")
        headline = MLPERF_HEADLINES.get(scenario, "")
        headline = headline if headline in items else MLPERF_OLDER.get(scenario, headline)
        samples = to_float(items.get("Samples per second", items.get("QPS w/o loadgen overhead")))
        if scenario == "Server":
            samples = to_float(items.get(headline))
        values = {
            "scenario": scenario,
            "mode": items.get("Mode"),
            "valid": result == "VALID",
            "headline": {"name": headline, "value": to_float(items.get(headline))},
            "latency_ms": {"inference": _nanoseconds(items)},
            "throughput": without_none({"samples_per_second": samples}),
            "metrics": items,
        }
        warnings = []
        if result != "VALID":
            message = f"The run is {result}: its figures do not count."
            warnings.append(ReadingWarning("invalid_run", message))
        return self.reading(values, warnings=warnings)


def _nanoseconds(items: dict[str, str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for key, value in items.items():
        number = to_float(value)
        if number is None:
            continue
        if name := re.fullmatch(r"(Min|Max|Mean) latency \(ns\)", key):
            found[name[1].lower()] = number / 1e6
        elif name := re.fullmatch(r"(\d+\.\d+) percentile latency \(ns\)", key):
            found["p" + name[1].rstrip("0").rstrip(".")] = number / 1e6
    return found
