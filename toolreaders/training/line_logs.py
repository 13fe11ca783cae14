"""Training logs of one record per line: the common loop, and pytorch/examples.

imagenet (most ModelZoo-PyTorch logs) and mnist, torchvision's and DeiT's MetricLogger, timm, Swin.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from toolreaders.base import Sample, Source, register
from toolreaders.columns import Column, at_indices, mean
from toolreaders.figures import AMOUNT, NUMBER
from toolreaders.source import ReadingWarning
from toolreaders.training.grad_norms import GRAD_NORM, GradientNorms, explained_by_log
from toolreaders.training.line_prefixes import label_of, plain_text, without_prefix
from toolreaders.training.run_selection import Labels, select
from toolreaders.training.series import (
    LossSeries,
    Meaning,
    StepUnit,
    TrainingLogReader,
    assemble,
    base_of,
    check_count,
    time_values,
    to_float,
    truncated,
)

SAMPLES = ReadingWarning(
    "steps_are_samples", "The log counts samples, not steps: positions are samples seen."
)
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
    ranks: Labels = field(default_factory=Labels)
    warnings: list[ReadingWarning] = field(default_factory=list)
    facts: dict[str, Facts] = field(default_factory=dict)
    spans: dict[str, tuple[int, int]] = field(default_factory=dict)

    def facts_of(self, rank: str) -> Facts:
        """What is known of the rank's run; at first what was printed before any rank's record, and
        nothing of records without a rank: these are another run's."""
        if rank not in self.facts:
            self.facts[rank] = {} if "" in self.spans else deepcopy(self.facts.get("", {}))
        return self.facts[rank]

    def begins_again(self, rank: str, step: int) -> bool:
        """Whether the rank is back at the first step of its run or before it."""
        first, last = self.spans.get(rank, (step, step))
        return step <= first < last

    def forget(self, rank: str) -> Facts:
        """What is known of a run that begins: what had to be told of the file."""
        self.spans.pop(rank, None)
        self.facts[rank] = {"warnings": self.facts[rank].get("warnings", [])}
        return self.facts[rank]

    def add(self, point: Point, number: int, rank: str) -> None:
        """Append a record found on the line ``number``."""
        if point.is_again and self.ranks.last == rank:
            self.drop_last()
        self.steps.append(point.step)
        self.losses.append(point.loss)
        self.milliseconds.append(point.milliseconds)
        self.speeds.append(point.samples_per_second)
        self.norms.append(point.grad_norm)
        self.lines.append(number)
        self.ranks.append(rank)
        self.spans[rank] = (self.spans.get(rank, (point.step, 0))[0], point.step)
        check_count(len(self.steps))

    def drop_last(self) -> None:
        """Take the last record back."""
        for column in (self.steps, self.losses, self.milliseconds, self.speeds, self.norms,
                       self.lines, self.ranks):  # fmt: skip
            column.pop()


class LineLogReader(TrainingLogReader):
    """``pattern`` finds a record and has the groups ``step`` and ``loss``; what else a line tells
    is found by the patterns below, each with one group. ``mark`` stands in every record: lines
    without it are not searched."""

    pattern: re.Pattern[str]
    mark = "oss"  # of loss, Loss and LOSS
    seconds: re.Pattern[str] | None = None
    milliseconds: re.Pattern[str] | None = None
    speed: re.Pattern[str] | None = None
    norm: re.Pattern[str] | None = GRAD_NORM
    meaning: Meaning = "point"
    step_base = 1
    is_console = True
    step_unit: StepUnit = "step"
    confidence = 80

    def recognises(self, sample: Sample) -> int:
        if not self.is_likely(sample.text):
            return 0
        texts = {sample.text, plain_text(sample.text)}  # mostly the same
        found = any(map(self.pattern.search, texts)) and not sample.is_broken_json
        return self.confidence if found else 0

    def is_likely(self, text: str) -> bool:
        """Whether the text may hold a record."""
        return self.mark in text or self.mark.upper() in text

    def point(self, found: re.Match[str], line: str, facts: Facts) -> Point | None:
        """The record of a line; None where it has no loss. ``facts`` are of its rank and run."""
        loss, step = to_float(found["loss"]), self.step(found, line, facts)
        if loss is None:
            return None
        return Point(
            step,
            loss,
            self._milliseconds(line),
            _number_at(self.speed, line),
            self.grad_norm(line),
        )

    def step(self, found: re.Match[str], line: str, facts: Facts) -> int:
        """The global step of a record."""
        return int(found["step"])

    def _milliseconds(self, line: str) -> float | None:
        seconds = _number_at(self.seconds, line)
        return _number_at(self.milliseconds, line) if seconds is None else 1000 * seconds

    def grad_norm(self, line: str) -> float | None:
        """The gradient norm of a record."""
        return _number_at(self.norm, line) if "orm" in line else None

    def other(self, number: int, line: str, facts: Facts) -> None:
        """Called for lines that are no record."""

    def extras(self, facts: Facts) -> dict[str, Any]:
        """Further values after the pass."""
        return {}

    def series(self, source: Source) -> LossSeries:
        found = self.collect(source)
        is_bare = any(facts.get("is_bare") for facts in found.facts.values())
        chosen = select(found.steps, found.losses, found.ranks, is_global=not is_bare)
        selected, facts = chosen.selected, found.facts_of(chosen.rank)
        steps = at_indices(found.steps, selected)
        extras = {**_common_extras(found, selected), **self.extras(facts)}
        return assemble(
            steps,
            at_indices(found.losses, selected),
            meaning=facts.get("meaning", self.meaning),
            step_base=base_of(steps, facts.get("step_base", self.step_base)),
            line_of=lambda index: found.lines[selected[index]],
            warnings=found.warnings + chosen.warnings + facts.get("warnings", []),
            tool=facts.get("tool", self.tool),
            step_unit=facts.get("step_unit", self.step_unit),
            unprovable=chosen.unprovable or facts.get("unprovable"),
            runs=chosen.runs,
            resumed=chosen.resumed,
            norms=_norms(source, found, selected),
            extras=extras,
        )

    def collect(self, source: Source) -> Collected:
        """One pass over the file; a second one where the labels of its lines are no ranks."""
        found = self._collected(source, label_of)
        if len(found.ranks.names) > 1 and not found.ranks.are_trusted:
            return self._collected(source, lambda _line: "")
        return found

    def _collected(self, source: Source, label: Callable[[str], str]) -> Collected:
        found = Collected()
        last: tuple[int, str, re.Match[str] | None] = (1, "", None)
        for number, line in source.lines():
            is_likely = self.is_likely(line)
            match = self.pattern.search(line) if is_likely else None
            own = line if match else without_prefix(line)
            if is_likely and match is None and own != line:
                match = self.pattern.search(own)
            last = (number, own, match) if line.strip() else last
            if match is None:
                self.other(number, own, found.facts_of(found.ranks.last or ""))
            else:
                self._take(match, own, number, label(line), found)
        self._drop_cut_record(source, found, last)
        return found

    def _take(
        self, match: re.Match[str], line: str, number: int, rank: str, found: Collected
    ) -> None:
        """Add the record of a line; what is known of a run is forgotten when another begins."""
        facts = found.facts_of(rank)
        point = self.point(match, line, facts)
        if point is not None and found.begins_again(rank, point.step):
            facts = found.forget(rank)
            point = self.point(match, line, facts)
        if point is not None:
            found.add(point, number, rank)

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


def _common_extras(found: Collected, selected: Sequence[int]) -> dict[str, Any]:
    speeds = found.speeds.keep(selected).known
    return {
        "iteration_time_ms": time_values(found.milliseconds.keep(selected).known),
        "throughput": {"samples_per_second": mean(speeds)} if speeds else None,
    }


def _norms(source: Source, found: Collected, selected: Sequence[int]) -> GradientNorms | None:
    lines = at_indices(found.lines, selected)
    return GradientNorms.of(found.norms.keep(selected), lambda: explained_by_log(source, lines))


def doubt_steps(facts: Facts) -> None:
    """Note that the step numbers are assumed: the log does not prove them."""
    facts["unprovable"] = "steps_unproven"


def warn(facts: Facts, warning: ReadingWarning) -> None:
    """Tell something about the file, once."""
    listed_warnings = facts.setdefault("warnings", [])
    if all(known.code != warning.code for known in listed_warnings):
        listed_warnings.append(warning)


def _number_at(pattern: re.Pattern[str] | None, line: str) -> float | None:
    found = pattern.search(line) if pattern else None
    return to_float(next(filter(None, found.groups()), None)) if found else None


def first_number(pattern: str, line: str) -> float | None:
    """The number in group 1 of ``pattern``, None where it is absent."""
    return _number_at(re.compile(pattern), line)


def epoch_base(epoch: int, facts: Facts) -> int:
    """Number of the tool's first epoch, 0 or 1; assumed where the log begins with a later one."""
    if "first_epoch" not in facts and epoch > 1:
        doubt_steps(facts)
    return facts.setdefault("first_epoch", 1 if epoch == 1 else 0)


@register
class ImageNetReader(LineLogReader):
    """``Epoch: [e][ i/n] … Loss v (avg)`` and its relatives; step = e·n + i, value before ()."""

    name = "imagenet_style_log"
    version = "5"
    tool = "pytorch/examples imagenet"
    step_base = 0
    pattern = re.compile(
        r"(?:Epoch:? ?|Train: +)\[? ?(?P<epoch>\d+)(?:/\d+)?(?: \(\s*\d+%\))?\]?\s*"
        r"\[\s*(?P<step>\d+)/\s*(?P<count>\d+)"
        rf"[^\]]{{0,40}}\].{{0,400}}?\b[Ll]oss:? +(?P<loss>{NUMBER})\s*\(\s*{NUMBER}"
    )
    seconds = re.compile(
        r"\bBatch time: +([\d.]+)(?=[\s(])"
        rf"|(?<![Dd]ata )(?<![Ff]orward )(?<!_)\b[Tt]ime:? +({AMOUNT})"
    )
    accuracy = re.compile(rf"^\s*\*\s+(?:Prec|Acc)@1:? ({NUMBER})")
    rate = re.compile(rf"\* FPS@all ({NUMBER})")

    def step(self, found: re.Match[str], line: str, facts: Facts) -> int:
        epoch = int(found["epoch"])
        base = epoch_base(epoch, facts)
        if "eta:" in line:
            facts["meaning"] = "smoothed"
        if "%)]" in found[0] and not found[0].startswith("Train: "):  # timm counts batches
            facts["step_unit"] = "sample"
            facts["warnings"] = [SAMPLES]
        return (epoch - base) * int(found["count"]) + int(found["step"])

    def other(self, number: int, line: str, facts: Facts) -> None:
        if found := self.accuracy.match(line):
            facts.setdefault("acc1", []).append(float(found[1]))
        elif "FPS@all" in line and (found := self.rate.search(line)):
            facts["rate"] = float(found[1])  # the mean of the epoch, over all cards

    def extras(self, facts: Facts) -> dict[str, Any]:
        values, acc1 = {}, facts.get("acc1")
        if acc1:
            acc1 = {"last": acc1[-1], "max": max(acc1), "count": len(acc1)}
            values["evaluation"] = {"acc1": acc1}
        if "rate" in facts:
            values["throughput"] = {"samples_per_second": facts["rate"]}
        return values


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
