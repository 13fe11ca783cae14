"""verl's console: ``step:7 - actor/pg_loss:0.01 - critic/score/mean:0.4 - …``, steps from 1.

The loss of a policy says little by itself: the means of scores, rewards and lengths stand beside
it, which Huawei's guide compares. Supervised fine-tuning prints ``train/loss``.
"""

from __future__ import annotations

import re
from typing import Any

from workers.readers.base import register
from workers.readers.line_logs import NUMBER, LineLogReader, Point
from workers.readers.series import statistic_values, to_float

FIELD = re.compile(rf"(?:^| - )([\w/.\-]+?):(?:np\.float\d+\()?({NUMBER})")
SHOWN = ("critic/score/mean", "critic/rewards/mean", "response_length/mean", "actor/entropy",
         "actor/entropy_loss", "actor/kl_loss", "perf/throughput")  # fmt: skip


@register
class VerlReader(LineLogReader):
    """Steps of reinforcement learning or fine-tuning with verl."""

    name = "verl_log"
    tool = "verl"
    confidence = most_confidence = 84
    pattern = re.compile(
        r"^.{0,200}?\bstep:(?P<step>\d+) - (?:\S.*? - )??"
        rf"(?:actor/pg_loss|train/loss):(?:np\.float\d+\()?(?P<loss>{NUMBER})",
        re.MULTILINE,
    )

    def point(self, found: re.Match[str], line: str, facts: dict[str, Any]) -> Point | None:
        fields = {name: to_float(value) for name, value in FIELD.findall(line[found.start() :])}
        for name in SHOWN:
            if (value := fields.get(name)) is not None:
                facts.setdefault("metrics", {}).setdefault(name, []).append(value)
        seconds, loss = fields.get("timing_s/step"), to_float(found["loss"])
        if loss is None:
            return None
        return Point(
            int(found["step"]),
            loss,
            None if seconds is None else 1000 * seconds,
            grad_norm=fields.get("actor/grad_norm", fields.get("train/grad_norm")),
        )

    def extras(self, facts: dict[str, Any]) -> dict[str, Any]:
        found = facts.get("metrics", {})
        return {"metrics": {name: statistic_values(values) for name, values in found.items()}}
