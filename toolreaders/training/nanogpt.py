"""nanoGPT: ``iter N: loss X, time Yms, mfu Z%``; points, steps from 0 (karpathy/nanoGPT train.py).

``step N: train loss A, val loss B`` lines are evaluations, not points of the curve.
"""

from __future__ import annotations

import re
from typing import Any

from toolreaders.base import register
from toolreaders.training.line_logs import Facts, LineLogReader, warn
from toolreaders.training.series import to_float, truncated

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
