"""Epochs of a YOLO training as a loss curve: what its console and its results.csv have in common.

There is no total: the loss is the sum of the parts, but for early YOLOv5, which prints one. YOLOv5
counts epochs from 0, ultralytics from 1 (its first releases wrote 0 into the CSV).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from toolreaders.source import ReadingWarning
from toolreaders.training.series import LossSeries, assemble


@dataclass
class Row:
    """One epoch: the losses by name, and how far it has come."""

    epoch: int
    line: int
    losses: dict[str, float]
    megabytes: float = 0.0
    milliseconds: float | None = None
    is_done: bool = True


def scores_of(found: dict[str, list[float]]) -> dict[str, Any]:
    """Last and best value of every score, and of how many epochs it is known."""
    return {name: {"last": values[-1], "max": max(values), "count": len(values)}
            for name, values in found.items()}  # fmt: skip


def is_version_5(rows: list[Row]) -> bool:
    """YOLOv5 and its forebears have a loss of objectness."""
    return bool(rows) and any(name.startswith("obj") for name in rows[0].losses)


def _total(losses: dict[str, float]) -> float:
    return losses["total"] if "total" in losses else sum(losses.values())


def curve_of(
    rows: list[Row], warnings: list[ReadingWarning], *, tool: str | None, extras: dict[str, Any]
) -> LossSeries:
    """The curve over epochs, with the first and last value of each part of the loss."""
    parts = {name: [row.losses.get(name, float("nan")) for row in rows]
             for name in (rows[0].losses if rows else ())}  # fmt: skip
    if len(parts) > 1 and "total" not in parts:
        message = f"No total is printed: the loss is the sum of {', '.join(parts)}."
        warnings = [*warnings, ReadingWarning("loss_is_a_sum", message)]
    return assemble(
        [row.epoch for row in rows],
        [_total(row.losses) for row in rows],
        meaning="window_mean",
        step_base=0 if is_version_5(rows) or (rows and rows[0].epoch == 0) else 1,
        line_of=lambda index: rows[index].line,
        warnings=warnings,
        tool=tool,
        step_unit="epoch",
        extras={
            "loss_parts": {name: {"first": values[0], "last": values[-1]}
                           for name, values in parts.items() if name != "total"},
            **extras,
        },
    )  # fmt: skip
