"""Training logs in nobody's format: a step and a loss on one line.

TensorFlow 1 scripts of ModelZoo-TF (``total_step 20, total loss is X``, ``step N, total loss = X``,
``epoch 1  step 3  loss X``), tf.estimator (``loss = X, step = N``), MindSpore LossMonitor
(``epoch: 1 step: 10, loss is X``), DeepSpeed, NeMo's progress bar (``reduced_train_loss=X,
global_step=N``) and scripts that print alike. Asked last.
"""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass
from typing import Any

from toolreaders.base import Sample, register
from toolreaders.figures import AMOUNT, NUMBER
from toolreaders.source import ReadingWarning
from toolreaders.training.line_logs import (
    Facts,
    LineLogReader,
    Point,
    doubt_steps,
    warn,
)
from toolreaders.training.series import time_values, to_float

EVALUATION = re.compile(
    r"\b(?:val|valid|validation|eval|test)(?:\b|_)|Saving dict for global step", re.IGNORECASE
)
"""Also what tf.estimator writes after an evaluation."""
MAX_LINE = 600
GLOBAL = re.compile(r"\b(?:global|total)[_ ]step", re.IGNORECASE)
PER_STEP = re.compile(r"(?<!\w)(per )?step time: ([\d.]+) ?ms")
"""On a line of its own: MindSpore's ``per step time``, MindYOLO's ``step time``."""
EPOCH_STEPS = re.compile(r"\bsteps: (?P<count>\d+), per step time: (?P<time>[\d.]+)(?: ?ms)?,")
"""MindSpore's scripts print an epoch in one line: how many steps it has, and the ms of one."""
AVERAGE = re.compile(r"\b(?:avg|aver|average|mean)[ _-]loss\b", re.IGNORECASE)
"""MindSpore's scripts name the mean of an epoch so."""
CURRENT = re.compile(rf"\bcur(?:rent)?[ _-]loss[\s:=]*({NUMBER})", re.IGNORECASE)
"""Beside that mean: the loss of the step itself."""
EPOCH_TIME = re.compile(r"epoch time: ([\d.]+) ?ms, *per step time: ([\d.]+) ?ms")
SINCE_LAST = re.compile(r"\(([\d.]+) sec\)")
A_STEP = re.compile(
    r"(?<![A-Za-z_])(?:([\d.]+) ?(?:sec|s)/(?:step|batch|iter)\b"
    r"|(?:iter time \(s\)|batch_cost): *([\d.]+))"
)
MILLISECONDS = re.compile(
    r"(?<![A-Za-z_] )(?<![A-Za-z_])(?:step|per[ _]step|iter)[ _]time:? *([\d.]+) ?ms"
)
RATE = re.compile(
    rf"(?:(?:samples|examples|images|imgs)/s(?:ec)?:|\b(?:FPS|fps)[:=]) *({AMOUNT})")
AMOUNT_FIRST = re.compile(r"([\d.]+) ?(?:samples|examples|images|imgs)/s")
DEFINITE = re.compile(
    rf"\bepoch: \d+ step: \d+, loss is {NUMBER}"  # MindSpore's LossMonitor
    r"|(?:^\W{0,2}|\]\s|\s-\s)"
    r"(?:global[_ ])?(?:step|iteration|iter)[\s:=#\[(]{1,3}\d+(?:/\d+)?[\]),:|\s-]{1,4}"
    rf"(?:train[_ ])?loss[\s:=]{{1,3}}{NUMBER}(?![\w.])", re.IGNORECASE)
"""A record that nothing else looks like: one is enough, as a smoke run prints."""
CLOSE = 0.2  # of a step, that the length of an epoch may be off a whole number
EPOCH = re.compile(r"\b(?:epoch|pass)[ :=#\[]*(\d+)", re.IGNORECASE)


@register
class TextLogReader(LineLogReader):
    """Any line with a step and a loss: at least three of them, or one that is definite."""

    name = "text_training_log"
    version = "6"
    tool = None
    confidence = most_confidence = 15
    pattern = re.compile(
        r"(?:\b(?:(?:total|global|train)?[_ ]?(?:step|iteration|iter)s?(?![A-Za-z_])|"
        r"batch(?= +\d+ \||:? ?\d+, loss))[\s:=#\[(-]*"
        r"(?P<step>\d+)(?!\d*%)(?:\s*/\s*(?P<count>\d+))?[^\n]{0,240}?"
        r"(?<![A-Za-z]-)\b(?:total|train|training|lm|batch|step)?[-_ ]?loss\b['\"]?(?: is)?"
        r"[\s:=\[|]*"
        r"(?:\(?Tensor\([^()]{0,80}value= ?)?"
        rf"|\b(?:reduced_train_)?loss ?= ?(?={NUMBER}, (?:global_)?step ?= ?(?P<later>\d+)))"
        rf"(?P<loss>{NUMBER})(?![A-Za-z])",
        re.IGNORECASE,
    )

    def recognises(self, sample: Sample) -> int:
        found = 0
        if sample.is_broken_json:
            return 0
        for line in sample.lines:
            if len(line) > MAX_LINE or line.startswith(("|", "- ", "* ", "#")):
                continue
            record = self.pattern.search(line)
            if record and not EVALUATION.search(line[: record.start("loss")]):
                found += 1
                if found == 3 or DEFINITE.search(line):
                    return self.confidence
        return 0

    def point(self, found: re.Match[str], line: str, facts: Facts) -> Point | None:
        if len(line) > MAX_LINE or EVALUATION.search(line[: found.start("loss")]):
            return None
        count = int(found["count"]) if found["count"] else None
        printed, is_global = int(found["step"] or found["later"]), found["later"] is not None
        of_epoch = EPOCH_STEPS.search(line) if "per step time" in line else None
        if of_epoch:
            facts["tool"], count = "MindSpore", int(of_epoch["count"])
        step = _global_step(printed, count, line, facts, is_global=is_global)
        milliseconds = float(of_epoch["time"]) if of_epoch else _milliseconds(line)
        if found["later"] and (since := SINCE_LAST.search(line)):
            milliseconds = _of_interval(1000 * float(since[1]), step, facts)
        facts["last_step"] = step
        current = None
        if AVERAGE.search(line) and not (current := CURRENT.search(line)):
            facts["meaning"] = "window_mean"
        if "reduced_train_loss" in line:
            facts["step_base"] = 0  # NeMo
        return Point(
            step, float(current[1] if current else found["loss"]), milliseconds,
            _samples_per_second(line),
            self.grad_norm(line))  # fmt: skip

    def other(self, number: int, line: str, facts: Facts) -> None:
        if found := PER_STEP.search(line):
            if found[1]:
                facts["tool"] = "MindSpore"
            facts.setdefault("per_step", array("d")).append(float(found[2]))
        if found := EPOCH_TIME.search(line):
            facts["epoch_length"] = _whole(float(found[1]), float(found[2]))

    def extras(self, facts: Facts) -> dict[str, Any]:
        times = time_values(facts.get("per_step", []))
        return {"iteration_time_ms": times} if times else {}


def _whole(epoch: float, step: float) -> int | None:
    """Steps of an epoch by its time and that of a step, None where they are no whole number."""
    length = epoch / step if step else 0.0
    return round(length) if length >= 1 and abs(length - round(length)) < CLOSE else None


def _of_interval(milliseconds: float, step: int, facts: Facts) -> float | None:
    """Time of one step of those since the last record, None where that is not known."""
    steps = step - facts.get("last_step", step)
    return milliseconds / steps if steps > 0 else None


def _milliseconds(line: str) -> float | None:
    if "time" not in line and "/" not in line and "batch_cost" not in line:
        return None
    if found := A_STEP.search(line):
        return 1000 * float(found[1] or found[2])
    found = MILLISECONDS.search(line)
    return float(found[1]) if found else None


def _samples_per_second(line: str) -> float | None:
    if "s/s" not in line and "FPS" not in line and "fps" not in line:
        return None
    found = RATE.search(line) or AMOUNT_FIRST.search(line)
    return to_float(found[1]) if found else None


def _global_step(
    step: int, count: int | None, line: str, facts: Facts, *, is_global: bool
) -> int:
    found = EPOCH.search(line)
    if is_global or GLOBAL.search(line):
        return step
    if found is None:
        facts["is_bare"] = True
    return counted_on(step, int(found[1]) if found else None, count, facts)


@dataclass
class EpochCounter:
    """Counts on steps that start again in every epoch; ``offset`` is what stands before them."""

    epoch: int | None = None
    step: int = -1
    offset: int = 0
    begins_late: bool = False
    restarts: bool = False

    def take(self, step: int, epoch: int, length: int | None) -> bool:
        """The next record; whether what it assumes is proven by the log."""
        before, self.begins_late = self.epoch, self.begins_late or (
            self.epoch is None and epoch > 1
        )
        is_next = before is not None and epoch > before
        if before is not None and epoch < before:  # a new run
            self.offset, self.restarts, self.begins_late = 0, False, epoch > 1
        elif is_next and step <= self.step:
            self.restarts = True
            self.offset += length * (epoch - before) if length else self.step + (step == 0)
        elif is_next and not self.restarts:
            self.begins_late = False  # they count over the epochs
        is_assumed = is_next and step <= self.step and not length
        self.epoch, self.step = epoch, step
        return not (is_assumed or self.begins_late)


def counted_on(step: int, epoch: int | None, count: int | None, facts: Facts) -> int:
    """Steps that start again in every epoch are counted on, by the length of an epoch that the
    log prints or proves, else by the last step printed: such numbers are assumed."""
    if epoch is None:
        return step
    counter = facts.setdefault("counter", EpochCounter())
    length = count or facts.get("epoch_length")
    offset, was_late = counter.offset, counter.begins_late
    is_proven = counter.take(step, epoch, length)
    if not is_proven:
        doubt_steps(facts)
    elif was_late and not counter.begins_late:
        facts.pop("unprovable", None)
    if counter.offset > offset:
        since = "their printed number" if length else "the last one printed"
        message = f"Steps start again in every epoch; they are counted on by {since}."
        warn(facts, ReadingWarning("steps_counted_on", message))
    return step + counter.offset
