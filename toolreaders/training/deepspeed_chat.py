"""The three stages of DeepSpeed-Chat: fine-tuning, reward model, reinforcement learning.

Fine-tuning prints ``Epoch: 0, Step: 10, Rank: 0, loss = 2.25`` only if it is asked to
(``--print_loss``), and always perplexities; the reward model prints the mean loss of an epoch;
reinforcement learning prints the losses of actor and critic of every step.
"""

from __future__ import annotations

import re
from array import array
from typing import Any

from toolreaders.base import Reading, Sample, Source, register
from toolreaders.figures import NUMBER
from toolreaders.source import ReadError, ReadingWarning
from toolreaders.training.line_logs import Facts, LineLogReader
from toolreaders.training.series import statistic_values, time_values
from toolreaders.training.text_log import counted_on

SUPERVISED = r"Epoch: (?P<epoch>\d+), Step: (?P<step>\d+), Rank: \d+, loss = (?:tensor\()?"
REWARD = r"(?<![\w:] )\bEpoch (?P<finished>\d+)/\d+ with loss "
ACTOR = (
    r"(?i:epoch: (?P<rl_epoch>\d+) ?\| ?step: (?P<rl_step>\d+) ?\| ?ppo[_ ]ep(?:och)?: \d+ ?\| ?"
    r"act(?:or)?[_ ]loss: )"
)
CRITIC = re.compile(rf"\| ?cri(?:tic)?[_ ]loss: ({NUMBER})", re.IGNORECASE)
STARTS = re.compile(
    r"\bBeginning of Epoch \d+/\d+, Total (?:Micro|Generation) Batches (\d+)"
    r"|\*{5} Evaluating (?:perplexity|reward), Epoch \d+/\d+ \*{5}"
)
VALUES = {
    "perplexity": re.compile(rf"^ppl: ({NUMBER})"),
    "eval_loss": re.compile(rf"^ppl: {NUMBER}, loss: ({NUMBER})"),
    "chosen_score": re.compile(rf"^chosen_last_scores \(higher is better\) : ({NUMBER})"),
    "accuracy": re.compile(rf"\bacc \(higher is better\) : ({NUMBER})"),
}
MARKS = ("Beginning of", "Evaluating", "atency", "reward score", "ppl: ", "(higher is better)")
REWARD_SCORE = re.compile(rf"^average reward score: ({NUMBER})", re.IGNORECASE)
LATENCY = re.compile(
    r"\bEnd-to-End => Latency: ([\d.]+)s|\|E2E latency=([\d.]+)s"
    r"|\bModel Parameters: [\d.]+ B, Latency: ([\d.]+)s"
)


@register
class DeepSpeedChatReader(LineLogReader):
    """Console of one stage of DeepSpeed-Chat; of reinforcement learning the actor's loss."""

    name = "deepspeed_chat_log"
    tool = "DeepSpeed-Chat"
    step_base = 0
    confidence = most_confidence = 83
    pattern = re.compile(rf"(?:{SUPERVISED}|{REWARD}|{ACTOR})(?P<loss>{NUMBER})")

    def recognises(self, sample: Sample) -> int:
        is_recognised = STARTS.search(sample.text) or self.pattern.search(sample.text)
        return self.confidence if is_recognised and not sample.is_broken_json else 0

    def step(self, found: re.Match[str], line: str, facts: Facts) -> int:
        if found["finished"]:
            facts.update(step_unit="epoch", meaning="window_mean")
            return int(found["finished"])
        if critic := CRITIC.search(line, found.end()):
            facts.setdefault("critic", array("d")).append(float(critic[1]))
        epoch, step = found["epoch"] or found["rl_epoch"], found["step"] or found["rl_step"]
        return counted_on(int(step), int(epoch), facts.get("length"), facts)

    def other(self, number: int, line: str, facts: Facts) -> None:
        if not any(mark in line for mark in MARKS):
            return
        if found := STARTS.search(line):
            facts["is_told"] = True
            facts["length"] = int(found[1]) if found[1] else facts.get("length")
        elif found := LATENCY.search(line):
            seconds = float(next(filter(None, found.groups())))
            facts.setdefault("seconds", array("d")).append(seconds)
        elif found := REWARD_SCORE.search(line):
            facts.setdefault("rewards", array("d")).append(float(found[1]))
        for name, pattern in VALUES.items():
            if found := pattern.search(line):
                facts.setdefault("evaluation", {})[name] = float(found[1])

    def extras(self, facts: Facts) -> dict[str, Any]:
        metrics = {name: statistic_values(facts[key]) for name, key in (
            ("critic_loss", "critic"), ("reward_score", "rewards")) if key in facts}  # fmt: skip
        times = {}
        if "seconds" in facts:
            times["iteration_time_ms"] = time_values(1000 * one for one in facts["seconds"])
        return {
            "metrics": metrics or None,
            "evaluation": facts.get("evaluation"),
            **times,
        }

    def read(self, source: Source) -> Reading:
        try:
            return super().read(source)
        except ReadError as error:
            if error.code != "no_loss_points":
                raise
        message = "The run printed no loss of a training step; --print_loss asks for it."
        values = {"loss": None, **self.extras(self.collect(source).facts_of(""))}
        return self.reading(values, warnings=[ReadingWarning("no_loss_points", message)])
