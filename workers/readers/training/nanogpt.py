"""nanoGPT: ``iter N: loss X, time Yms, mfu Z%``; points, steps from 0 (karpathy/nanoGPT train.py).

``step N: train loss A, val loss B`` lines are evaluations, not points of the curve.
"""

from __future__ import annotations

import re
from array import array

from workers.readers.base import Sample, Source, register
from workers.readers.columns import as_array, kept_of
from workers.readers.training.line_prefixes import label_of, without_prefix
from workers.readers.training.run_selection import Labels, select
from workers.readers.training.series import (
    LossSeries,
    TrainingLogReader,
    assemble,
    check_count,
    time_values,
    to_float,
    truncated,
)

POINT = re.compile(r"\biter (\d+): loss (\S+), time (\d+(?:\.\d*)?)ms")
OPENED = re.compile(r"\biter \d+")
EVALUATION = re.compile(r"\bstep (\d+): train loss (\S+), val loss (\S+)")
MAX_ITERS = re.compile(r"^(?:Overriding: )?max_iters = (\d+)")


@register
class NanoGptReader(TrainingLogReader):
    """nanoGPT console."""

    name = "nanogpt_log"
    is_console = True
    tool = "nanoGPT"

    def recognises(self, sample: Sample) -> int:
        return 90 if POINT.search(sample.text) else 0

    def series(self, source: Source) -> LossSeries:
        steps, lines, losses, times = array("q"), array("q"), array("d"), array("d")
        ranks = Labels()
        total, last, evaluations = None, (1, ""), []
        for number, text in source.lines():
            last = (number, text) if text.strip() else last
            if found := POINT.search(text):
                loss = to_float(found[2])
                if loss is not None:
                    steps.append(int(found[1]))
                    losses.append(loss)
                    times.append(float(found[3]))
                    lines.append(number)
                    ranks.append(label_of(text))
                    check_count(len(lines))
            elif found := EVALUATION.search(text):
                evaluations.append((int(found[1]), to_float(found[2]), to_float(found[3])))
            elif found := MAX_ITERS.match(without_prefix(text)):
                total = int(found[1]) + 1  # the last one is trained and printed too
        warnings = []
        if OPENED.search(last[1]) and not POINT.search(last[1]):
            warnings.append(truncated(*last))
        chosen = select(as_array(steps), as_array(losses), ranks)
        kept = chosen.kept
        return assemble(
            kept_of(as_array(steps), kept),
            kept_of(as_array(losses), kept),
            meaning="point",
            step_base=0,
            line_of=lambda index: lines[int(kept[index])],
            warnings=chosen.warnings + warnings,
            tool=self.tool,
            unprovable=chosen.unprovable,
            runs=chosen.runs,
            extras={
                "total_steps": total,
                "iteration_time_ms": time_values(kept_of(as_array(times), kept)),
                "evaluation": _evaluation(evaluations),
            },
        )


def _evaluation(rows: list[tuple[int, float | None, float | None]]) -> dict | None:
    if not rows:
        return None
    step, train, validation = rows[-1]
    return {"count": len(rows), "step": step, "train_loss": train, "val_loss": validation}
