"""Training logs that name an epoch beside the loss: Keras (``Epoch 1/5`` and a progress bar), and
one line per epoch (``Epoch 3: train_loss=0.9``)."""

from __future__ import annotations

import re
from typing import Any

from toolreaders.base import Sample, register
from toolreaders.figures import NUMBER
from toolreaders.source import ReadingWarning
from toolreaders.training.line_logs import (
    Facts,
    LineLogReader,
    doubt_steps,
    warn,
)
from toolreaders.training.line_prefixes import plain_lines

LEAST = 2
DEFINITE = re.compile(
    rf"^\W{{0,3}}epoch\W{{1,3}}\d+(?:/\d+)?\W{{1,3}}train(?:ing)?[ _]loss\W{{1,3}}{NUMBER}",
    re.IGNORECASE,
)
"""An epoch and its training loss at the beginning of a line: one is enough."""
SCORES = re.compile(r"\{('[^{}]{1,500})\}\s*$")
SCORE = re.compile(rf"'([\w/ ]+)': ({NUMBER})(?=[,}}]|$)")


@register
class KerasReader(LineLogReader):
    """Keras' progress bar; the loss is the mean of the epoch so far."""

    name = "keras_progress_log"
    version = "5"
    tool = "Keras"
    meaning = "running_mean"
    confidence = most_confidence = 60
    pattern = re.compile(
        rf"^\s*(?P<step>\d+)/(?P<count>\d+)\s+(?:\[[=>.]+\]|[━ ]+|- \d+s).{{0,80}}?"
        rf"[- ]loss: (?P<loss>{NUMBER})"
    )
    milliseconds = re.compile(r"(?<![\w.])([\d.]+)ms/step")
    seconds = re.compile(r"(?<![\w.])([\d.]+)s/step")
    opening = re.compile(r"^\s*Epoch (\d+)/\d+")
    uncounted = ReadingWarning(
        "epochs_counted", "The log names no epoch; one begins where its progress starts again."
    )

    def recognises(self, sample: Sample) -> int:
        lines = plain_lines(sample.text)
        least = 1 if any(self.opening.match(line) for line in lines) else LEAST
        found = sum(self.pattern.search(line) is not None for line in lines)
        return self.confidence if found >= least else 0

    def step(self, found: re.Match[str], line: str, facts: Facts) -> int:
        if not facts.get("is_named"):
            self._count_epoch((int(found["step"]), found["loss"]), facts)
        return (facts.get("epoch", 1) - 1) * int(found["count"]) + int(found["step"])

    def _count_epoch(self, shown: tuple[int, str], facts: Facts) -> None:
        doubt_steps(facts)
        before = facts.get("shown", (0, ""))
        if shown[0] < before[0] or (shown[0] == before[0] and shown != before):
            facts["epoch"] = facts.get("epoch", 1) + 1
            warn(facts, self.uncounted)
        facts["shown"] = shown

    def other(self, number: int, line: str, facts: Facts) -> None:
        if found := self.opening.match(line):
            facts["epoch"], facts["is_named"] = int(found[1]), True


@register
class EpochLineReader(LineLogReader):
    """One line per epoch with its number and its training loss."""

    name = "epoch_training_log"
    version = "5"
    tool = None
    meaning = "window_mean"
    step_unit = "epoch"
    confidence = most_confidence = 12
    pattern = re.compile(
        r"\bepoch\b[ :=#\[(]*(?P<epoch>\d+)(?:\s*/\s*\d+)?[^\n]{0,80}?"
        r"(?<!val_)(?<!val )(?<!valid )(?<!validation )(?<!eval )(?<!dev )(?<!test )"
        r"(?<!avg )(?<!average )(?<!mean )(?<!total )(?<![A-Za-z]-)\b(?:avg |average |mean )?"
        r"(?:(?:train(?:ing)?|total)[-_ ])?loss\b"
        rf"[\s:=]*(?P<loss>{NUMBER})(?![A-Za-z/])",
        re.IGNORECASE,
    )

    def recognises(self, sample: Sample) -> int:
        if sample.is_broken_json:
            return 0
        epochs = {found["epoch"] for line in sample.lines if (found := self.pattern.search(line))}
        is_definite = any(map(DEFINITE.match, sample.lines))
        return self.confidence if len(epochs) >= LEAST or is_definite else 0

    def step(self, found: re.Match[str], line: str, facts: Facts) -> int:
        if scores := SCORES.search(line):
            facts["evaluation"] = {name: float(value) for name, value in SCORE.findall(scores[1])}
        return int(found["epoch"])

    def extras(self, facts: Facts) -> dict[str, Any]:
        return {"evaluation": facts.get("evaluation") or None}
