"""Text logs of frameworks: mmengine and mmcv, MindFormers."""

from __future__ import annotations

import re
from array import array
from typing import Any

from toolreaders.base import register
from toolreaders.figures import AMOUNT, NUMBER
from toolreaders.source import ReadingWarning
from toolreaders.training.line_logs import (
    Facts,
    LineLogReader,
    first_number,
    warn,
)
from toolreaders.training.series import time_values, to_float


@register
class OpenMmlabTextReader(LineLogReader):
    """mmengine ``Epoch(train) [e][i/n] … loss: v``, mmcv ``Epoch [e][i/n]``, ``Iter(train)``."""

    name = "openmmlab_text_log"
    tool = "mmengine"
    meaning = "smoothed"
    confidence = 88
    pattern = re.compile(
        r"(?:Epoch(?:\(train\))?\s+\[(?P<epoch>\d+)\]\[\s*(?P<step>\d+)/(?P<count>\d+)\]|"
        r"Iter(?:\(train\))?\s+\[\s*(?P<iteration>\d+)/\d+\]).{0,100}?"
        rf"\slr: .{{0,2000}}?[\s,]loss: (?P<loss>{NUMBER})"
    )
    seconds = re.compile(rf"[\s,]time: ({AMOUNT})")
    validation = re.compile(r"(?:Epoch|Iter)\(val\)\s+(?:\[\d+\])?\[\d+/\d+\]\s+(.*)$")

    def step(self, found: re.Match[str], line: str, facts: Facts) -> int:
        facts["tool"] = "mmengine" if "(train)" in line else "mmcv"
        if found["iteration"]:
            return int(found["iteration"])
        return (int(found["epoch"]) - 1) * int(found["count"]) + int(found["step"])

    def other(self, number: int, line: str, facts: Facts) -> None:
        if found := self.validation.search(line):
            pairs = re.findall(rf"([\w/@.-]+): ({NUMBER})(?=\s|$)", found[1])
            numbers = {key: float(value) for key, value in pairs if not key.endswith("time")}
            facts["evaluation"] = numbers or facts.get("evaluation")

    def extras(self, facts: Facts) -> dict[str, Any]:
        return {"evaluation": facts.get("evaluation")}


@register
class MindFormersReader(LineLogReader):
    """``{ Epoch:[ 1/ 2], step:[ 1/ 19], loss: v, per_step_time: Tms, …}``, MindFormers callbacks;
    0.3 and earlier print no brace, and ``time:``.

    Stages of a pipeline other than the last print N/A; 0.000 means that the data was skipped;
    step 1 compiles the graph. ``[current/average]`` in place of the loss is MindSpore LossMonitor.
    """

    name = "mindformers_log"
    tool = "MindFormers"
    confidence = 90
    pattern = re.compile(
        r"(?:\{ ?)?(?:[Ee]poch: ?\[\s*(?P<epoch>\d+)/\s*\d+\], ?)?"
        r"step:\[\s*(?P<step>\d+)/\s*(?P<count>\d+)\], "
        rf"loss:\s*\[?(?P<loss>{NUMBER}|N/A)"
    )
    milliseconds = re.compile(r"\bper_step_time:\s*([\d.]+) ?ms")
    span = re.compile(r"(?<!\w)time:\s*([\d.]+) ?ms")
    monitor = re.compile(r"\bper step time: ([\d.]+) ?ms")
    norm = re.compile(rf"(?:global|grad)_norm:? *\[?({NUMBER})[\],]")

    def step(self, found: re.Match[str], line: str, facts: Facts) -> int:
        epoch, loss = int(found["epoch"] or 1), to_float(found["loss"])
        facts["total_steps"] = int(found["count"])
        base = facts.setdefault("first_epoch", 0 if epoch == 0 else 1)
        step = (epoch - base) * int(found["count"]) + int(found["step"])
        self._time_of_span(step, line, facts)
        if loss is None:
            return step
        if loss == 0.0:
            facts.setdefault("zero", []).append(step)
            message = "A loss of exactly 0 is printed; MindFormers does so for skipped data."
            warn(facts, ReadingWarning("zero_loss", message))
        if "overflow cond: True" in line:
            facts["overflows"] = facts.get("overflows", 0) + 1
        if "throughput" in line:
            speed = first_number(r"throughput(?:_per_npu)?:\s*([\d.]+)T", line)
            facts.setdefault("tflops", []).append(speed)
        return step

    def _time_of_span(self, step: int, line: str, facts: Facts) -> None:
        """Note what ``time:`` says: of one step, or of all since the last record (sink mode)."""
        before, facts["step"] = facts.get("step", step - 1), step
        if (found := self.span.search(line)) and not self.milliseconds.search(line):
            facts.setdefault("spans", array("d")).append(float(found[1]))
            facts["longest"] = max(facts.get("longest", 1), step - before)

    def other(self, number: int, line: str, facts: Facts) -> None:
        if found := self.monitor.search(line):
            facts.setdefault("per_step", array("d")).append(float(found[1]))

    def _times(self, facts: Facts) -> dict[str, Any]:
        """Times of steps. A ``time:`` of records that lie apart may be of one step or of all:
        only MindSpore's own time of a step tells."""
        if per_step := facts.get("per_step"):
            return {"iteration_time_ms": time_values(per_step)}
        if "spans" not in facts:
            return {}
        if facts["longest"] == 1:
            return {"iteration_time_ms": time_values(facts["spans"])}
        message = "It is not told whether a time is of one step or of all since the last record."
        warn(facts, ReadingWarning("time_span_unknown", message))
        return {"iteration_time_ms": None}

    def extras(self, facts: Facts) -> dict[str, Any]:
        speeds = [speed for speed in facts.get("tflops", []) if speed is not None]
        mean = sum(speeds[1:]) / len(speeds[1:]) if len(speeds) > 1 else None
        zero = facts.get("zero")
        return {
            "total_steps": facts.get("total_steps"),
            "overflows": facts.get("overflows"),
            "throughput": {"tflops_per_npu": mean} if mean else None,
            "zero_loss_steps": zero,
            **self._times(facts),
        }
