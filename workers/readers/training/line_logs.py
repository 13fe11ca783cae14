"""Training logs of one record per line: the common loop, and pytorch/examples.

imagenet (most ModelZoo-PyTorch logs) and mnist, torchvision's and DeiT's MetricLogger, timm, Swin.
"""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workers.readers.base import Sample, Source, register
from workers.readers.columns import Column, as_array, kept_of
from workers.readers.figures import AMOUNT, NUMBER
from workers.readers.source import ReadingWarning
from workers.readers.training.series import (
    LossSeries,
    Meaning,
    StepUnit,
    TrainingLogReader,
    assemble,
    check_count,
    records_of_one_rank,
    statistic_values,
    time_values,
    to_float,
    truncated,
)

RANK = re.compile(
    r"\[(?:gpu|npu|device) id:\s*(\d+)\s*\]|^\s*\[(?:default|rank)\s?(\d+)\]|^(\d+): "
)
SAMPLES = ReadingWarning(
    "steps_are_samples", "The log counts samples, not steps: positions are samples seen."
)
TRACEBACK = "Traceback (most recent call last)"
Facts = dict[str, Any]


@dataclass
class Point:
    """One record: global step, loss and what else the line says (ms, samples/s).

    ``is_again``: it is printed anew and replaces the record before it.
    """

    step: int
    loss: float
    milliseconds: float | None = None
    samples_per_second: float | None = None
    grad_norm: float | None = None
    is_again: bool = False


def _integers() -> array[int]:
    return array("q")


@dataclass
class Collected:
    """Everything one pass over the lines found; in columns."""

    steps: array[int] = field(default_factory=_integers)
    losses: array[float] = field(default_factory=lambda: array("d"))
    milliseconds: Column = field(default_factory=Column)
    speeds: Column = field(default_factory=Column)
    norms: Column = field(default_factory=Column)
    lines: array[int] = field(default_factory=_integers)
    ranks: array[int] = field(default_factory=_integers)
    warnings: list[ReadingWarning] = field(default_factory=list)
    facts: Facts = field(default_factory=dict)

    def _columns(self) -> tuple[array[Any] | Column, ...]:
        return (self.steps, self.losses, self.milliseconds, self.speeds, self.norms,
                self.lines, self.ranks)  # fmt: skip

    def add(self, point: Point, number: int, rank: int) -> None:
        """Append a record found on the line ``number``."""
        if point.is_again:
            self.drop_last()
        row = (point.step, point.loss, point.milliseconds, point.samples_per_second,
               point.grad_norm, number, rank)  # fmt: skip
        for column, value in zip(self._columns(), row, strict=True):
            column.append(value)
        check_count(len(self.steps))

    def drop_last(self) -> None:
        """Take the last record back."""
        for column in self._columns():
            column.pop()


class LineLogReader(TrainingLogReader):
    """``pattern`` finds a record and has the groups ``step`` and ``loss``; what else a line tells
    is found by the patterns below, each with one group."""

    pattern: re.Pattern[str]
    seconds: re.Pattern[str] | None = None
    milliseconds: re.Pattern[str] | None = None
    speed: re.Pattern[str] | None = None
    norm: re.Pattern[str] | None = None
    meaning: Meaning = "point"
    step_base = 1
    step_unit: StepUnit = "step"
    confidence = 80

    def recognises(self, sample: Sample) -> int:
        found = self.pattern.search(sample.text) and not sample.is_broken_json
        return self.confidence if found else 0

    def point(self, found: re.Match[str], line: str, facts: Facts) -> Point | None:
        """The record of a line; None where it has no loss. ``facts`` lives for the file."""
        loss, step = to_float(found["loss"]), self.step(found, line, facts)
        if loss is None:
            return None
        return Point(
            step,
            loss,
            self._milliseconds(line),
            _number_at(self.speed, line),
            _number_at(self.norm, line),
        )

    def step(self, found: re.Match[str], line: str, facts: Facts) -> int:
        """The global step of a record."""
        return int(found["step"])

    def _milliseconds(self, line: str) -> float | None:
        seconds = _number_at(self.seconds, line)
        return _number_at(self.milliseconds, line) if seconds is None else 1000 * seconds

    def other(self, number: int, line: str, facts: Facts) -> None:
        """Called for lines that are no record."""

    def extras(self, facts: Facts) -> dict[str, Any]:
        """Further values after the pass."""
        return {}

    def series(self, source: Source) -> LossSeries:
        found = self._collect(source)
        kept, warnings = records_of_one_rank(as_array(found.ranks))
        steps = kept_of(as_array(found.steps), kept)
        return assemble(
            steps,
            kept_of(as_array(found.losses), kept),
            meaning=found.facts.get("meaning", self.meaning),
            step_base=0 if len(steps) and steps[0] == 0 else self.step_base,
            line_of=lambda index: found.lines[int(kept[index])],
            warnings=found.warnings + warnings + found.facts.get("warnings", []),
            tool=found.facts.get("tool", self.tool),
            step_unit=found.facts.get("step_unit", self.step_unit),
            extras={**_common_extras(found, kept), **self.extras(found.facts)},
        )

    def _collect(self, source: Source) -> Collected:
        found = Collected()
        last: tuple[int, str, re.Match[str] | None] = (1, "", None)
        for number, line in source.lines():
            match = self.pattern.search(line)
            last = (number, line, match) if line.strip() else last
            if match is None:
                self.other(number, line, found.facts)
                if TRACEBACK in line and "traceback" not in found.facts:
                    found.facts["traceback"] = number
                continue
            point = self.point(match, line, found.facts)
            if point is not None:
                found.add(point, number, _rank(line))
        self._drop_cut_record(source, found, last)
        if line := found.facts.get("traceback"):
            message = "A program stopped with a Python traceback."
            found.warnings.append(ReadingWarning("traceback", message, line))
        return found

    def _drop_cut_record(
        self, source: Source, found: Collected, last: tuple[int, str, re.Match[str] | None]
    ) -> None:
        """A loss that touches the end of a file without line end may lack digits."""
        number, line, match = last
        if match is None or match.end("loss") < len(line.rstrip()) or source.ends_with_newline():
            return
        if found.lines and found.lines[-1] == number:
            found.drop_last()
            found.warnings.append(truncated(number, line))


def _rank(line: str) -> int:
    found = RANK.search(line[:80])
    return int(next(group for group in found.groups() if group)) if found else -1


def _common_extras(found: Collected, kept: np.ndarray) -> dict[str, Any]:
    speeds = found.speeds.keep(kept).known
    return {
        "iteration_time_ms": time_values(found.milliseconds.keep(kept).known),
        "throughput": {"samples_per_second": float(speeds.mean())} if len(speeds) else None,
        "grad_norm": statistic_values(found.norms.keep(kept).known),
    }


def warn(facts: Facts, warning: ReadingWarning) -> None:
    """Tell something about the file, once."""
    listed_warnings = facts.setdefault("warnings", [])
    if all(known.code != warning.code for known in listed_warnings):
        listed_warnings.append(warning)


def _number_at(pattern: re.Pattern[str] | None, line: str) -> float | None:
    found = pattern.search(line) if pattern else None
    return to_float(found[1]) if found else None


def first_number(pattern: str, line: str) -> float | None:
    """The number in group 1 of ``pattern``, None where it is absent."""
    return _number_at(re.compile(pattern), line)


@register
class ImageNetReader(LineLogReader):
    """``Epoch: [e][ i/n] … Loss v (avg)`` and its relatives; step = e·n + i, value before ()."""

    name = "imagenet_style_log"
    version = "2"
    tool = "pytorch/examples imagenet"
    step_base = 0
    pattern = re.compile(
        r"(?:Epoch:? ?|Train: )\[? ?(?P<epoch>\d+)(?:/\d+)?\]?\s*"
        r"\[\s*(?P<step>\d+)/\s*(?P<count>\d+)"
        rf"[^\]]{{0,40}}\].{{0,400}}?\b[Ll]oss:? +(?P<loss>{NUMBER})\s*\(\s*{NUMBER}"
    )
    seconds = re.compile(rf"\b[Tt]ime:? +({AMOUNT})")
    accuracy = re.compile(rf"^\s*\*\s+(?:Prec|Acc)@1:? ({NUMBER})")

    def step(self, found: re.Match[str], line: str, facts: Facts) -> int:
        epoch = int(found["epoch"])
        base = facts.setdefault("first_epoch", 1 if epoch == 1 else 0)
        if "eta:" in line:
            facts["meaning"] = "smoothed"
        if "%)]" in found[0] and not found[0].startswith("Train: "):  # timm counts batches
            facts["step_unit"] = "sample"
            facts["warnings"] = [SAMPLES]
        return (epoch - base) * int(found["count"]) + int(found["step"])

    def other(self, number: int, line: str, facts: Facts) -> None:
        if found := self.accuracy.match(line):
            facts.setdefault("acc1", []).append(float(found[1]))

    def extras(self, facts: Facts) -> dict[str, Any]:
        acc1 = facts.get("acc1")
        if not acc1:
            return {}
        return {"evaluation": {"acc1": {"last": acc1[-1], "max": max(acc1), "count": len(acc1)}}}


@register
class MnistReader(LineLogReader):
    """``Train Epoch: e [samples/total (p%)]  Loss: v``; the bracket counts samples."""

    name = "mnist_style_log"
    tool = "pytorch/examples mnist"
    step_base = 0
    step_unit = "sample"
    pattern = re.compile(
        rf"Train Epoch: (?P<epoch>\d+) \[(?P<seen>\d+)/(?P<total>\d+) \(\s*\d+%\)\]\s+"
        rf"Loss: (?P<loss>{NUMBER})"
    )
    test = re.compile(rf"Test set: Average loss: ({NUMBER}), Accuracy: (\d+)/(\d+)")

    def step(self, found: re.Match[str], line: str, facts: Facts) -> int:
        facts["warnings"] = [SAMPLES]
        return (int(found["epoch"]) - 1) * int(found["total"]) + int(found["seen"])

    def other(self, number: int, line: str, facts: Facts) -> None:
        if found := self.test.search(line):
            accuracy = 100 * int(found[2]) / int(found[3])
            facts.setdefault("tests", []).append((float(found[1]), accuracy))

    def extras(self, facts: Facts) -> dict[str, Any]:
        tests = facts.get("tests")
        if not tests:
            return {}
        best = max(accuracy for _loss, accuracy in tests)
        loss, accuracy = tests[-1]
        return {"evaluation": {"test_loss": loss, "accuracy": {"last": accuracy, "max": best}}}
