"""Which quantities a reading holds, and where in its values they stand."""

from collections.abc import Iterator
from dataclasses import dataclass

LOSS_CURVE = "loss_curve"


@dataclass(frozen=True)
class Quantity:
    """A measured quantity. `value` is None for a curve: the artifact itself is the figure."""

    name: str
    value: float | None
    unit: str
    place: str


def quantities(kind: str, values: dict) -> Iterator[Quantity]:
    """The quantities of one reading's values (see the readers for their keys)."""
    if kind == "training_log" and values.get("loss"):
        yield Quantity(LOSS_CURVE, None, "", "loss")
        yield from _training(values)
    if kind == "inference_benchmark":
        yield from _benchmark(values)
    if kind == "evaluation":
        for task, score in (values.get("scores") or {}).items():
            if _number(score):
                yield Quantity(f"score:{task}"[:40], float(score), "", f"scores.{task}")
    if kind == "memory" and _number(values.get("peak_allocated_mb")):
        yield Quantity("peak_memory_mb", float(values["peak_allocated_mb"]), "MB",
                       "peak_allocated_mb")


def _training(values: dict) -> Iterator[Quantity]:
    time = (values.get("iteration_time_ms") or {}).get("mean")
    if _number(time):
        yield Quantity("iteration_time_ms", float(time), "ms", "iteration_time_ms.mean")
        batch = values.get("global_batch_size")
        if _number(batch) and time:
            yield Quantity("samples_per_second", 1000 * batch / time, "/s",
                           "global_batch_size / iteration_time_ms.mean")
    peak = (values.get("memory") or {}).get("max_allocated_mb")
    if isinstance(peak, dict):
        peak = max((p for p in peak.values() if _number(p)), default=None)
    if _number(peak):
        yield Quantity("peak_memory_mb", float(peak), "MB", "memory.max_allocated_mb")


def _benchmark(values: dict) -> Iterator[Quantity]:
    latency = values.get("latency_ms")
    mean = latency.get("mean") if isinstance(latency, dict) else latency
    if _number(mean):
        yield Quantity("latency_ms", float(mean), "ms", "latency_ms.mean")
    for key in ("throughput", "samples_per_second", "output_tokens_per_second"):
        if _number(values.get(key)):
            yield Quantity("inference_throughput", float(values[key]), "/s", key)
            return


def _number(value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
