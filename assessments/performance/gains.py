"""Performance metrics and what a change of one is worth. Pure arithmetic.

Gains are relative to the value before; positive is better (DOMAIN 8.1 F01–F06). Gains of several
rounds are never added: the whole is the last value against the first (F10).
"""

import math
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy

from toolreaders.verdicts.quantity_rows import QUANTITIES


@dataclass(frozen=True)
class Metric:
    """A charted quantity (`toolreaders/verdicts/quantity_rows.py`); shares are fractions and
    change in points."""

    name: str
    label: Any
    unit: str
    is_higher_better: bool
    is_share: bool


METRICS = tuple(
    Metric(row.name, gettext_lazy(row.label), row.unit, row.is_higher_better, row.is_share)
    for row in QUANTITIES if row.is_charted)
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
