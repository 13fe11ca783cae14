"""What readings of benchmarks of inference hold, by kind."""

from __future__ import annotations

from typing import TypedDict

from toolreaders.value_types import Number, Record


class InferenceBenchmark(TypedDict, total=False):
    """A benchmark of an inference service or an offline model."""

    batch_size: Number
    common: Record
    duration_s: Number | None
    headline: Record
    latency_ms: dict[str, Record]
    mean_bias: Number
    metrics: Record
    mode: str
    model: str | None
    requests: Record
    runs: int | list[Record] | None
    samples: int | None
    scenario: str
    stage: str
    threads: int
    throughput: dict[str, Number]
    tokens: dict[str, Number]
    valid: bool


KINDS = {
    "inference_benchmark": InferenceBenchmark,
}
