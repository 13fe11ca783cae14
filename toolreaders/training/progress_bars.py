"""Progress bars of tqdm with a loss beside them: Lightning, diffusers, ColossalAI, own scripts.

``Epoch 0:  50%|█████     | 5/10 [00:01<00:01, 9.0it/s, v_num=0, train_loss=2.3]``. A bar is printed
again and again; the last print of a step counts, and steps go on from epoch to epoch.
"""

from __future__ import annotations

import re

from toolreaders.base import Sample, register
from toolreaders.figures import NUMBER
from toolreaders.training.line_logs import (
    Facts,
    LineLogReader,
    Point,
    doubt_steps,
    epoch_base,
)
from toolreaders.training.series import to_float

EVALUATION = re.compile(r"\b(?:val|valid|validat\w*|eval\w*|test\w*|sanity|predict\w*)\b", re.I)
EPOCH = re.compile(r"\bepochs?\b[ :=#\[(]*(\d+)", re.IGNORECASE)
OPTIMISER_STEPS = re.compile(r"^\s*steps?:", re.IGNORECASE)
"""How diffusers and sd-scripts name a bar that counts what they train; it shows the loss of the
step that it counts."""
LEAST, LABEL, LONGEST = 3, 200, 4000


@register
class ProgressBarReader(LineLogReader):
    """A bar with its counter and a loss behind it, or in the text before it."""

    name = "progress_bar_log"
    tool = None
    confidence = most_confidence = 16
    pattern = re.compile(
        r"\b\d+%\|[^|\n]{0,400}\|\s*(?P<step>\d+)/(?P<count>\d+) \[[^\]\n]{0,400}?"
        r"(?:(?<![\w/])(?:train(?:ing)?|step|avr|avg|batch|total|lm|gpt)?[_/]?loss(?:_step)?"
        r"(?:=|: ?)"
        rf"['\"]?(?:tensor\()?(?P<loss>{NUMBER})|\])"
    )
    labelled = re.compile(rf"(?<![\w/])(?:train_|train )?loss\b[=: ]+(?P<loss>{NUMBER})", re.I)

    def recognises(self, sample: Sample) -> int:
        if "%|" not in sample.text or "global_step=" in sample.text:
            return 0
        facts: Facts = {}
        lines = [line for line in sample.lines if len(line) < LONGEST]
        bars = [(found, line) for line in lines if (found := self.pattern.search(line))]
        points = [self.point(found, line, facts) for found, line in bars]
        counted = sum(point is not None and not point.is_again for point in points)
        return self.confidence if counted >= LEAST else 0

    def point(self, found: re.Match[str], line: str, facts: Facts) -> Point | None:
        label = line[max(0, found.start() - LABEL) : found.start()]
        label_match = None if found["loss"] else self.labelled.search(label)
        loss = to_float(found["loss"] or (label_match and label_match["loss"]))
        if loss is None or EVALUATION.search(label):
            return None
        if "v_num=" in line:
            is_mean = re.search(r"(?<![\w/])loss=", line) is not None
            facts.update(tool="Lightning", meaning="smoothed" if is_mean else "point")
        if not (facts.get("tool") == "Lightning" or OPTIMISER_STEPS.search(label)):
            doubt_steps(facts)  # a bar may be moved on before or after its loss is printed
        step = _step(found, label, facts)
        is_again = facts.get("last") == step
        facts["last"] = step
        return Point(step, loss, grad_norm=self.grad_norm(line), is_again=is_again)


def _step(found: re.Match[str], label: str, facts: Facts) -> int:
    step, count = int(found["step"]), int(found["count"])
    named = EPOCH.search(label)
    if named is None:
        facts["is_bare"] = True
        return step
    is_lightning = facts.get("tool") == "Lightning"
    base = 0 if is_lightning else epoch_base(int(named[1]), facts)
    return (int(named[1]) - base) * count + step
