"""Training logs of NeMo 2."""

from __future__ import annotations

import re
from typing import Any

from toolreaders.base import register
from toolreaders.figures import AMOUNT, NUMBER
from toolreaders.training.line_logs import Facts, LineLogReader, doubt_steps
from toolreaders.training.text_log import counted_on


@register
class NemoReader(LineLogReader):
    """``Training epoch 1, iteration 0/9 | … | global_step: 10 | reduced_train_loss: 11.02 | …``.

    The iteration starts again in every epoch and counts, like the last one named behind it, from
    0; ``global_step`` counts over the run.
    """

    name = "nemo_log"
    tool = "NeMo"
    step_base = 0
    confidence = most_confidence = 93
    pattern = re.compile(
        r"\bTraining epoch (?P<epoch>\d+), iteration (?P<step>\d+)/(?P<last>\d+) \|"
        rf"[^\n]{{0,600}}?\breduced_train_loss: (?P<loss>{NUMBER})"
    )
    counter = re.compile(r"\| global_step: (\d+)(?=[\s|]|$)")
    seconds = re.compile(rf"\| train_step_timing in s: ({AMOUNT})")
    norm = re.compile(rf"\| grad_norm: ({NUMBER})")

    def step(self, found: re.Match[str], line: str, facts: Facts) -> int:
        epoch, length = int(found["epoch"]), int(found["last"]) + 1
        facts["total_steps"] = None if epoch else facts.get("total_steps", length)
        if counter := self.counter.search(line):
            return int(counter[1])
        if epoch and not facts.get("begins_at_0"):
            doubt_steps(facts)
        facts.setdefault("begins_at_0", epoch == 0)
        return counted_on(int(found["step"]), epoch, length, facts)

    def extras(self, facts: Facts) -> dict[str, Any]:
        return {"total_steps": facts.get("total_steps")}
