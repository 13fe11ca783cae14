"""nanoGPT: ``iter N: loss X, time Yms, mfu Z%``; points, steps from 0 (karpathy/nanoGPT train.py).

``step N: train loss A, val loss B`` lines are evaluations, not points of the curve. Also its
speed runs (KellerJordan/modded-nanogpt), which print a step's time and only sometimes a loss.
"""

from __future__ import annotations

import re
from array import array
from typing import Any

from toolreaders.base import Source, register
from toolreaders.figures import NUMBER
from toolreaders.source import ReadError, ReadingWarning
from toolreaders.training.line_logs import Facts, LineLogReader, Point, warn
from toolreaders.training.series import (
    LossSeries,
    statistic_values,
    time_values,
    to_float,
    truncated,
    usual_interval,
)

OPENED = re.compile(r"\biter \d+")
EVALUATION = re.compile(r"\bstep (\d+): train loss (\S+), val loss (\S+)")
MAX_ITERS = re.compile(r"^(?:Overriding: )?max_iters = (\d+)")


@register
class NanoGptReader(LineLogReader):
    """nanoGPT console."""

    name = "nanogpt_log"
    tool = "nanoGPT"
    step_base = 0
    confidence = 90
    pattern = re.compile(r"\biter (?P<step>\d+): loss (?P<loss>\S+), time \d+(?:\.\d*)?ms")
    milliseconds = re.compile(r", time (\d+(?:\.\d*)?)ms")

    def step(self, found: re.Match[str], line: str, facts: Facts) -> int:
        facts.pop("opened", None)
        return int(found["step"])

    def other(self, number: int, line: str, facts: Facts) -> None:
        if found := EVALUATION.search(line):
            facts["evaluations"] = facts.get("evaluations", 0) + 1
            facts["evaluation"] = found.groups()
        elif found := MAX_ITERS.match(line):
            facts["total_steps"] = int(found[1]) + 1  # the last one is trained and printed too
        elif OPENED.search(line):
            facts["opened"] = number, line

    def extras(self, facts: Facts) -> dict[str, Any]:
        if opened := facts.get("opened"):
            warn(facts, truncated(*opened))
        return {"total_steps": facts.get("total_steps"), "evaluation": _evaluation(facts)}


def _evaluation(facts: Facts) -> dict[str, Any] | None:
    if "evaluation" not in facts:
        return None
    step, train, validation = facts["evaluation"]
    return {"count": facts["evaluations"], "step": int(step), "train_loss": to_float(train),
            "val_loss": to_float(validation)}  # fmt: skip


@register
class SpeedRunReader(LineLogReader):
    """``step:30/7050 train_loss:3.9 train_time:6547ms step_avg:218.23ms``, often without the loss,
    and ``step:7050/7050 val_loss:2.9193 train_time:…``: the time since the beginning.
    """

    name = "modded_nanogpt_log"
    tool = "modded-nanogpt"
    step_base = 0
    confidence = most_confidence = 88
    mark = "step_avg:"
    pattern = re.compile(
        rf"\bstep:(?P<step>\d+)/(?P<count>\d+) (?:train_loss:(?P<loss>{NUMBER}) )?"
        rf"(?:val_loss:(?P<validation>{NUMBER}) )?train_time:(?P<time>\d+(?:\.\d+)?)ms step_avg:"
    )
    def is_likely(self, text: str) -> bool:
        return self.mark in text

    def point(self, found: re.Match[str], line: str, facts: Facts) -> Point | None:
        step = int(found["step"])
        facts["total_steps"] = int(found["count"])
        facts.setdefault("steps", array("q")).append(step)
        time, before = float(found["time"]), facts.get("before")
        if before and step > before[0]:
            milliseconds = (time - before[1]) / (step - before[0])
            facts.setdefault("milliseconds", array("d")).append(milliseconds)
        facts["before"] = step, time
        if found["validation"]:
            facts.setdefault("validation", array("d")).append(float(found["validation"]))
        return Point(step, float(found["loss"])) if found["loss"] else None

    def extras(self, facts: Facts) -> dict[str, Any]:
        validation = statistic_values(facts.get("validation", []))
        return {
            "total_steps": facts.get("total_steps"),
            "iteration_time_ms": time_values(facts.get("milliseconds", [])),
            "evaluation": {"val_loss": validation} if validation else None,
        }

    def series(self, source: Source) -> LossSeries:
        try:
            return super().series(source)
        except ReadError as error:
            if error.code != "no_loss_points":
                raise
        found = self.collect(source)
        facts = found.facts_of("")
        message = "The log prints times of steps and losses of validations, none of the training."
        return LossSeries(
            array("q"), array("d"), usual_interval(facts["steps"]), "point", 0,
            [*found.warnings, ReadingWarning("no_loss_points", message)], tool=self.tool,
            extras=self.extras(facts))  # fmt: skip
