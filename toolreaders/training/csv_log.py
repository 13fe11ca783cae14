"""Training logs as CSV or TSV: own loggers, Lightning ``metrics.csv`` (sparse cells), Keras
``CSVLogger`` (epochs), exports of TensorBoard (``Wall time,Step,Value``) and wandb."""

from __future__ import annotations

import csv
import re
from array import array
from collections.abc import Iterator

from toolreaders.base import Sample, Source, register
from toolreaders.columns import Column, at_indices
from toolreaders.source import ReadError, ReadingWarning
from toolreaders.training.grad_norms import GradientNorms
from toolreaders.training.run_conditions import columns_named
from toolreaders.training.run_selection import select
from toolreaders.training.series import (
    LossSeries,
    TrainingLogReader,
    assemble,
    base_of,
    check_count,
    to_float,
    truncated,
)
from toolreaders.training.tensorboard import loss_tag

STEPS = ("step", "global_step", "trainer/global_step", "iter", "iteration", "iterations", "steps")
STEPS += ("current_steps", "global step", "_step", "train_step")
LOSSES = ("train_loss_step", "train/loss_step", "train_loss", "train/loss", "loss/train")
LOSSES += ("training_loss", "loss", "lm_loss", "lm loss", "train/lm_loss", "total_loss")
LOSSES += ("train/total_loss", "batch_loss", "train loss", "training loss")
NORMS = ("grad_norm", "train/grad_norm", "train_grad_norm", "grad norm")
EPOCHS = ("epoch", "epochs")
UNNAMED = {"wall time", "step", "value"}

TAG = re.compile(r"-tag-(.+)\.csv$", re.IGNORECASE)
"""TensorBoard names a curve that it exports in the file's name alone: run-a-tag-train_loss.csv."""
NO_NAME = (
    "The export of TensorBoard does not name its values{tag}: only its file name would, as in "
    "run-1-tag-train_loss.csv, or the name loss in place of Value."
)


def header_of(line: str) -> tuple[str, list[str]]:
    """Separator and lower-case names of a header line."""
    separator = max(",\t;", key=line.count)
    cells = next(csv.reader([line], delimiter=separator), [])
    return separator, [cell.strip().lower() for cell in cells]


def columns_of(names: list[str]) -> tuple[int, int, bool] | None:
    """(step column, loss column, counts epochs) of a training log, or None."""
    loss = next((names.index(name) for name in LOSSES if name in names), None)
    if loss is None:
        named = [i for i, name in enumerate(names) if re.search(r" - (?:train/)?loss$", name)]
        loss = named[0] if named else None
    if loss is None and is_unnamed(names):
        loss = names.index("value")
    step = next((names.index(name) for name in STEPS if name in names), None)
    epoch = next((names.index(name) for name in EPOCHS if name in names), None)
    if loss is None or (step is None and epoch is None):
        return None
    return (step, loss, False) if step is not None else (epoch or 0, loss, True)


def is_unnamed(names: list[str]) -> bool:
    """Whether it is the header of a curve that TensorBoard exports."""
    return set(names) == UNNAMED


def _require_loss_tag(source: Source) -> None:
    """ReadError ``unnamed_values`` where the file's name does not say that the curve is a loss."""
    found = TAG.search(source.path.name)
    tag = found[1] if found else ""
    if loss_tag([tag.replace("_", "/", 1), tag]) is None:
        raise ReadError("unnamed_values", NO_NAME.format(tag=f" as a loss ({tag})" if tag else ""))


@register
class CsvLogReader(TrainingLogReader):
    """A table with a step column and a loss column."""

    name = "csv_training_log"
    version = "5"
    tool = "CSV"

    def recognises(self, sample: Sample) -> int:
        first = sample.first_line
        if len(first) > 4000 or not any(mark in first for mark in ",\t;"):
            return 0
        return 60 if columns_of(header_of(first)[1]) else 0

    def series(self, source: Source) -> LossSeries:
        rows = table_rows(source)
        _number, names, _text = next(rows)
        if is_unnamed(names):
            _require_loss_tag(source)
        step_at, loss_at, epochs = columns_of(names) or (0, 0, False)
        steps, lines, bad = array("q"), array("q"), array("q")
        losses, norms = array("d"), Column()
        norm_at = next((names.index(name) for name in NORMS if name in names), None)
        beside = {name: (names.index(column), Column())
                  for name, column in columns_named(names).items()}
        last: tuple[int, list[str], str] = (1, names, "")
        for last in rows:
            number, cells, _text = last
            short = len(cells) <= max(step_at, loss_at)
            step = None if short else to_float(cells[step_at])
            loss = None if short else to_float(cells[loss_at])
            if step is not None and loss is not None:
                steps.append(int(step))
                losses.append(loss)
                has_norm = norm_at is not None and norm_at < len(cells)
                norms.append(to_float(cells[norm_at]) if has_norm else None)
                for at, column in beside.values():
                    column.append(to_float(cells[at]) if at < len(cells) else None)
                lines.append(number)
                check_count(len(lines))
            elif short or cells[loss_at] not in ("", "None", "null"):
                bad.append(number)
        warnings: list[ReadingWarning] = []
        cut = len(last[1]) < len(names) or loss_at == len(names) - 1
        if cut and not source.ends_with_newline():
            warnings.append(truncated(last[0], last[2]))
            if lines and lines[-1] == last[0]:
                del steps[-1], losses[-1], lines[-1]
                for column in (norms, *(column for _at, column in beside.values())):
                    column.pop()
            bad = [number for number in bad if number != last[0]]
        if bad:
            message = f"{len(bad)} rows are damaged and were left out."
            warnings.append(ReadingWarning("damaged_lines", message, bad[0]))
        chosen = select(steps, losses)
        selected = chosen.selected
        own = at_indices(steps, selected)
        return assemble(
            own,
            at_indices(losses, selected),
            meaning="point",
            step_base=base_of(own, 1),
            line_of=lambda index: lines[selected[index]],
            warnings=chosen.warnings + warnings,
            unprovable=chosen.unprovable,
            runs=chosen.runs,
            resumed=chosen.resumed,
            norms=GradientNorms.of(norms.keep(selected)),
            columns={name: column.keep(selected) for name, (_at, column) in beside.items()},
            tool="Lightning" if "train_loss_step" in names else self.tool,
            step_unit="epoch" if epochs else "step",
            extras={"evaluation": _last_of(source, names)},
        )


def table_rows(source: Source) -> Iterator[tuple[int, list[str], str]]:
    """(line, cells, text) of non-empty rows; the header's cells are lower case."""
    separator = None
    for number, text in source.lines():
        if not text.strip():
            continue
        if separator is None:
            separator, names = header_of(text)
            yield number, names, text
        else:
            cells = next(csv.reader([text], delimiter=separator), [])
            yield number, [cell.strip() for cell in cells], text


def _last_of(source: Source, names: list[str]) -> dict[str, float] | None:
    """Last value of every validation column."""
    wanted = [i for i, name in enumerate(names)
              if name.startswith(("val", "test", "eval")) and name not in UNNAMED]  # fmt: skip
    found: dict[str, float] = {}
    for _number, cells, _text in table_rows(source) if wanted else ():
        for index in wanted:
            value = to_float(cells[index]) if index < len(cells) else None
            if value is not None:
                found[names[index]] = value
    return found or None
