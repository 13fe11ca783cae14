"""Which quantities a reading holds, and where in its values they stand."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

LOSS_CURVE = "loss_curve"
MEGABYTE = 2**20
SERVING_LATENCIES = {"ttft": "ttft_ms", "tpot": "tpot_ms", "e2e": "e2e_latency_ms"}
RATES = ("samples_per_second", "output_tokens_per_second", "batches_per_second")


@dataclass(frozen=True)
class Quantity:
    """A measured quantity. `value` is None for a curve: the artifact itself is the figure.

    Scores are fractions, named `score:task/metric,filter`; memory is in MB of 2^20 bytes.
    """

    name: str
    value: float | None
    unit: str
    place: str


def quantities(kind: str, values: dict) -> Iterator[Quantity]:
    """The quantities of one reading's values (see the readers for their keys)."""
    readers = {"training_log": _training, "inference_benchmark": _benchmark,
               "evaluation": _evaluation, "memory": _memory}
    if kind in readers:
        yield from (q for q in readers[kind](values) if q.value is None or _number(q.value))


def _training(values: dict) -> Iterator[Quantity]:
    if values.get("loss"):
        yield Quantity(LOSS_CURVE, None, "", "loss")
    for name, unit, path in (
        ("iteration_time_ms", "ms", "iteration_time_ms.mean"),
        ("samples_per_second", "/s", "throughput.samples_per_second"),
        ("peak_memory_mb", "MB", "memory.peak_allocated_mb"),
    ):
        yield from _at(values, name, unit, path)


def _benchmark(values: dict) -> Iterator[Quantity]:
    if values.get("valid") is False:  # MLPerf says so itself
        return
    yield from _at(values, "latency_ms", "ms", "latency_ms.inference.mean")
    for key, name in SERVING_LATENCIES.items():
        yield from _at(values, name, "ms", f"latency_ms.{key}.mean")
    found = (q for rate in RATES
             for q in _at(values, "inference_throughput", "/s", f"throughput.{rate}"))
    yield from [q for q in [next(found, None)] if q]


def _evaluation(values: dict) -> Iterator[Quantity]:
    if values.get("expected"):  # a configuration's expectation, not a measurement
        return
    for number, score in enumerate(values.get("scores") or []):
        value = score.get("value")
        if _number(value) and values.get("scale") == "percent":
            value = float(Decimal(repr(value)) / 100)
        yield Quantity(score_name(score), value if _number(value) else float("nan"), "",
                       f"scores.{number}.value")


def score_name(score: dict) -> str:
    """`score:gsm8k/exact_match,strict-match`, as far as the result names task, metric, filter."""
    metric = ",".join(score[key] for key in ("metric", "filter")
                      if score.get(key) and score[key] != "none")
    return "score:" + "/".join(part for part in (score.get("task"), metric) if part)[:100]


def _memory(values: dict) -> Iterator[Quantity]:
    peak = values.get("peak_allocated_bytes")
    if _number(peak):
        yield Quantity("peak_memory_mb", peak / MEGABYTE, "MB", "peak_allocated_bytes")


def _at(values: dict, name: str, unit: str, path: str) -> Iterator[Quantity]:
    """The number at a dotted path, if there is one."""
    found = values
    for key in path.split("."):
        found = found.get(key) if isinstance(found, dict) else None
    if _number(found):
        yield Quantity(name, float(found), unit, path)


def _number(value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
