"""Training logs of scripts that name a batch or an epoch beside the loss.

PyTorch's tutorials (``[1,  2000] loss: 2.2``, ``| epoch 1 | 200/ 2983 batches | … | loss 7.63``),
Keras (``Epoch 1/5`` and a progress bar), fairseq (``train_inner | {…}`` or ``num_updates=``), DLRM
(``Finished training it 1024/2048 of epoch 0``), DLLogger, an epoch and a batch in brackets
(``Epoch:[0/1] [200/128028] … loss: 0.17``, ``[Epoch 1/9 Batch 10/97] Loss=1.0``), and one line per
epoch (``Epoch 3: train_loss=0.9``).
"""

from __future__ import annotations

import re

from toolreaders.base import Sample, register
from toolreaders.figures import AMOUNT, NUMBER
from toolreaders.source import ReadingWarning
from toolreaders.training.line_logs import (
    Facts,
    LineLogReader,
    doubt_steps,
    epoch_base,
    warn,
)
from toolreaders.training.line_prefixes import plain_lines
from toolreaders.training.text_log import counted_on

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
    norm = re.compile(rf"\bgnorm\"?(?:: |=)\"?({NUMBER})")


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
class TutorialReader(LineLogReader):
    """``[epoch, batch] loss: v`` of PyTorch's tutorial: the mean since the last line."""

    name = "pytorch_tutorial_log"
    tool = "PyTorch tutorial"
    meaning = "window_mean"
    confidence = most_confidence = 14
    pattern = re.compile(rf"^\[(?P<epoch>\d+), +(?P<step>\d+)\] +loss: (?P<loss>{NUMBER})", re.M)

    def step(self, found: re.Match[str], line: str, facts: Facts) -> int:
        return counted_on(int(found["step"]), int(found["epoch"]), None, facts)


class EpochAndBatchReader(LineLogReader):
    """Lines with the groups ``epoch``, ``step`` within it and ``count``, its number of steps;
    ``first_epoch`` where the tool is known to count from it."""

    first_epoch: int | None = None

    def step(self, found: re.Match[str], line: str, facts: Facts) -> int:
        epoch = int(found["epoch"])
        base = self.first_epoch if self.first_epoch is not None else epoch_base(epoch, facts)
        return (epoch - base) * int(found["count"]) + int(found["step"])


@register
class WordModelReader(EpochAndBatchReader):
    """``| epoch 1 |  200/ 2983 batches | … | ms/batch 7.91 | loss 7.63 |``; mean since the last."""

    name = "word_language_model_log"
    tool = "pytorch/examples word_language_model"
    first_epoch = 1
    meaning = "window_mean"
    confidence = most_confidence = 82
    pattern = re.compile(
        r"\| *epoch +(?P<epoch>\d+) *\| *(?P<step>\d+)/ *(?P<count>\d+) batches *\|"
        rf".{{0,120}}?\| *loss +(?P<loss>{NUMBER})"
    )
    milliseconds = re.compile(r"ms/batch +([\d.]+)")


@register
class TransformerXlReader(LineLogReader):
    """``| epoch 1 step 499 | batches 499 / 16802 | … | loss 6.43 |``; mean since the last."""

    name = "transformer_xl_log"
    tool = "Transformer-XL"
    meaning = "window_mean"
    confidence = most_confidence = 82
    pattern = re.compile(
        r"\| *epoch +\d+ step +(?P<step>\d+) *\|.{0,160}?"
        rf"\| *loss +(?P<loss>{NUMBER})"
    )
    milliseconds = re.compile(r"ms/batch +([\d.]+)")


@register
class DlrmReader(EpochAndBatchReader):
    """``Finished training it 1024/2048 of epoch 0, 25.3 ms/it, loss 0.45``; mean since the last."""

    name = "dlrm_log"
    tool = "DLRM"
    first_epoch = 0
    meaning = "window_mean"
    confidence = most_confidence = 82
    pattern = re.compile(
        r"\bFinished training it (?P<step>\d+)/(?P<count>\d+) of epoch (?P<epoch>\d+), "
        rf".{{0,60}}?\bloss (?P<loss>{NUMBER})"
    )
    milliseconds = re.compile(r"[ ,]([\d.]+) ms/it")


@register
class DlLoggerReader(LineLogReader):
    """NVIDIA's DLLogger: ``DLLL {… "type": "LOG", "step": [0, 5], "data": {"train.loss": 8.5}}``;
    the numbers of a step are the epoch and the iteration, in some scripts counted anew."""

    name = "dllogger_log"
    tool = "DLLogger"
    confidence = most_confidence = 88
    pattern = re.compile(
        r'DLLL \{.{0,200}?"type": "LOG", "step": \[(?P<epoch>\d+), ?(?P<step>\d+)[^\]]{0,20}\], '
        rf'"data": \{{.{{0,400}}?"(?:train[._])?(?:step_|average_)?loss": (?P<loss>{NUMBER})'
    )
    speed = re.compile(rf'"train\.(?:total|compute)_ips": ({NUMBER})')

    def step(self, found: re.Match[str], line: str, facts: Facts) -> int:
        return counted_on(int(found["step"]), int(found["epoch"]), None, facts)


@register
class BracketReader(EpochAndBatchReader):
    """An epoch and a batch of so many, in brackets, before the loss."""

    name = "epoch_and_batch_log"
    tool = None
    confidence = most_confidence = 17
    pattern = re.compile(
        r"\bepoch\b[ :\[]*(?P<epoch>\d+)(?:/\d+)?\]?[ ,|]*(?:batch|episode)?[ :\[]*"
        r"(?<=[ \[:])(?P<step>\d+)/ *(?P<count>\d+)\b(?!%)(?![^\n]{0,200}?\bval[a-z]*[_ ]loss)"
        rf"[^\n]{{0,200}}?(?<![A-Za-z]-)\bloss\b(?: is)?[ :=]*(?P<loss>{NUMBER})(?! *\()",
        re.IGNORECASE,
    )
    seconds = re.compile(rf"\bstep_time: ({AMOUNT})")

    def recognises(self, sample: Sample) -> int:
        found = sum(self.pattern.search(line) is not None for line in sample.lines)
        return self.confidence if found >= LEAST and not sample.is_broken_json else 0


@register
class EpochLineReader(LineLogReader):
    """One line per epoch with its number and its training loss."""

    name = "epoch_training_log"
    version = "4"
    tool = None
    meaning = "window_mean"
    step_unit = "epoch"
    confidence = most_confidence = 12
    pattern = re.compile(
        r"\bepoch\b[ :=#\[(]*(?P<epoch>\d+)(?:\s*/\s*\d+)?[^\n]{0,80}?"
        r"(?<!val_)(?<!val )(?<!test )(?<![A-Za-z]-)\b(?:avg |average |mean )?"
        r"(?:(?:train(?:ing)?|total)[-_ ])?loss\b"
        rf"[\s:=]*(?P<loss>{NUMBER})(?![A-Za-z/])",
        re.IGNORECASE,
    )

    def recognises(self, sample: Sample) -> int:
        if sample.is_broken_json:
            return 0
        epochs = {found["epoch"] for line in sample.lines if (found := self.pattern.search(line))}
        return self.confidence if len(epochs) >= LEAST else 0

    def step(self, found: re.Match[str], line: str, facts: Facts) -> int:
        return int(found["epoch"])
