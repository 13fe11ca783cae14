"""Figures of two runs of one job side by side (DOMAIN AR-10)."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Figures = dict[str, float]
# Values that repeat when the same thing is done again; times are no such values.
PATHS: Mapping[str, tuple[str, ...]] = {
    "training_log": ("loss.points", "loss.first", "loss.last", "loss.mean", "grad_norm.mean"),
    "accuracy_compare": ("rows", "nonfinite", "unmatched", "deviating"),
    "accuracy_dump": ("entries", "tensors", "nonfinite"),
    "config_check": ("counts.differences", "counts.error"),
    "quantization": ("weights", "quantised"),
    "memory": ("peak_allocated_bytes",),
    "migration_analysis": ("rows",), "script_transplant": ("rows",),
    "node_report": ("rows_written", "file_count", "tensors", "blocking", "warnings"),
    "conversion_log": ("succeeded",), "onnx_model": ("opset", "nodes"),
    "npu_smi": ("chip_count",),
}


@dataclass(frozen=True)
class Pair:
    """One figure of both runs; `difference` is relative to the first, infinite if not finite."""

    name: str
    first: float
    second: float

    @property
    def difference(self) -> float:
        if not (math.isfinite(self.first) and math.isfinite(self.second)):
            return math.inf
        scale = abs(self.first) or 1.0
        return abs(self.second - self.first) / scale


def of_job(job) -> Figures:
    """Figures of a stored job by file and name."""
    from workers.models import StoredReading

    found = StoredReading.objects.filter(artifact__job=job).select_related("artifact")
    return _figures((reading.artifact.name, reading.kind, reading.values) for reading in found)


def of_readings(readings: Mapping[str, Any]) -> Figures:
    """Figures of readings by file name, as a job's judgement gets them."""
    return _figures((name, reading.kind, reading.values) for name, reading in readings.items())


def compared(first: Figures, second: Figures) -> list[Pair]:
    """The figures that both have."""
    return [Pair(name, value, second[name]) for name, value in sorted(first.items())
            if name in second]


def _figures(entries: Iterable[tuple[str, str, dict]]) -> Figures:
    return {f"{name}: {path}": value for name, kind, values in entries
            for path, value in _of(kind)(values)}


def _of(kind: str) -> Callable[[dict], Iterator[tuple[str, float]]]:
    if kind == "evaluation":
        return _scores
    return lambda values: _paths(PATHS.get(kind, ()), values)


def _paths(paths: tuple[str, ...], values: dict) -> Iterator[tuple[str, float]]:
    for path in paths:
        found: Any = values
        for key in path.split("."):
            found = found.get(key) if isinstance(found, dict) else None
        if isinstance(found, list):
            found = len(found)
        if (number := _number(found)) is not None:
            yield path, number


def _scores(values: dict) -> Iterator[tuple[str, float]]:
    for score in values.get("scores") or []:
        if (number := _number(score.get("value"))) is not None:
            yield f"{score.get('task')}/{score.get('metric')}", number


def _number(value: Any) -> float | None:
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError):
        return None
