"""Training logs of speech toolkits: ESPnet, FunASR and WeNet.

They number batches within an epoch and do not say how many there are, so steps are counted on from
the last batch that was printed.
"""

from __future__ import annotations

import re

from toolreaders.base import register
from toolreaders.figures import AMOUNT, NUMBER
from toolreaders.training.line_logs import Facts, LineLogReader
from toolreaders.training.text_log import counted_on


@register
class EspnetReader(LineLogReader):
    """``2epoch:train:11-20batch: …, loss=44.369, …``: the mean over these batches."""

    name = "espnet_log"
    tool = "ESPnet"
    meaning = "window_mean"
    confidence = most_confidence = 90
    pattern = re.compile(
        r"\b(?P<epoch>\d+)epoch:train:\d+-(?P<step>\d+)batch(?::\d+num_updates)?: "
        rf".{{0,600}}?\bloss=(?P<loss>{NUMBER})"
    )
    seconds = re.compile(rf"\btrain_time=({AMOUNT})")
    norm = re.compile(rf"\bgrad_norm=({NUMBER})")

    def step(self, found: re.Match[str], line: str, facts: Facts) -> int:
        return counted_on(int(found["step"]), int(found["epoch"]), None, facts)


@register
class WenetReader(LineLogReader):
    """``TRAIN Batch 0/100 loss 12.3 loss_att … rank 0``; ``CV Batch`` lines are validation."""

    name = "wenet_log"
    tool = "WeNet"
    step_base = 0
    confidence = most_confidence = 90
    pattern = re.compile(
        rf"\bTRAIN Batch (?P<epoch>\d+)/(?P<step>\d+) loss (?P<loss>{NUMBER})"
    )

    def step(self, found: re.Match[str], line: str, facts: Facts) -> int:
        return counted_on(int(found["step"]), int(found["epoch"]), None, facts)
