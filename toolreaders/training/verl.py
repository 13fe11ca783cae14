"""Reinforcement learning: verl's ``step:7 - actor/pg_loss:0.01 - critic/score/mean:0.4 - …`` and
MindSpeed-RL's ``iteration: 7 / 200 | actor/pg_loss : 0.0100 | …``, steps from 1.

The loss of a policy says little by itself: the means of scores, rewards and lengths stand beside
it, which Huawei's guide compares. Supervised fine-tuning prints ``train/loss``.
"""

from __future__ import annotations

import re
from array import array
from typing import Any

from toolreaders.base import register
from toolreaders.figures import NUMBER
from toolreaders.training.line_logs import Facts, LineLogReader
from toolreaders.training.series import statistic_values

RL_FIELD = re.compile(rf"\| ([\w/.\-]+) : ({NUMBER})(?= |$)")
FIELD = re.compile(rf"(?:^| - )([\w/.\-]+?):(?:np\.float\d+\()?({NUMBER})")
SHOWN = ("critic/score/mean", "critic/rewards/mean", "response_length/mean", "actor/entropy",
         "actor/entropy_loss", "actor/kl_loss", "perf/throughput")  # fmt: skip
RL_SHOWN = (*SHOWN, "grpo/score/mean", "grpo/rewards/mean", "e2e_tps", "update_tps", "vllm_tps")


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
    seconds = re.compile(rf" - timing_s/step:(?:np\.float\d+\()?({NUMBER})")
    norm = re.compile(rf" - (?:actor|train)/grad_norm:(?:np\.float\d+\()?({NUMBER})")

    def step(self, found: re.Match[str], line: str, facts: Facts) -> int:
        for name, value in FIELD.findall(line[found.start() :]):
            if name in SHOWN:
                facts.setdefault("metrics", {}).setdefault(name, array("d")).append(float(value))
        return int(found["step"])

    def extras(self, facts: Facts) -> dict[str, Any]:
        found = facts.get("metrics", {})
        return {"metrics": {name: statistic_values(values) for name, values in found.items()}}


@register
class MindSpeedRlReader(LineLogReader):
    """Iterations of MindSpeed-RL; its last rank prints them."""

    name = "mindspeed_rl_log"
    tool = "MindSpeed-RL"
    confidence = most_confidence = 84
    pattern = re.compile(
        rf"\biteration: (?P<step>\d+) / (?P<count>\d+) \| .{{0,4000}}?"
        rf"\bactor/pg_loss : (?P<loss>{NUMBER})"
    )
    seconds = re.compile(rf"\| timing/all : ({NUMBER})")
    norm = re.compile(rf"\| (?:actor/)?grad_norm : ({NUMBER})")

    def step(self, found: re.Match[str], line: str, facts: Facts) -> int:
        facts["total_steps"] = int(found["count"])
        for name, value in RL_FIELD.findall(line):
            if name in RL_SHOWN or name.endswith("_rewards/mean"):
                facts.setdefault("metrics", {}).setdefault(name, array("d")).append(float(value))
        return int(found["step"])

    def extras(self, facts: Facts) -> dict[str, Any]:
        found = facts.get("metrics", {})
        means = {name: statistic_values(values) for name, values in found.items()}
        return {"metrics": means, "total_steps": facts.get("total_steps")}
