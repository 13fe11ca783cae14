"""Iteration lines of Megatron-LM, MindSpeed, MindSpeed-LLM (also FSDP2), FlagScale and forks.

``iteration  5/ 5000 | … | elapsed time per iteration (ms): X | … lm loss: 1.0E+01 | …`` as printed
by Megatron-LM megatron/training/training.py; steps count from 1, a loss is the mean since the last
line.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from itertools import islice
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.columns import Column, at_indices, mean, ordered
from toolreaders.masking import mask_tree
from toolreaders.source import ReadError, ReadingWarning
from toolreaders.training.grad_norms import GradientNorms, explained_by_log
from toolreaders.training.megatron_columns import Columns, collect
from toolreaders.training.megatron_fields import (
    ITERATION,
    TFLOPS,
    fields_of,
    loss_key,
    milliseconds,
    names_of,
    records_in,
)
from toolreaders.training.megatron_start import OPENING, arguments_of, started
from toolreaders.training.run_selection import select
from toolreaders.training.series import (
    LossSeries,
    TrainingLogReader,
    assemble,
    time_values,
    truncated,
    usual_interval,
)

RECOGNISED = re.compile(r"iteration[ \t=:]*\d+/\s*\d+\s*\|")


@register
class MegatronReader(TrainingLogReader):
    """Megatron-style iteration lines."""

    name = "megatron_log"
    is_console = True
    tool = "Megatron-LM"
    version = "6"

    def recognises(self, sample: Sample) -> int:
        return 90 if RECOGNISED.search(sample.text) else 0

    def series(self, source: Source) -> LossSeries:
        columns = collect(source)
        if not columns.steps:
            return _without_loss(source, columns)
        chosen = select(columns.steps, columns.losses, columns.ranks)
        selected, warnings = chosen.selected, chosen.warnings
        rates = columns.beside.pop("tflops").keep(selected)
        steps, losses = at_indices(columns.steps, selected), at_indices(columns.losses, selected)
        if columns.cut is not None:
            warnings.append(truncated(_last_line(source), columns.cut))
        if columns.skipped or columns.without_loss:
            warnings.append(_skipped(columns, usual_interval(ordered(steps))))
        if columns.damaged:
            message = f"{columns.damaged} iterations have no number as their loss."
            warnings.append(ReadingWarning("damaged_lines", message, columns.first_damaged))
        return assemble(
            steps,
            losses,
            meaning="window_mean",
            step_base=0 if len(steps) and steps[0] == 0 else 1,
            line_of=lambda index: next(islice(_lines_of(source), selected[index], None), None),
            warnings=warnings,
            tool=self.tool,
            unprovable=chosen.unprovable,
            runs=chosen.runs,
            resumed=chosen.resumed,
            norms=GradientNorms.of(
                columns.norms.keep(selected),
                lambda: explained_by_log(
                    source, at_indices(array("q", _lines_of(source)), selected)),
            ),
            columns={name: column.keep(selected) for name, column in columns.beside.items()},
            extras=_with_start(
                _extras(columns, at_indices(columns.times, selected), rates), source),
        )


def _with_start(extras: dict[str, Any], source: Source) -> dict[str, Any]:
    """The extras, what the run printed at its start, and tokens/s where its arguments tell how many
    tokens every sample has: sequences of varying length have no such number."""
    values, lines = started(source)
    if (found := arguments_of(source, until=ITERATION)).values:
        values["arguments"], lines = mask_tree(found.values), {**found.lines, **lines}
    given, throughput = values.get("arguments", {}), extras["throughput"] or {}
    length, varies = given.get("seq_length", ""), given.get("variable_seq_lengths") == "True"
    if length.isdecimal() and not varies and "samples_per_second" in throughput:
        throughput |= {
            "sequence_length": int(length),
            "derived_tokens_per_second": throughput["samples_per_second"] * int(length)}
    return extras | {"started": values, "lines": lines}


def _without_loss(source: Source, columns: Columns) -> LossSeries:
    """What iterations tell that were not skipped, are printed to their end and have no loss: the
    log has no column for it. ReadError ``no_loss_points`` where there is none of them."""
    steps, lines, times = array("q"), array("q"), array("d")
    norms, rates = Column(), Column()
    line, was_skipped = 1, False
    for chunk in source.chunks():
        for match, _rank, text in records_in(chunk):
            fields = fields_of(text)
            skipped = fields.get(b"numberofskippediterations")
            was_skipped = was_skipped or bool(skipped)
            if skipped != 0 or loss_key(names_of(text)) is not None:
                continue
            steps.append(int(match[1]))
            lines.append(line + chunk.count(b"\n", 0, match.start()))
            times.append(milliseconds(fields))
            norms.append(fields.get(b"gradnorm"))
            rates.append(fields.get(TFLOPS))
        line += chunk.count(b"\n")
    if not steps:
        raise ReadError("no_loss_points", _no_loss(columns, was_skipped=was_skipped))
    printed = GradientNorms.of(norms, lambda: explained_by_log(source, lines))
    message = f"The log prints no loss column: none of its {len(steps)} iterations names a loss."
    warnings = [ReadingWarning("no_loss_points", message, lines[0])]
    if printed:
        warnings += printed.warnings(steps, lines.__getitem__)
    extras = _with_start(_extras(columns, times, rates), source) | {"skipped_iterations": None}
    return LossSeries(
        array("q"), array("d"), usual_interval(ordered(steps)), "window_mean", 1,
        warnings, tool=MegatronReader.tool, norms=printed,
        extras={key: value for key, value in extras.items() if value is not None},
    )  # fmt: skip


def _no_loss(columns: Columns, *, was_skipped: bool) -> str:
    if was_skipped:
        return (
            f"None of {columns.iterations} iterations prints a loss; "
            "fp16 skips an iteration whose gradients overflow."
        )
    return "No iteration of the log prints a loss."


def _lines_of(source: Source) -> Iterator[int]:
    """Line of each record with a loss; a second pass, only for warnings."""
    line = 1
    for chunk in source.chunks():
        for match, _rank, text in records_in(chunk):
            if loss_key(fields_of(text)) is not None:
                yield line + chunk.count(b"\n", 0, match.start())
        line += chunk.count(b"\n")


def _last_line(source: Source) -> int:
    """Number of the file's last line."""
    ends = sum(chunk.count(b"\n") for chunk in source.chunks())
    return ends if source.ends_with_newline() else ends + 1


def _skipped(columns: Columns, interval: int | None) -> ReadingWarning:
    """The column sums what its interval skipped; a log without it shows only missing losses."""
    records = columns.iterations
    missing = f"{columns.without_loss} of {records} records print no loss"
    if columns.skipped is None:
        message = f"{missing}: their gradients overflowed and the update was skipped."
    elif not columns.skipped:
        message = f"{missing}, although no iteration was skipped."
    else:
        among = f" of {records * interval}" if interval else ""
        message = f"{columns.skipped}{among} iterations were skipped: their gradients overflowed"
        message += f"; {missing}." if columns.without_loss else "."
    return ReadingWarning("skipped_iterations", message)


def _extras(
    columns: Columns, milliseconds_of_records: array[float], rates: Column
) -> dict[str, Any]:
    times = time_values(milliseconds_of_records)
    throughput: dict[str, float] = {}
    if times and columns.batch:
        throughput["samples_per_second"] = columns.batch * 1000 / times["mean"]
        throughput["global_batch_size"] = columns.batch
    if rates.known:
        throughput["tflops"] = mean(rates.known)
    memory = None
    if columns.memory:
        memory = {
            "max_allocated_mb": {str(rank): mb for rank, mb in sorted(columns.memory.items())},
            "peak_allocated_mb": max(columns.memory.values()),
            "peak_reserved_mb": max(columns.reserved.values(), default=None),
        }
    return {
        "total_steps": columns.total_steps,
        "iteration_time_ms": times,
        "throughput": throughput or None,
        "memory": memory,
        "skipped_iterations": (
            columns.without_loss if columns.skipped is None else columns.skipped) or None,
    }


@register
class MegatronArgumentsReader(Reader):
    """A log that holds the arguments but no iteration; an iteration may come late."""

    name = "megatron_arguments"
    kind = "training_arguments"
    tool = "Megatron-LM"
    most_confidence = 60

    def recognises(self, sample: Sample) -> int:
        return 60 if OPENING.search(sample.text) else 0

    def read(self, source: Source) -> Reading:
        if any(ITERATION.search(chunk) for chunk in source.chunks()):
            return MegatronReader().read(source)
        found = arguments_of(source)
        message = "The run printed its arguments but no iteration."
        warnings = [ReadingWarning("no_iterations", message)]
        if not found.is_closed:
            message = "The list of arguments has no end: some may be missing."
            warnings.append(ReadingWarning("truncated_record", message))
        values: dict[str, Any] = {"arguments": mask_tree(found.values), "lines": found.lines}
        return self.reading(values, warnings=warnings)
