"""The console of a YOLO training: ultralytics 8 and later, YOLOv5 and its relatives.

``Epoch  GPU_mem  box_loss  cls_loss  dfl_loss  Instances  Size`` opens a table whose
row is printed again and again while the epoch runs; its losses are means of the epoch so far.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from toolreaders.base import Sample, Source, register
from toolreaders.source import ReadingWarning
from toolreaders.training.series import (
    MOST_EPOCHS,
    LossSeries,
    TrainingLogReader,
    check_count,
    time_values,
    to_float,
    truncated,
)
from toolreaders.training.yolo_epochs import Row, curve_of, is_version_5, scores_of

HEADER = re.compile(r"^\s*Epoch\s+gpu_mem\s+(?P<losses>\S.*?)\s+\S+\s+(?:img_)?size\s*$", re.I)
VALIDATION = re.compile(r"^\s*(?:Class\s+Images\s+\S+|classes)\s+(?P<names>.+?)(?::\s+\d+%|:?\s*$)")
ALL = re.compile(r"^\s*all\s+(?P<values>[\d.].*)$")
EPOCH = re.compile(r"(\d+)/(\d+)")
ROW = re.compile(r"^\s*\d+/\d+\s+[\d.]+[GM]?B?\s", re.MULTILINE)
MEMORY = re.compile(r"([\d.]+)([GM]?)B?")
PROGRESS = re.compile(r"\b(?P<done>\d+)/(?P<count>\d+)\b")
SPEED = re.compile(r"([\d.]+)(it/s|s/it)")
MEGABYTES = {"G": 1e9 / 2**20, "M": 1e6 / 2**20, "": 1e9 / 2**20}
OLD_COLUMNS = ("box", "obj", "cls", "total")
OLD_CELLS = 15  # of results.txt, which has no header


@dataclass
class Table:
    """What one pass over a console log found."""

    names: tuple[str, ...] = ()
    rows: list[Row] = field(default_factory=list)
    scores: dict[str, list[float]] = field(default_factory=dict)
    score_names: list[str] = field(default_factory=list)
    last: tuple[int, str] = (1, "")


@register
class YoloLogReader(TrainingLogReader):
    """The console of a YOLO training, and the header-less results.txt of early YOLOv5."""

    name = "yolo_log"
    tool = "ultralytics"
    most_confidence = 92

    def recognises(self, sample: Sample) -> int:
        table = Table()
        if not ROW.search(sample.text):
            return 0
        for number, line in enumerate(sample.lines, 1):
            _take(table, number, line)
            if table.rows:
                return self.most_confidence
        return 0

    def series(self, source: Source) -> LossSeries:
        table = Table()
        for number, line in source.lines():
            _take(table, number, line)
            check_count(len(table.rows), MOST_EPOCHS)
        warnings = _drop_unfinished(table, source)
        return curve_of(
            table.rows,
            warnings,
            tool="YOLOv5" if is_version_5(table.rows) else self.tool,
            extras={
                "evaluation": scores_of(table.scores),
                "iteration_time_ms": time_values(
                    [row.milliseconds for row in table.rows if row.milliseconds]),
                "memory": _memory(table.rows),
            },
        )  # fmt: skip


def _take(table: Table, number: int, line: str) -> None:
    """Add what the line says; a row replaces the one of the same epoch just before it."""
    if line.strip():
        table.last = (number, line)
    if found := HEADER.match(line):
        table.names = tuple(found["losses"].split())
    elif found := VALIDATION.match(line):
        table.score_names = _score_names(found["names"])
    elif found := ALL.match(line):
        _add_scores(table, found["values"].split())
    elif (row := _row(number, line, table.names)) is not None:
        if table.rows and table.rows[-1].epoch == row.epoch and not table.rows[-1].is_done:
            table.rows.pop()
        if not (table.rows and table.rows[-1].epoch == row.epoch and not row.is_done):
            table.rows.append(row)


def _row(number: int, line: str, names: tuple[str, ...]) -> Row | None:
    cells = line.split()
    if not names and len(cells) == OLD_CELLS:
        names = OLD_COLUMNS
    wanted = 2 + len(names)
    if not names or len(cells) < wanted or not (counted := EPOCH.fullmatch(cells[0])):
        return None
    memory = MEMORY.fullmatch(cells[1])
    losses = [to_float(cell) for cell in cells[2:wanted]]
    is_sized = len(cells) > wanted + 1 and cells[wanted + 1].rstrip(":").isdigit()
    if memory is None or None in losses or not is_sized:
        return None
    rest = " ".join(cells[wanted:])
    progress = PROGRESS.search(rest)
    return Row(
        int(counted[1]),
        number,
        {name: loss for name, loss in zip(names, losses, strict=True) if loss is not None},
        float(memory[1]) * MEGABYTES[memory[2]],
        _milliseconds(rest),
        progress is None or progress["done"] == progress["count"],
    )


def _milliseconds(text: str) -> float | None:
    """Time of one iteration in ms; tqdm prints iterations per second, slow ones the other way."""
    found = SPEED.search(text)
    if found is None or not (value := to_float(found[1])):
        return None
    return 1000 / value if found[2] == "it/s" else 1000 * value


def _score_names(text: str) -> list[str]:
    """``Box(P R mAP50 mAP50-95) Mask(P …)`` → box_p …; box scores go without their prefix."""
    names, prefix = [], ""
    for cell in text.split():
        if "(" in cell:
            opened = cell.split("(")[0].lower()
            prefix = "" if opened == "box" else f"{opened}_"
        name = cell.split("(")[-1].strip("):").lower().replace("@", "").replace(".", "")
        named = {"p": "precision", "r": "recall", "map5": "map50", "map5:95": "map50_95"}
        names.append(prefix + named.get(name, name.replace("-", "_")))
    return names


def _add_scores(table: Table, cells: list[str]) -> None:
    """``cells``: numbers of images and instances, except where images are classified; scores."""
    count = len(table.score_names)
    values = [to_float(cell) for cell in cells[-count:]]
    if count and len(values) == count and None not in values:
        for name, value in zip(table.score_names, values, strict=True):
            table.scores.setdefault(name, []).append(float(value or 0))


def _memory(rows: list[Row]) -> dict[str, float] | None:
    """Peak of what the allocator reserved, in MB of 2^20 bytes; YOLO prints GB of 10^9."""
    peak = max((row.megabytes for row in rows), default=0.0)
    return {"peak_reserved_mb": peak} if peak else None


def _drop_unfinished(table: Table, source: Source) -> list[ReadingWarning]:
    """Leave out epochs that were not run to their end: their means are of fewer batches."""
    number, line = table.last
    cut = bool(table.rows) and table.rows[-1].line == number and not source.ends_with_newline()
    unfinished = [row for row in table.rows if not row.is_done]
    if cut and table.rows[-1].is_done and not PROGRESS.search(line.split(":")[-1]):
        unfinished.append(table.rows[-1])
    left_out = {id(row) for row in unfinished}
    table.rows = [row for row in table.rows if id(row) not in left_out]
    if not unfinished:
        return []
    if cut and unfinished[-1].line == number:
        return [truncated(number, line)]
    message = f"Epoch {unfinished[0].epoch} did not run to its end and is left out."
    return [ReadingWarning("epoch_unfinished", message, unfinished[0].line)]
