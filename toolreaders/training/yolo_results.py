"""``results.csv`` of a YOLO training: the means of each epoch (``train/box_loss``) and the scores.

Columns are found by their names: each task and release of ultralytics and YOLOv5 has others.
"""

from __future__ import annotations

import re

from toolreaders.base import Sample, Source, register
from toolreaders.source import ReadingWarning
from toolreaders.training.csv_log import header_of, table_rows
from toolreaders.training.series import (
    MOST_EPOCHS,
    LossSeries,
    TrainingLogReader,
    check_count,
    to_float,
    truncated,
)
from toolreaders.training.yolo_epochs import Row, curve_of, is_version_5, scores_of


@register
class YoloResultsReader(TrainingLogReader):
    """``results.csv``: a row per epoch, headed ``epoch`` and ``train/…loss``."""

    name = "yolo_results"
    tool = "ultralytics"

    def recognises(self, sample: Sample) -> int:
        first = sample.first_line
        if sample.is_binary or len(first) > 4000:
            return 0
        names = header_of(first)[1]
        scores = any(name.startswith("metrics/") for name in names)
        return 75 if scores and "epoch" in names and _loss_columns(names) else 0

    def series(self, source: Source) -> LossSeries:
        cells = table_rows(source)
        _number, names, _text = next(cells)
        rows, scores, bad = [], {}, []
        last: tuple[int, list[str], str] = (1, names, "")
        for last in cells:
            values = dict(zip(names, map(to_float, last[1]), strict=False))
            row = _epoch_of(values, last[0], _loss_columns(names))
            if row is None or len(last[1]) < len(names):
                bad.append(last[0])
                continue
            rows.append(row)
            check_count(len(rows), MOST_EPOCHS)
            for name, value in values.items():
                if name.startswith(("metrics/", "val/")) and value is not None:
                    scores.setdefault(_score_name(name), []).append(value)
        warnings = _warnings_of(bad, last, source)
        return curve_of(
            rows,
            warnings,
            tool="YOLOv5" if is_version_5(rows) else self.tool,
            extras={"evaluation": scores_of(scores)},
        )


def _score_name(column: str) -> str:
    """``metrics/mAP50-95(M)`` → mask_map50_95, as on the console; ``val/box_loss`` stays apart."""
    name = column.removeprefix("metrics/").replace("/", "_")
    prefix = {"(m)": "mask_", "(p)": "pose_"}.get(name[-3:], "")
    name = re.sub(r"\([a-z]\)$", "", name).replace("map_0.5:0.95", "map50_95")
    return prefix + name.replace("map_0.5", "map50").replace("-", "_")


def _loss_columns(names: list[str]) -> list[str]:
    return [name for name in names if name.startswith("train/") and name.endswith("loss")]


def _epoch_of(values: dict[str, float | None], line: int, columns: list[str]) -> Row | None:
    losses = {name.removeprefix("train/"): value for name in columns
              if (value := values.get(name)) is not None}  # fmt: skip
    epoch = values.get("epoch")
    if epoch is None or len(losses) < len(columns):
        return None
    return Row(int(epoch), line, losses)


def _warnings_of(
    bad: list[int], last: tuple[int, list[str], str], source: Source
) -> list[ReadingWarning]:
    """Warnings for damaged rows; the losses stand before what a cut off last row may lack."""
    warnings = []
    if bad[-1:] == [last[0]] and not source.ends_with_newline():
        bad = bad[:-1]
        warnings.append(truncated(last[0], last[2]))
    if bad:
        message = f"{len(bad)} rows are damaged and were left out."
        warnings.append(ReadingWarning("damaged_lines", message, bad[0]))
    return warnings
