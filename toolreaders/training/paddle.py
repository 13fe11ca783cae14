"""Training logs of PaddlePaddle's suites.

PaddleDetection ``Epoch: [e] [ i/n] learning_rate: … loss: v eta: …`` (a window's median, from 0),
PaddleClas ``[Train][Epoch e/E][Iter: i/n]…, loss: v`` (mean of the epoch so far) and the trainer of
PaddleNLP ``loss: v, learning_rate: …, global_step: s`` (mean since the last line).
"""

from __future__ import annotations

import re
from typing import Any

from toolreaders.base import register
from toolreaders.figures import AMOUNT, NUMBER
from toolreaders.source import ReadingWarning
from toolreaders.training.line_logs import Facts, LineLogReader, Point, warn

CONTRADICTS = ReadingWarning(
    "contradicting_rates",
    "The printed samples per second are fewer than the steps per second of the same line: they are "
    "no rate of samples and are left out.",
)
ROUNDED = 0.99  # of a rate that is printed with three digits


@register
class PaddleReader(LineLogReader):
    """Lines of PaddleDetection, PaddleClas and PaddleNLP."""

    name = "paddle_log"
    tool = "PaddlePaddle"
    confidence = most_confidence = 82
    pattern = re.compile(
        r"(?:(?:Epoch: \[(?P<epoch>\d+)\] \["
        r"|\[Train\]\s?\[Epoch (?P<counted>\d+)/\d+\]\s?\[Iter: ?)"
        r"\s*(?P<step>\d+)/(?P<count>\d+)\][^\n]{0,600}?"
        rf"|(?=loss: {NUMBER}, learning_rate: [^\n]{{0,200}}?global_step: (?P<global>\d+)))"
        rf"(?<!\w)loss: (?P<loss>{NUMBER})(?=[,\s]|$)(?! *\()"
    )

    evaluation = re.compile(
        rf"\b(eval_(?!runtime|samples_per|steps_per)\w+): ({NUMBER})(?=[,\s]|$)")
    seconds = re.compile(rf"\bbatch_cost: ({AMOUNT})")
    speed = re.compile(rf"\b(?:ips: |interval_samples_per_second: )({AMOUNT})")

    steps_of = re.compile(rf"\binterval_steps_per_second: ({AMOUNT})")

    def point(self, found: re.Match[str], line: str, facts: Facts) -> Point | None:
        """Older PaddleNLP prints as samples per second what one step of one card makes: less than
        its steps per second. Such a rate is told and used nowhere."""
        point, steps = super().point(found, line, facts), self.steps_of.search(line)
        if point and steps and (point.samples_per_second or 0.0) < ROUNDED * float(steps[1]):
            point.samples_per_second = None
            warn(facts, CONTRADICTS)
        return point

    def step(self, found: re.Match[str], line: str, facts: Facts) -> int:
        facts["tool"], facts["meaning"] = _suite(found)
        if found["global"]:
            return int(found["global"])
        epoch = int(found["epoch"] or 0) or int(found["counted"] or 1) - 1
        return epoch * int(found["count"]) + int(found["step"])

    def other(self, number: int, line: str, facts: Facts) -> None:
        if "eval_" in line and (found := self.evaluation.findall(line)):
            facts.setdefault("evaluation", {}).update((key, float(value)) for key, value in found)

    def extras(self, facts: Facts) -> dict[str, Any]:
        return {"evaluation": facts.get("evaluation")}


def _suite(found: re.Match[str]) -> tuple[str, str]:
    if found["global"]:
        return "PaddleNLP", "window_mean"
    return ("PaddleDetection", "smoothed") if found["epoch"] else ("PaddleClas", "running_mean")
