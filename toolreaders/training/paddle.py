"""Training logs of PaddlePaddle's suites.

PaddleDetection ``Epoch: [e] [ i/n] learning_rate: … loss: v eta: …`` (a window's median, from 0),
PaddleClas ``[Train][Epoch e/E][Iter: i/n]…, loss: v`` (mean of the epoch so far) and the trainer of
PaddleNLP ``loss: v, learning_rate: …, global_step: s`` (mean since the last line).
"""

from __future__ import annotations

import re

from toolreaders.base import register
from toolreaders.figures import AMOUNT, NUMBER
from toolreaders.training.line_logs import Facts, LineLogReader


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

    seconds = re.compile(rf"\bbatch_cost: ({AMOUNT})")
    speed = re.compile(rf"\b(?:ips: |interval_samples_per_second: )({AMOUNT})")

    def step(self, found: re.Match[str], line: str, facts: Facts) -> int:
        facts["tool"], facts["meaning"] = _suite(found)
        if found["global"]:
            return int(found["global"])
        epoch = int(found["epoch"] or 0) or int(found["counted"] or 1) - 1
        return epoch * int(found["count"]) + int(found["step"])


def _suite(found: re.Match[str]) -> tuple[str, str]:
    if found["global"]:
        return "PaddleNLP", "window_mean"
    return ("PaddleDetection", "smoothed") if found["epoch"] else ("PaddleClas", "running_mean")
