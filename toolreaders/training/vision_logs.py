"""Training logs of vision tools that print in a form of their own: Darknet, nnU-Net, ArcFace."""

from __future__ import annotations

import re
from typing import Any

from toolreaders.base import register
from toolreaders.figures import AMOUNT, NUMBER
from toolreaders.training.line_logs import Facts, LineLogReader, Point


@register
class DarknetReader(LineLogReader):
    """``12: 3.21, 3.45 avg loss, 0.001 rate, 4.1 seconds, 768 images``: the loss of the iteration,
    then a smoothed one."""

    name = "darknet_log"
    tool = "Darknet"
    mark = " avg"
    confidence = most_confidence = 88
    pattern = re.compile(
        rf"^\s*(?P<step>\d+): (?P<loss>{NUMBER}), {NUMBER} avg(?: loss)?, {NUMBER} rate, "
        r"[\d.]+ seconds, \d+ images",
        re.MULTILINE,
    )
    seconds = re.compile(r" rate, ([\d.]+) seconds")


@register
class NnUnetReader(LineLogReader):
    """``2026-01-02 03:04:05.678: train_loss -0.64`` below the line that opens an epoch; a loss
    may be negative."""

    name = "nnunet_log"
    tool = "nnU-Net"
    meaning = "window_mean"
    step_base = 0
    step_unit = "epoch"
    confidence = most_confidence = 86
    stamp = r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.\d]*: "
    pattern = re.compile(rf"{stamp}train[_ ]loss ?:? *(?P<loss>{NUMBER})", re.MULTILINE)
    opening = re.compile(rf"(?:{stamp})?[Ee]poch:? +(\d+)\s*$")
    validation = re.compile(rf"{stamp}val(?:idation)?[_ ]loss ?:? *({NUMBER})")

    def point(self, found: re.Match[str], line: str, facts: Facts) -> Point | None:
        return super().point(found, line, facts) if "epoch" in facts else None

    def step(self, found: re.Match[str], line: str, facts: Facts) -> int:
        return int(facts["epoch"])

    def other(self, number: int, line: str, facts: Facts) -> None:
        if found := self.opening.match(line):
            facts["epoch"] = int(found[1])
        elif found := self.validation.match(line):
            facts["val_loss"] = float(found[1])

    def extras(self, facts: Facts) -> dict[str, Any]:
        return {"evaluation": {"val_loss": facts["val_loss"]} if "val_loss" in facts else None}


@register
class ArcfaceReader(LineLogReader):
    """``Speed 2271.33 samples/sec   Loss 1.16 … Global Step: 150``: the mean since the last."""

    name = "arcface_log"
    tool = "InsightFace"
    meaning = "window_mean"
    confidence = most_confidence = 85
    pattern = re.compile(
        rf"\bSpeed {AMOUNT} samples/sec\s+Loss (?P<loss>{NUMBER})\s.{{0,200}}?"
        r"Global Step: *(?P<step>\d+)"
    )
    speed = re.compile(r"\bSpeed ([\d.]+) samples/sec")
