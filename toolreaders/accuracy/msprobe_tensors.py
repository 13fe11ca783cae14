"""Tensors inside msprobe's JSON: dictionaries with Max, Min, Mean and Norm, nested anyhow."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

STATISTICS = ("Max", "Min", "Mean", "Norm")


def tensors_of(tree: Any) -> Iterator[dict[str, Any]]:
    """Every tensor below ``tree`` in its written order, without recursion limits."""
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            if "dtype" in node and ("Max" in node or "shape" in node or "md5" in node):
                yield node
            else:
                stack.extend(reversed(list(node.values())))
        elif isinstance(node, list):
            stack.extend(reversed(node))


def is_nonfinite(tensor: dict[str, Any]) -> bool:
    """True when a statistic is NaN or Inf, as a bare number or as text."""
    return any(_nonfinite(tensor.get(name)) for name in STATISTICS)


def _nonfinite(value: Any) -> bool:
    if isinstance(value, bool) or value is None:
        return False
    try:
        return not math.isfinite(float(value))
    except (TypeError, ValueError, OverflowError):
        return False
