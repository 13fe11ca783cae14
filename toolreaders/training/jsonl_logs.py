"""Training logs of one JSON object per line.

LLaMA-Factory ``trainer_log.jsonl``, ms-swift ``logging.jsonl``, mmengine ``vis_data/scalars.json``,
mmcv ``*.log.json``, detectron2 ``metrics.json``, and the per-epoch ``log.txt`` of DeiT and MAE.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from toolreaders.base import Sample, Source, register
from toolreaders.columns import Column, at_indices
from toolreaders.source import MAX_LINE_CHARACTERS, ReadingWarning
from toolreaders.training.grad_norms import GradientNorms, explained_by_log
from toolreaders.training.hf_records import real_losses
from toolreaders.training.run_selection import select
from toolreaders.training.series import (
    LossSeries,
    Meaning,
    StepUnit,
    TrainingLogReader,
    assemble,
    check_count,
    time_values,
    to_float,
    to_step,
    truncated,
)

Record = dict[str, Any]
MOST_NAMES = 1000  # of metrics that are remembered


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
        for dialect in DIALECTS if len(record) < MOST_NAMES else ():  # a vocabulary has “loss”
            if _is_point(dialect, record):
                return dialect
    return None


def _is_point(dialect: Dialect, record: Record) -> bool:
    if dialect.loss not in record or to_step(record.get(dialect.step)) is None:
        return False
    return to_float(record[dialect.loss]) is not None and dialect.fits(record)


@register
class JsonLinesReader(TrainingLogReader):
    """One JSON object per line with a step and a loss."""

    name = "jsonl_training_log"

    def recognises(self, sample: Sample) -> int:
        lines = [line[:MAX_LINE_CHARACTERS] for line in sample.lines[:2000] if line.strip()]
        if not lines or not lines[0].lstrip().startswith("{"):
            return 0
        records = (record for line in lines if (record := _parse(line)))
        return 85 if _dialect(records) else 0

    def series(self, source: Source) -> LossSeries:
        dialect = _dialect(record for _number, record in json_records(source, []))
        assert dialect is not None, "recognised without a training record"
        warnings: list[ReadingWarning] = []
        found = _collect(dialect, json_records(source, warnings))
        counted, is_assumed = _counted_on(found) if dialect.tool == "mmcv" else (found.steps, False)
        chosen = select(counted, found.losses)
        selected = chosen.selected
        steps, losses = (at_indices(c, selected) for c in (counted, found.losses))
        lines = at_indices(found.lines, selected)
        norms = GradientNorms.of(
            found.norms.keep(selected), lambda: explained_by_log(source, lines))  # fmt: skip
        if dialect.filters_nan:
            losses, hidden = real_losses(losses, norms, steps)
            warnings += hidden
        return assemble(
            steps,
            losses,
            meaning=dialect.meaning,
            step_base=0 if len(steps) and steps[0] == 0 else dialect.base,
            line_of=lambda index: found.lines[selected[index]],
            warnings=chosen.warnings + warnings,
            tool=dialect.tool,
            step_unit=dialect.unit,
            unprovable=chosen.unprovable or ("steps_unproven" if is_assumed else None),
            runs=chosen.runs,
            resumed=chosen.resumed,
            norms=norms,
            extras=_extras(dialect, found, selected),
        )


@dataclass
class Collected:
    """The training records of a file in columns, and its evaluations."""

    steps: array[int] = field(default_factory=lambda: array("q"))
    losses: array[float] = field(default_factory=lambda: array("d"))
    lines: array[int] = field(default_factory=lambda: array("q"))
    epochs: array[float] = field(default_factory=lambda: array("d"))
    seconds: Column = field(default_factory=Column)
    norms: Column = field(default_factory=Column)
    last: Record = field(default_factory=dict)
    evaluation: dict[str, dict[str, float]] = field(default_factory=dict)


def _collect(dialect: Dialect, records: Iterator[tuple[int, Record]]) -> Collected:
    found = Collected()
    for number, record in records:
        is_point = _is_point(dialect, record)
        if is_point:
            found.steps.append(to_step(record[dialect.step]) or 0)
            found.losses.append(float(record[dialect.loss]))
            found.lines.append(number)
            found.epochs.append(to_float(record.get("epoch")) or 0.0)
            found.seconds.append(to_float(record.get(dialect.seconds)))
            found.norms.append(to_float(record.get("grad_norm")))
            found.last = record
            check_count(len(found.lines))
        if not is_point or dialect.unit == "epoch":
            _evaluate(record, found.evaluation)
    return found


def json_records(
    source: Source, warnings: list[ReadingWarning]
) -> Iterator[tuple[int, Record]]:
    """(line, object) of every line that is one; at the end warnings name the lines that are none.
    """
    count = first = last = 0
    broken = (0, "")
    for number, text in source.lines():
        if not text.strip():
            continue
        last, record = number, _parse(text)
        if record is not None:
            yield number, record
            continue
        if broken[0]:
            count, first = count + 1, first or broken[0]
        broken = (number, text)
    if broken[0] == last:
        warnings.append(truncated(*broken))
    elif broken[0]:
        count, first = count + 1, first or broken[0]
    if count:
        message = f"{count} lines are not JSON and were left out."
        warnings.append(ReadingWarning("damaged_lines", message, first))


def _counted_on(found: Collected) -> tuple[array[int], bool]:
    """Global steps of mmcv, which counts iterations from 1 in every epoch and does not print how
    many there are; whether they are assumed."""
    steps, offset = array("q"), 0
    is_assumed = len(found.epochs) > 0 and found.epochs[0] > 1
    for index, step in enumerate(found.steps):
        later_epoch = index and found.epochs[index] > found.epochs[index - 1]
        if later_epoch and step <= found.steps[index - 1]:
            offset += found.steps[index - 1]
            is_assumed = True
        steps.append(step + offset)
    return steps, is_assumed


def _extras(dialect: Dialect, found: Collected, selected: Sequence[int]) -> dict[str, Any]:
    return {
        "total_steps": found.last.get(dialect.total) if dialect.total else None,
        "iteration_time_ms": time_values(1000 * one for one in found.seconds.keep(selected).known),
        "evaluation": found.evaluation or None,
    }


def _evaluate(record: Record, found: dict[str, dict[str, float]]) -> None:
    """Last and best of every accuracy-like number, last of every evaluation loss."""
    for key, raw in record.items():
        value = to_float(raw)
        if value is None or (key not in found and len(found) >= MOST_NAMES):
            continue
        if key.startswith("test_acc") or "accuracy" in key or key.endswith(("AP", "mAP")):
            found[key] = {"last": value, "max": max(value, found.get(key, {}).get("max", value))}
        elif key in ("eval_loss", "test_loss", "val_loss"):
            found[key] = {"last": value}
