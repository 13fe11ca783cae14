"""Training logs of one record per line: the common loop, and pytorch/examples.

imagenet (most ModelZoo-PyTorch logs) and mnist, torchvision's and DeiT's MetricLogger, timm, Swin.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workers.readers.base import Sample, Source, register
from workers.readers.series import (
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
from workers.readers.source import ReadingWarning

RANK = re.compile(
    r"\[(?:gpu|npu|device) id:\s*(\d+)\s*\]|^\s*\[(?:default|rank)\s?(\d+)\]|^(\d+): "
)
NUMBER = r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|nan|NaN|inf|Inf)"
SAMPLES = ReadingWarning(
    "steps_are_samples", "The log counts samples, not steps: positions are samples seen."
)
TRACEBACK = "Traceback (most recent call last)"


@dataclass
class Point:
    """One record: global step, loss and what else the line says (ms, samples/s)."""

    step: int
    loss: float
    milliseconds: float | None = None
    samples_per_second: float | None = None
    grad_norm: float | None = None


@dataclass
class Collected:
    """Everything one pass over the lines found."""

    points: list[Point] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)
    warnings: list[ReadingWarning] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)


class LineLogReader(TrainingLogReader):
    """``pattern`` finds a record and has a group ``loss``; ``point`` makes a Point of it."""

    pattern: re.Pattern[str]
    meaning: Meaning = "point"
    step_base = 1
    step_unit: StepUnit = "step"
    confidence = 80

    def recognises(self, sample: Sample) -> int:
        found = self.pattern.search(sample.text) and not sample.is_broken_json
        return self.confidence if found else 0

    def point(self, found: re.Match[str], line: str, facts: dict[str, Any]) -> Point | None:
        """The record of a line; None where it has no loss. ``facts`` lives for the file."""
        raise NotImplementedError

    def other(self, number: int, line: str, facts: dict[str, Any]) -> None:
        """Called for lines that are no record."""

    def extras(self, facts: dict[str, Any]) -> dict[str, Any]:
        """Further values after the pass."""
        return {}

    def series(self, source: Source) -> LossSeries:
        found = self._collect(source)
        kept, warnings = records_of_one_rank(np.array(found.ranks, dtype=np.int64))
        points = [found.points[index] for index in kept]
        return assemble(
            [point.step for point in points],
            [point.loss for point in points],
            meaning=found.facts.get("meaning", self.meaning),
            step_base=0 if points and points[0].step == 0 else self.step_base,
            line_of=lambda index: found.lines[int(kept[index])],
            warnings=found.warnings + warnings + found.facts.get("warnings", []),
            tool=found.facts.get("tool", self.tool),
            step_unit=found.facts.get("step_unit", self.step_unit),
            extras={**_common_extras(points), **self.extras(found.facts)},
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
                found.points.append(point)
                found.lines.append(number)
                found.ranks.append(_rank(line))
                check_count(len(found.ranks))
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
            del found.points[-1], found.lines[-1], found.ranks[-1]
            found.warnings.append(truncated(number, line))


def _rank(line: str) -> int:
    found = RANK.search(line[:80])
    return int(next(group for group in found.groups() if group)) if found else -1


def _common_extras(points: list[Point]) -> dict[str, Any]:
    speeds = [p.samples_per_second for p in points if p.samples_per_second is not None]
    norms = [point.grad_norm for point in points if point.grad_norm is not None]
    times = [point.milliseconds for point in points if point.milliseconds is not None]
    return {
        "iteration_time_ms": time_values(times),
        "throughput": {"samples_per_second": sum(speeds) / len(speeds)} if speeds else None,
        "grad_norm": statistic_values(norms),
    }


def first_number(pattern: str, line: str) -> float | None:
    """The number in group 1 of ``pattern``, None where it is absent."""
    found = re.search(pattern, line)
    return to_float(found[1]) if found else None


@register
class ImageNetReader(LineLogReader):
    """``Epoch: [e][ i/n] … Loss v (avg)`` and its relatives; step = e·n + i, value before ()."""

    name = "imagenet_style_log"
    tool = "pytorch/examples imagenet"
    step_base = 0
    pattern = re.compile(
        r"(?:Epoch:? ?|Train: )\[? ?(?P<epoch>\d+)(?:/\d+)?\]?\s*"
        r"\[\s*(?P<step>\d+)/\s*(?P<count>\d+)"
        rf"[^\]]{{0,40}}\].{{0,400}}?\b[Ll]oss:? +(?P<loss>{NUMBER})\s*\(\s*{NUMBER}"
    )
    accuracy = re.compile(r"^\s*\*\s+(?:Prec|Acc)@1:? ([\d.]+)(?:\s+(?:Prec|Acc)@5:? ([\d.]+))?")

    def point(self, found: re.Match[str], line: str, facts: dict[str, Any]) -> Point | None:
        epoch, loss = int(found["epoch"]), to_float(found["loss"])
        base = facts.setdefault("first_epoch", 1 if epoch == 1 else 0)
        if "eta:" in line:
            facts["meaning"] = "smoothed"
        if "%)]" in found[0]:
            facts["step_unit"] = "sample"
            facts["warnings"] = [SAMPLES]
        seconds = first_number(r"\b[Tt]ime:? +([\d.]+)", line)
        step = (epoch - base) * int(found["count"]) + int(found["step"])
        if loss is None:
            return None
        return Point(step, loss, None if seconds is None else 1000 * seconds)

    def other(self, number: int, line: str, facts: dict[str, Any]) -> None:
        if found := self.accuracy.match(line):
            facts.setdefault("acc1", []).append(float(found[1]))

    def extras(self, facts: dict[str, Any]) -> dict[str, Any]:
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
    test = re.compile(r"Test set: Average loss: ([\d.]+), Accuracy: (\d+)/(\d+)")

    def point(self, found: re.Match[str], line: str, facts: dict[str, Any]) -> Point | None:
        step = (int(found["epoch"]) - 1) * int(found["total"]) + int(found["seen"])
        facts["warnings"] = [SAMPLES]
        loss = to_float(found["loss"])
        return None if loss is None else Point(step, loss)

    def other(self, number: int, line: str, facts: dict[str, Any]) -> None:
        if found := self.test.search(line):
            accuracy = 100 * int(found[2]) / int(found[3])
            facts.setdefault("tests", []).append((float(found[1]), accuracy))

    def extras(self, facts: dict[str, Any]) -> dict[str, Any]:
        tests = facts.get("tests")
        if not tests:
            return {}
        best = max(accuracy for _loss, accuracy in tests)
        loss, accuracy = tests[-1]
        return {"evaluation": {"test_loss": loss, "accuracy": {"last": accuracy, "max": best}}}
