"""MAML's training log (ModelZoo-TensorFlow): accuracies before and after adaptation, no loss."""

from __future__ import annotations

import re

from toolreaders.base import Reading, Sample, Source, register
from toolreaders.source import ReadError, ReadingWarning
from toolreaders.training.series import LossSeries, TrainingLogReader

MAML = re.compile(r"^Iteration (\d+): ([\d.]+|nan), ([\d.]+|nan)\s*$")


@register
class MamlReader(TrainingLogReader):
    """MAML (TensorFlow): ``Iteration N: before, after`` are accuracies, not losses."""

    name = "maml_log"
    tool = "MAML"

    def recognises(self, sample: Sample) -> int:
        return 60 if sum(bool(MAML.match(line)) for line in sample.lines) >= 3 else 0

    def series(self, source: Source) -> LossSeries:
        raise ReadError("no_loss_points", "The log prints accuracies, no loss.")

    def read(self, source: Source) -> Reading:
        rows = [found for _number, line in source.lines() if (found := MAML.match(line))]
        last = rows[-1]
        values = {
            "loss": None,
            "points": len(rows),
            "first_step": int(rows[0][1]),
            "last_step": int(last[1]),
            "metrics": {"accuracy_before": float(last[2]), "accuracy_after": float(last[3])},
        }
        message = "The log prints accuracies before and after adaptation, no loss."
        return self.reading(values, warnings=[ReadingWarning("no_loss_points", message)])
