"""Training logs of NeMo 2 and of XTuner's own engine."""

from __future__ import annotations

import re
from array import array
from typing import Any

from toolreaders.base import register
from toolreaders.figures import AMOUNT, NUMBER
from toolreaders.training.line_logs import Facts, LineLogReader, doubt_steps
from toolreaders.training.text_log import counted_on

MEGABYTES = 1024  # in a gigabyte as XTuner prints it


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


@register
class XtunerReader(LineLogReader):
    """``[Train] (Epoch 1) Step 10/500  lr: …  loss: 1.234  …  tgs: 1234  …  time: 1.34s``; steps
    count over the run."""

    name = "xtuner_log"
    tool = "XTuner"
    confidence = most_confidence = 86
    pattern = re.compile(
        r"\[Train\] \(Epoch [\d?]+\) Step (?P<step>\d+)/(?P<count>\d+)\s[^\n]{0,80}?"
        rf"\bloss: (?P<loss>{NUMBER})"
    )
    seconds = re.compile(r"(?<!\w)time: ([\d.]+)s\b")
    norm = re.compile(rf"\bgrad_norm: ({NUMBER})")
    memory = re.compile(r"\bmax_memory: ([\d.]+)GB")
    tokens = re.compile(r"\btgs: ([\d.]+)(?=\s|$)")

    def step(self, found: re.Match[str], line: str, facts: Facts) -> int:
        facts["total_steps"] = int(found["count"])
        if peak := self.memory.search(line):
            facts["peak"] = max(float(peak[1]), facts.get("peak", 0.0))
        if rate := self.tokens.search(line):
            facts.setdefault("tgs", array("d")).append(float(rate[1]))
        return int(found["step"])

    def extras(self, facts: Facts) -> dict[str, Any]:
        rates, peak = facts.get("tgs"), facts.get("peak")
        mean = sum(rates) / len(rates) if rates else None
        return {
            "total_steps": facts.get("total_steps"),
            "throughput": {"tokens_per_second": mean} if mean else None,
            "memory": {"peak_allocated_mb": MEGABYTES * peak} if peak else None,
        }
