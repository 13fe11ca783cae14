"""Training logs whose tools differ by their patterns alone: a row of `FORMATS` per tool.

A format that needs more than patterns is a class of its own beside this module.
"""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass, field
from typing import Any

from toolreaders.base import Sample, register
from toolreaders.columns import mean
from toolreaders.figures import AMOUNT, NUMBER
from toolreaders.training.line_logs import Facts, LineLogReader, epoch_base
from toolreaders.training.series import Meaning, StepUnit, statistic_values
from toolreaders.training.text_log import counted_on

MEGABYTES = {"GB": 1024, "MB": 1}


@dataclass(frozen=True, kw_only=True)
class LineFormat:
    """One tool's line of a training record.

    Args:
        line: an example, and what its loss is.
        pattern: has the groups `step` and `loss`; `epoch` where steps start again in every epoch,
            `count` where the line says how many an epoch has; `total`, the steps of the run.
        first_epoch: number of the tool's first epoch, where it is known.
        mark: stands in every record; lines without it are not searched.
        least: records that a sample has to hold.
        seconds, milliseconds, speed, norm: one group each: time of a step, samples per second,
            gradient norm (as most tools name it, if none is given).
        rates: further rates by their key of `throughput`, of which the mean counts.
        metrics: two groups, name and value: what is shown beside the loss.
        step_unit: what the step counts.
        peak: of the allocated memory: two groups, amount and GB or MB.
    """

    name: str
    tool: str | None
    line: str
    pattern: str
    confidence: int
    meaning: Meaning = "point"
    step_base: int = 1
    first_epoch: int | None = None
    mark: str = LineLogReader.mark
    least: int = 1
    seconds: str | None = None
    milliseconds: str | None = None
    speed: str | None = None
    norm: str | None = None
    rates: dict[str, str] = field(default_factory=dict)
    metrics: str | None = None
    step_unit: StepUnit = "step"
    peak: str | None = None


FORMATS = (
    LineFormat(
        name="darknet_log", tool="Darknet", confidence=88, mark=" avg",
        line="12: 3.21, 3.45 avg loss, 0.001 rate, 4.1 seconds, 768 images: of the iteration, then "
             "a smoothed one",
        pattern=rf"(?m)^\s*(?P<step>\d+): (?P<loss>{NUMBER}), {NUMBER} avg(?: loss)?, {NUMBER} "
                r"rate, [\d.]+ seconds, \d+ images",
        seconds=r" rate, ([\d.]+) seconds"),
    LineFormat(
        name="arcface_log", tool="InsightFace", confidence=85, meaning="window_mean",
        line="Speed 2271.33 samples/sec   Loss 1.16 … Global Step: 150: the mean since the last",
        pattern=rf"\bSpeed {AMOUNT} samples/sec\s+Loss (?P<loss>{NUMBER})\s.{{0,200}}?"
                r"Global Step: *(?P<step>\d+)",
        speed=r"\bSpeed ([\d.]+) samples/sec"),
    LineFormat(
        name="detectron2_text_log", tool="detectron2", confidence=80, meaning="smoothed",
        step_base=0,
        line="eta: …  iter: 19  total_loss: 1.2  …: median of 20",
        pattern=rf"\biter: (?P<step>\d+)\s+total_loss: (?P<loss>{NUMBER})",
        seconds=rf"\s(?:last_)?time: ({AMOUNT})"),
    LineFormat(
        name="fairseq_log", tool="fairseq", confidence=85, meaning="window_mean",
        line='train_inner | {"loss": "8.1", "num_updates": "100"}, or loss=8.1, num_updates=100: '
             "the mean since the last",
        pattern=rf"\btrain_inner \| .{{0,200}}?\bloss\"?(?:: |=)\"?(?P<loss>{NUMBER})"
                r".{0,600}?\bnum_updates\"?(?:: |=)\"?(?P<step>\d+)",
        norm=rf"\bgnorm\"?(?:: |=)\"?({NUMBER})"),
    LineFormat(
        name="fairseq_2018_log", tool="fairseq", confidence=84, first_epoch=1,
        line="| epoch 005  1000 / 8223 loss=2.17 (3.20), wps=959, …: of the update, then the mean "
             "of the epoch",
        pattern=r"\| epoch (?P<epoch>\d+):? +(?P<step>\d+) / (?P<count>\d+) "
                rf"loss=(?P<loss>{NUMBER}) \({NUMBER}\)"),
    LineFormat(
        name="fairseq_2019_log", tool="fairseq", confidence=84, meaning="running_mean",
        first_epoch=1,
        line="| epoch 001:    100 / 1000 loss=9.8, nll_loss=9.1, …: the mean of the epoch so far",
        pattern=r"\| epoch (?P<epoch>\d+): +(?P<step>\d+) / (?P<count>\d+) "
                rf"loss=(?P<loss>{NUMBER}), nll_loss="),
    LineFormat(
        name="transformer_xl_log", tool="Transformer-XL", confidence=82, meaning="window_mean",
        line="| epoch 1 step 499 | batches 499 / 16802 | … | loss 6.43 |: the mean since the last",
        pattern=rf"\| *epoch +\d+ step +(?P<step>\d+) *\|.{{0,160}}?\| *loss +(?P<loss>{NUMBER})",
        milliseconds=r"ms/batch +([\d.]+)"),
    LineFormat(
        name="word_language_model_log", tool="pytorch/examples word_language_model",
        confidence=82, meaning="window_mean", first_epoch=1,
        line="| epoch 1 |  200/ 2983 batches | … | ms/batch 7.91 | loss 7.63 |: the mean since the "
             "last",
        pattern=r"\| *epoch +(?P<epoch>\d+) *\| *(?P<step>\d+)/ *(?P<count>\d+) batches *\|"
                rf".{{0,120}}?\| *loss +(?P<loss>{NUMBER})",
        milliseconds=r"ms/batch +([\d.]+)"),
    LineFormat(
        name="dlrm_log", tool="DLRM", confidence=82, meaning="window_mean", first_epoch=0,
        line="Finished training it 1024/2048 of epoch 0, 25.3 ms/it, loss 0.45: the mean since the "
             "last",
        pattern=r"\bFinished training it (?P<step>\d+)/(?P<count>\d+) of epoch (?P<epoch>\d+), "
                rf".{{0,60}}?\bloss (?P<loss>{NUMBER})",
        milliseconds=r"[ ,]([\d.]+) ms/it"),
    LineFormat(
        name="epoch_and_batch_log", tool=None, confidence=17, least=2,
        line="Epoch:[0/1] [200/128028] … loss: 0.17, Epoch:[0/19](100/24681) loss:5.2, or [Epoch "
             "1/9 Batch 10/97] Loss=1.0",
        pattern=r"(?i)\bepoch\b[ :\[]*(?P<epoch>\d+)(?:/\d+)?\]?[ ,|]*(?:batch|episode)?[ :\[(]*"
                r"(?<=[ \[:(])(?P<step>\d+)/ *(?P<count>\d+)\b(?!%)"
                r"(?![^\n]{0,200}?\bval[a-z]*[_ ]loss)"
                rf"[^\n]{{0,200}}?(?<![A-Za-z]-)\bloss\b(?: is)?[ :=]*(?P<loss>{NUMBER})(?! *\()",
        seconds=rf"\bstep_time: ({AMOUNT})"),
    LineFormat(
        name="pytorch_tutorial_log", tool="PyTorch tutorial", confidence=14,
        meaning="window_mean",
        line="[1,  2000] loss: 2.2: epoch and batch, the mean since the last",
        pattern=rf"(?m)^\[(?P<epoch>\d+), +(?P<step>\d+)\] +loss: (?P<loss>{NUMBER})"),
    LineFormat(
        name="dllogger_log", tool="DLLogger", confidence=88,
        line='DLLL {… "type": "LOG", "step": [0, 5], "data": {"train.loss": 8.5}}: epoch and '
             "iteration, which some scripts count anew",
        pattern=r'DLLL \{.{0,200}?"type": "LOG", "step": \[(?P<epoch>\d+), ?(?P<step>\d+)'
                r'[^\]]{0,20}\], "data": \{.{0,400}?'
                rf'"(?:train[._])?(?:step_|average_)?loss": (?P<loss>{NUMBER})',
        speed=rf'"train\.(?:total|compute)_ips": ({NUMBER})'),
    LineFormat(
        name="espnet_log", tool="ESPnet", confidence=90, meaning="window_mean",
        line="2epoch:train:11-20batch: …, loss=44.369, …: the mean over these batches",
        pattern=r"\b(?P<epoch>\d+)epoch:train:\d+-(?P<step>\d+)batch(?::\d+num_updates)?: "
                rf".{{0,600}}?\bloss=(?P<loss>{NUMBER})",
        seconds=rf"\btrain_time=({AMOUNT})",
        norm=rf"\bgrad_norm=({NUMBER})"),
    LineFormat(
        name="wenet_log", tool="WeNet", confidence=90, step_base=0,
        line="TRAIN Batch 0/100 loss 12.3 loss_att … rank 0; CV Batch lines are validation",
        pattern=rf"\bTRAIN Batch (?P<epoch>\d+)/(?P<step>\d+) loss (?P<loss>{NUMBER})"),
    LineFormat(
        name="xtuner_log", tool="XTuner", confidence=86,
        line="[Train] (Epoch 1) Step 10/500  lr: …  loss: 1.234  …  tgs: 1234  …  time: 1.34s; "
             "steps count over the run",
        pattern=r"\[Train\] \(Epoch [\d?]+\) Step (?P<step>\d+)/(?P<total>\d+)\s[^\n]{0,80}?"
                rf"\bloss: (?P<loss>{NUMBER})",
        seconds=r"(?<!\w)time: ([\d.]+)s\b",
        norm=rf"\bgrad_norm: ({NUMBER})",
        rates={"tokens_per_second": r"\btgs: ([\d.]+)(?=\s|$)"},
        peak=r"\bmax_memory: ([\d.]+)(GB)"),
    LineFormat(
        name="paddleocr_log", tool="PaddleOCR", confidence=84, meaning="smoothed",
        line="epoch: [1/5], global_step: 30, lr: 0.0005, loss: 1.25, …, avg_batch_cost: 0.42 s, …: "
             "a median; until 2.1 the step of the run is called iter",
        pattern=r"\bepoch: \[\d+/\d+\], (?:global_step|iter): (?P<step>\d+), lr: [^\n]{0,600}?"
                rf"(?<!\w)loss: (?P<loss>{NUMBER})",
        seconds=rf"\b(?:avg_)?batch_cost: ({AMOUNT})",
        speed=rf"\bips: ({AMOUNT})",
        peak=r"\bmax_mem_allocated: ([\d.]+) (MB)"),
    LineFormat(
        name="paddleseg_log", tool="PaddleSeg", confidence=84, meaning="window_mean",
        line="[TRAIN] epoch: 1, iter: 20/500, loss: 2.08, lr: 0.009, batch_cost: 0.53, …: the mean "
             "since the last; iterations count over the run",
        pattern=r"\[TRAIN\] epoch: \d+, iter: (?P<step>\d+)/(?P<total>\d+), "
                rf"loss: (?P<loss>{NUMBER})",
        seconds=rf"\bbatch_cost: ({AMOUNT})",
        speed=rf"\bips: ({AMOUNT})"),
    LineFormat(
        name="torchtitan_log", tool="torchtitan", confidence=80,
        line="step: 10  loss: 3.9119  grad_norm: 1.6558  memory: …  tps: 34,574  tflops: 3.54  "
             "mfu: …; every rank prints it",
        pattern=rf"\bstep: +(?P<step>\d+)  loss: +(?P<loss>{NUMBER})  "
                r"(?:grad_norm: |memory: |.{0,80}\btps: )",
        norm=rf"  grad_norm: +({NUMBER})",
        rates={"tokens_per_second": r"  tps: +([\d,]+)(?=\s|$)",
               "tflops": rf"  tflops: +({NUMBER})"}),
    LineFormat(
        name="trl_ppo_log", tool="TRL", confidence=86, step_unit="sample",
        line="{'eps': 0, 'objective/kl': …, 'loss/policy_avg': -0.06, …, 'episode': 64, …}: the "
             "policy's loss, by episodes",
        pattern=rf"\{{[^{{}}\n]{{0,900}}?'loss/policy_avg': '?(?P<loss>{NUMBER})'?"
                r"[^{}\n]{0,900}?'episode': '?(?P<step>\d+)",
        metrics=rf"'((?:objective|loss|policy|val)/\w+|lr)': '?({NUMBER})"),
    LineFormat(
        name="llm_c_log", tool="llm.c", confidence=86,
        line="step 3/19560 | loss 9.5 (+nanz)| norm 15.8 (+nanz)| lr 9.5e-05 | 1030.12 ms | 48.1% "
             "bf16 MFU | 508,962 tok/s",
        pattern=r"\bstep +(?P<step>\d+)/(?P<total>\d+) \| (?:train )?loss +"
                rf"(?P<loss>{NUMBER})(?= |\|)",
        milliseconds=r"\| +([\d.]+) ms\b",
        norm=rf"\| norm +({NUMBER})",
        rates={"tokens_per_second": r"(?<![\d.,])([\d,]+(?:\.\d+)?) tok/s"}),
)  # fmt: skip


class FormatReader(LineLogReader):
    """The reader of a row."""

    row: LineFormat
    rates: dict[str, re.Pattern[str]]
    metrics: re.Pattern[str] | None = None
    peak: re.Pattern[str] | None = None

    def recognises(self, sample: Sample) -> int:
        if self.row.least > 1:
            found = sum(self.pattern.search(line) is not None for line in sample.lines)
            if found < self.row.least:
                return 0
        return super().recognises(sample)

    def step(self, found: re.Match[str], line: str, facts: Facts) -> int:
        for name, pattern in self.rates.items():
            if rate := pattern.search(line):
                number = float(rate[1].replace(",", ""))
                facts.setdefault("rates", {}).setdefault(name, {})[int(found["step"])] = number
        if self.peak and (peak := self.peak.search(line)):
            megabytes = float(peak[1]) * MEGABYTES[peak[2]]
            facts["peak_mb"] = max(megabytes, facts.get("peak_mb", 0.0))
        if self.metrics:
            for name, value in self.metrics.findall(line):
                facts.setdefault("metrics", {}).setdefault(name, array("d")).append(float(value))
        step, groups = int(found["step"]), self.pattern.groupindex
        if "total" in groups:
            facts["total_steps"] = int(found["total"])
        if "epoch" not in groups:
            return step
        epoch, base = int(found["epoch"]), self.row.first_epoch
        if "count" not in groups:
            return counted_on(step, epoch, None, facts)
        base = epoch_base(epoch, facts) if base is None else base
        return (epoch - base) * int(found["count"]) + step

    def extras(self, facts: Facts) -> dict[str, Any]:
        rates = {name: mean(array("d", by_step.values()))
                 for name, by_step in facts.get("rates", {}).items()}
        peak = facts.get("peak_mb")
        return {
            key: value for key, value in (
                ("total_steps", facts.get("total_steps")),
                ("throughput", rates or None),
                ("metrics", {name: statistic_values(numbers)
                             for name, numbers in facts.get("metrics", {}).items()} or None),
                ("memory", {"peak_allocated_mb": peak} if peak else None),
            ) if value is not None
        }  # fmt: skip


def _reader_of(row: LineFormat) -> type[FormatReader]:
    same = ("name", "tool", "confidence", "meaning", "step_base", "mark", "step_unit")
    patterns = ("pattern", "seconds", "milliseconds", "speed", "norm", "peak", "metrics")
    return type(row.name, (FormatReader,), {
        "__doc__": row.line,
        "row": row,
        **{name: getattr(row, name) for name in same},
        "most_confidence": row.confidence,
        **{name: re.compile(text) for name in patterns if (text := getattr(row, name))},
        "rates": {name: re.compile(text) for name, text in row.rates.items()},
    })  # fmt: skip


for _row in FORMATS:
    register(_reader_of(_row))
