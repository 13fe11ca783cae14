"""Training logs of scripts that name a batch or an epoch beside the loss.

PyTorch's tutorial (``[1,  2000] loss: 2.2``), Keras (``Epoch 1/5`` and a progress bar), fairseq
(``train_inner | {…}`` or ``num_updates=``), and one line per epoch (``Epoch 3: train_loss=0.9``).
"""

from __future__ import annotations

import re
from typing import Any

from workers.readers.base import Sample, register
from workers.readers.line_logs import NUMBER, LineLogReader, Point, first_number
from workers.readers.series import to_float

LEAST = 2


@register
class FairseqReader(LineLogReader):
    """fairseq's ``train_inner`` records, as JSON or as text; a loss is the mean since the last."""

    name = "fairseq_log"
    tool = "fairseq"
    meaning = "window_mean"
    confidence = most_confidence = 85
    pattern = re.compile(
        rf"\btrain_inner \| .{{0,200}}?\bloss\"?(?:: |=)\"?(?P<loss>{NUMBER})"
        r".{0,600}?\bnum_updates\"?(?:: |=)\"?(?P<step>\d+)"
    )

    def point(self, found: re.Match[str], line: str, facts: dict[str, Any]) -> Point | None:
        loss = to_float(found["loss"])
        norm = first_number(rf"\bgnorm\"?(?:: |=)\"?({NUMBER})", line)
        return None if loss is None else Point(int(found["step"]), loss, grad_norm=norm)


@register
class KerasReader(LineLogReader):
    """Keras' progress bar; the loss is the mean of the epoch so far."""

    name = "keras_progress_log"
    tool = "Keras"
    meaning = "running_mean"
    confidence = most_confidence = 60
    pattern = re.compile(
        rf"^\s*(?P<step>\d+)/(?P<count>\d+)\s+(?:\[[=>.]+\]|[━ ]+).{{0,80}}?"
        rf"[- ]loss: (?P<loss>{NUMBER})"
    )
    opening = re.compile(r"^Epoch (\d+)/\d+")

    def recognises(self, sample: Sample) -> int:
        has_epoch = any(self.opening.match(line) for line in sample.lines)
        found = has_epoch and any(map(self.pattern.search, sample.lines))
        return self.confidence if found else 0

    def point(self, found: re.Match[str], line: str, facts: dict[str, Any]) -> Point | None:
        loss = to_float(found["loss"])
        step = (facts.get("epoch", 1) - 1) * int(found["count"]) + int(found["step"])
        time = first_number(r"([\d.]+)ms/step", line)
        return None if loss is None else Point(step, loss, time)

    def other(self, number: int, line: str, facts: dict[str, Any]) -> None:
        if found := self.opening.match(line):
            facts["epoch"] = int(found[1])


@register
class TutorialReader(LineLogReader):
    """``[epoch, batch] loss: v`` of PyTorch's tutorial: the mean since the last line."""

    name = "pytorch_tutorial_log"
    tool = "PyTorch tutorial"
    meaning = "window_mean"
    confidence = most_confidence = 14
    pattern = re.compile(rf"^\[(?P<epoch>\d+), +(?P<step>\d+)\] +loss: (?P<loss>{NUMBER})", re.M)

    def point(self, found: re.Match[str], line: str, facts: dict[str, Any]) -> Point | None:
        epoch, step, loss = int(found["epoch"]), int(found["step"]), to_float(found["loss"])
        if epoch != facts.get("epoch"):
            facts["offset"] = facts.get("offset", 0) + facts.get("step", 0)
        facts["epoch"], facts["step"] = epoch, step
        return None if loss is None else Point(facts["offset"] + step, loss)


@register
class EpochLineReader(LineLogReader):
    """One line per epoch with its number and its training loss."""

    name = "epoch_training_log"
    tool = None
    meaning = "window_mean"
    step_unit = "epoch"
    confidence = most_confidence = 12
    pattern = re.compile(
        r"\bepoch\b[ :=#\[(]*(?P<epoch>\d+)(?:\s*/\s*\d+)?[^\n]{0,80}?"
        rf"(?<!val_)(?<!val )(?<!test )\b(?:avg |average |mean )?(?:train(?:ing)?[_ ])?loss\b"
        rf"[\s:=]*(?P<loss>{NUMBER})(?![A-Za-z/])",
        re.IGNORECASE,
    )

    def recognises(self, sample: Sample) -> int:
        if sample.is_broken_json:
            return 0
        epochs = {found["epoch"] for line in sample.lines if (found := self.pattern.search(line))}
        return self.confidence if len(epochs) >= LEAST else 0

    def point(self, found: re.Match[str], line: str, facts: dict[str, Any]) -> Point | None:
        loss = to_float(found["loss"])
        return None if loss is None else Point(int(found["epoch"]), loss)
