"""Training logs of one JSON object per line.

LLaMA-Factory ``trainer_log.jsonl``, ms-swift ``logging.jsonl``, mmengine ``vis_data/scalars.json``,
mmcv ``*.log.json``, detectron2 ``metrics.json``, and the per-epoch ``log.txt`` of DeiT and MAE.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from workers.readers.base import Sample, Source, register
from workers.readers.hf_records import real_losses
from workers.readers.series import (
    LossSeries,
    Meaning,
    StepUnit,
    TrainingLogReader,
    assemble,
    statistic_values,
    time_values,
    to_float,
    truncated,
)
from workers.readers.source import ReadingWarning

Record = dict[str, Any]


@dataclass(frozen=True)
class Dialect:
    """How one tool writes its lines. ``fits`` tells its training records from its others."""

    tool: str
    step: str
    loss: str
    fits: Callable[[Record], bool]
    meaning: Meaning
    base: Literal[0, 1]
    unit: StepUnit = "step"
    filters_nan: bool = False
    seconds: str = ""
    total: str = ""


DIALECTS = (
    Dialect(
        "LLaMA-Factory",
        "current_steps",
        "loss",
        lambda r: "total_steps" in r,
        "window_mean",
        1,
        filters_nan=True,
        total="total_steps",
    ),
    Dialect(
        "ms-swift",
        "global_step/max_steps",
        "loss",
        lambda r: True,
        "window_mean",
        1,
        filters_nan=True,
    ),
    Dialect(
        "mmcv",
        "iter",
        "loss",
        lambda r: r.get("mode") == "train",
        "smoothed",
        1,
        seconds="time",
    ),
    Dialect(
        "mmengine",
        "step",
        "loss",
        lambda r: "data_time" in r and ("lr" in r or "iter" in r),
        "smoothed",
        1,
        seconds="time",
    ),
    Dialect(
        "detectron2",
        "iteration",
        "total_loss",
        lambda r: "data_time" in r or "lr" in r or "time" in r,
        "smoothed",
        0,
        seconds="time",
    ),
    Dialect("DeiT", "epoch", "train_loss", lambda r: True, "window_mean", 0, unit="epoch"),
    Dialect("JSON lines", "step", "loss", lambda r: True, "point", 1),
    Dialect("JSON lines", "global_step", "loss", lambda r: True, "point", 1),
    Dialect("JSON lines", "iteration", "loss", lambda r: True, "point", 1),
    Dialect("JSON lines", "iter", "loss", lambda r: True, "point", 1),
    Dialect("JSON lines", "step", "train_loss", lambda r: True, "point", 1),
    Dialect("JSON lines", "step", "train/loss", lambda r: True, "point", 1),
    Dialect("JSON lines", "_step", "train/loss", lambda r: True, "point", 0),
)


def _parse(text: str) -> Record | None:
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _dialect(records: Iterator[Record]) -> Dialect | None:
    for record in records:
        for dialect in DIALECTS:
            if _is_point(dialect, record):
                return dialect
    return None


def _is_point(dialect: Dialect, record: Record) -> bool:
    if dialect.step not in record or dialect.loss not in record:
        return False
    return to_float(record[dialect.loss]) is not None and dialect.fits(record)


@register
class JsonLinesReader(TrainingLogReader):
    """One JSON object per line with a step and a loss."""

    name = "jsonl_training_log"

    def recognises(self, sample: Sample) -> int:
        lines = [line for line in sample.lines[:2000] if line.strip()]
        if not lines or not lines[0].lstrip().startswith("{"):
            return 0
        records = (record for line in lines if (record := _parse(line)))
        return 85 if _dialect(records) else 0

    def series(self, source: Source) -> LossSeries:
        records, lines, warnings = records_of(source)
        dialect = _dialect(iter(records))
        assert dialect is not None, "recognised without a training record"
        kept = [i for i, record in enumerate(records) if _is_point(dialect, record)]
        points = [records[index] for index in kept]
        shown = [float(record[dialect.loss]) for record in points]
        steps = _steps(dialect, points)
        losses = shown
        if dialect.filters_nan:
            norms = [to_float(record.get("grad_norm")) for record in points]
            losses, hidden = real_losses(shown, norms, steps)
            warnings += hidden
        return assemble(
            steps,
            losses,
            meaning=dialect.meaning,
            step_base=0 if steps[0] == 0 else dialect.base,
            line_of=lambda index: lines[kept[index]],
            warnings=warnings,
            tool=dialect.tool,
            step_unit=dialect.unit,
            extras=_extras(dialect, points, records),
        )


def records_of(source: Source) -> tuple[list[Record], list[int], list[ReadingWarning]]:
    """Objects, their lines and warnings about lines that are none."""
    records, lines, broken = [], [], []
    last = 0
    for number, text in source.lines():
        if not text.strip():
            continue
        last = number
        record = _parse(text)
        if record is None:
            broken.append((number, text))
        else:
            records.append(record)
            lines.append(number)
    warnings = [truncated(*row) for row in broken if row[0] == last]
    middle = [number for number, _text in broken if number != last]
    if middle:
        message = f"{len(middle)} lines are not JSON and were left out."
        warnings.append(ReadingWarning("damaged_lines", message, middle[0]))
    return records, lines, warnings


def _steps(dialect: Dialect, points: list[Record]) -> list[int]:
    """Global steps; mmcv counts iterations from 1 in every epoch."""
    raw = [int(str(point[dialect.step]).split("/")[0].split(".")[0]) for point in points]
    if dialect.tool != "mmcv":
        return raw
    steps, offset = [], 0
    for index, step in enumerate(raw):
        later_epoch = index and points[index].get("epoch", 0) > points[index - 1].get("epoch", 0)
        if later_epoch and step <= raw[index - 1]:
            offset += raw[index - 1]
        steps.append(step + offset)
    return steps


def _extras(dialect: Dialect, points: list[Record], records: list[Record]) -> dict[str, Any]:
    seconds = [to_float(point.get(dialect.seconds)) for point in points] if dialect.seconds else []
    norms = [n for point in points if (n := to_float(point.get("grad_norm"))) is not None]
    return {
        "total_steps": points[-1].get(dialect.total) if dialect.total else None,
        "iteration_time_ms": time_values([1000 * s for s in seconds if s is not None]),
        "grad_norm": statistic_values(norms) if norms else None,
        "evaluation": _evaluation(dialect, records),
    }


def _evaluation(dialect: Dialect, records: list[Record]) -> dict[str, Any] | None:
    """Last and best of every accuracy-like number, last of every evaluation loss."""
    found: dict[str, Any] = {}
    for record in records:
        for key, raw in record.items():
            value = to_float(raw)
            if value is None or (dialect.unit != "epoch" and _is_point(dialect, record)):
                continue
            if key.startswith("test_acc") or "accuracy" in key or key.endswith(("AP", "mAP")):
                best = max(value, found.get(key, {}).get("max", value))
                found[key] = {"last": value, "max": best}
            elif key in ("eval_loss", "test_loss", "val_loss"):
                found[key] = {"last": value}
    return found or None
