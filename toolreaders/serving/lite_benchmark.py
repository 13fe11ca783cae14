"""``benchmark`` of MindSpore Lite: one line of run times in ms, and the bias of outputs.

Format: MindSpore Lite cloud-side documentation, tools/benchmark (mindir/benchmark_tool, r2.6 and
master). MindIE's client of the same name prints other tables.
"""

from __future__ import annotations

import re

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.figures import NUMBER
from toolreaders.serving.normalised_results import several_results
from toolreaders.source import ReadError

TIMES = re.compile(
    rf"Model = (?P<model>.+?), numThreads = (?P<threads>\d+), MinRunTime = (?P<min>{NUMBER}) ms, "
    rf"MaxRun[Tt]ime = (?P<max>{NUMBER}) ms, AvgRunTime = (?P<mean>{NUMBER}) ms", re.IGNORECASE)
BIAS = re.compile(rf"^Mean bias of (?P<what>node \S+|all nodes) ?: (?P<percent>{NUMBER})%")


@register
class LiteBenchmarkReader(Reader):
    """Shortest, longest and mean time of one inference; deviation of outputs where it was asked."""

    name = "mindspore_lite_benchmark"
    kind = "inference_benchmark"
    tool = "mindspore_lite_benchmark"

    def recognises(self, sample: Sample) -> int:
        return 92 if TIMES.search(sample.text) else 0

    def read(self, source: Source) -> Reading:
        results, bias = [], {}
        for _number, line in source.lines():
            if found := TIMES.search(line):
                results.append(found)
            elif found := BIAS.match(line):
                bias[found["what"].removeprefix("node ")] = float(found["percent"]) / 100
        if not results:
            raise ReadError("no_values", "The log holds no run times.")
        last = results[-1]
        times = {name: float(last[name]) for name in ("min", "max", "mean")}
        values = {"latency_ms": {"inference": times}, "throughput": {}, "requests": {},
                  "model": last["model"], "threads": int(last["threads"])}
        if bias:
            values["mean_bias"] = bias  # fractions of the reference
        return self.reading(values, warnings=several_results(len(results)))
