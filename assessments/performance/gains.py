"""Performance metrics and what a change of one is worth. Pure arithmetic.

Gains are relative to the value before; positive is better (DOMAIN 8.1 F01–F06). Gains of several
rounds are never added: the whole is the last value against the first (F10).
"""

import math
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True)
class Metric:
    """A measured quantity of performance; shares are fractions and change in points."""

    name: str
    label: Any
    unit: str
    is_higher_better: bool = False
    is_share: bool = False


METRICS = (
    Metric("tokens_per_second", _("Training throughput (tokens)"), "/s", is_higher_better=True),
    Metric("samples_per_second", _("Training throughput (samples)"), "/s", is_higher_better=True),
    Metric("iteration_time_ms", _("Time per step"), "ms"),
    Metric("inference_throughput", _("Inference throughput"), "/s", is_higher_better=True),
    Metric("latency_ms", _("Inference latency"), "ms"),
    Metric("ttft_ms", _("Time to the first token"), "ms"),
    Metric("tpot_ms", _("Time per output token"), "ms"),
    Metric("e2e_latency_ms", _("Latency of a request"), "ms"),
    Metric("peak_memory_mb", _("Peak memory"), "MB"),
    Metric("communication_share", _("Uncovered communication"), "%", is_share=True),
    Metric("free_share", _("Free time"), "%", is_share=True),
    Metric("mfu", _("Model FLOPs utilisation (MFU)"), "%", is_higher_better=True, is_share=True),
    Metric("mbu", _("Memory bandwidth utilisation (MBU)"), "%", is_higher_better=True,
           is_share=True),
    Metric("hbm_hit_rate", _("HBM hit rate"), "%", is_higher_better=True, is_share=True),
)
BY_NAME = {metric.name: metric for metric in METRICS}


@dataclass(frozen=True)
class Gain:
    """What a change is worth: a fraction of the value before, and for shares the points."""

    relative: float
    points: float | None = None

    @property
    def is_better(self) -> bool:
        return self.relative > 0

    @property
    def is_worse(self) -> bool:
        return self.relative < 0


def gain(metric: Metric, before: float | None, after: float | None) -> Gain | None:
    """The gain from one measured value to the next; None where it is not defined.

    Throughput: (after − before) / before. Times, memory and shares: (before − after) / before.
    """
    if before is None or after is None or not before:
        return None
    change = (after - before) if metric.is_higher_better else (before - after)
    relative = change / abs(before)
    if not math.isfinite(relative):
        return None
    return Gain(relative, (after - before) * 100 if metric.is_share else None)
