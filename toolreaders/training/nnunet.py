"""Training logs of nnU-Net."""

from __future__ import annotations

import re
from typing import Any

from toolreaders.base import register
from toolreaders.figures import NUMBER
from toolreaders.training.line_logs import Facts, LineLogReader, Point


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
