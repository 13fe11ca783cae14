"""Points of a benchmark: what was measured at one concurrency, input and output length."""

from collections.abc import Iterable
from typing import Any


def shape_of(values: dict[str, Any]) -> dict[str, float | None]:
    """Concurrency, and mean tokens of a request's input and output, as far as they are stated."""
    requests, tokens = values.get("requests") or {}, values.get("tokens") or {}
    done = requests.get("completed") or requests.get("total")
    metrics = values.get("metrics") or {}
    return {"concurrency": requests.get("concurrency"),
            "input": _asked(metrics.get("input_len")) or _mean(tokens.get("input"), done),
            "output": _asked(metrics.get("output_len")) or _mean(tokens.get("output"), done)}


def point_name(values: dict[str, Any]) -> str:
    """`c8,i1024,o256` of a serving benchmark, `b8` of an offline model; empty where unstated.

    A criterion that is bound to a point is judged by results of this name only.
    """
    batch = values.get("batch_size")
    if isinstance(batch, (int, float)) and batch > 0:
        return f"b{batch:g}"
    shape = shape_of(values)
    if not all(isinstance(shape[name], (int, float)) for name in shape):
        return ""
    return "c{concurrency:g},i{input:g},o{output:g}".format(**shape)


def is_one_of_several(values: dict[str, Any]) -> bool:
    """Whether the result says that it is one point of a sweep: alone it stands for none."""
    return (_asked((values.get("metrics") or {}).get("points")) or 1) > 1


def points_of(readings: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row per result, by lengths and concurrency; times in ms, rates per second."""
    rows = []
    for values in readings:
        latency, rates = values.get("latency_ms") or {}, values.get("throughput") or {}
        rows.append({
            **shape_of(values), "ttft": _figure(latency, "ttft"), "tpot": _figure(latency, "tpot"),
            "latency": _figure(latency, "e2e"), "p99": _figure(latency, "e2e", "p99"),
            "tokens_per_second": rates.get("output_tokens_per_second"),
            "requests": (values.get("requests") or {}).get("total"),
            "failed": (values.get("requests") or {}).get("failed")})
    return sorted(rows, key=lambda row: tuple(
        row[name] or 0 for name in ("input", "output", "concurrency")))


def _figure(latency: dict, stage: str, which: str = "mean") -> float | None:
    return (latency.get(stage) or {}).get(which)


def _mean(total: float | None, count: float | None) -> float | None:
    return round(total / count, 1) if total is not None and count else None


def _asked(value: Any) -> float | None:
    return float(value) if str(value).isdecimal() else None
