"""All records of a Megatron log in columns of numbers, collected in one pass.

Of lines that are printed alike, a million are read with one pattern built from their own layout.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

from toolreaders.columns import Column, doubles, integers
from toolreaders.source import Source
from toolreaders.training.line_prefixes import bytes_label_of
from toolreaders.training.megatron_fields import (
    ITERATION,
    SIGN,
    fields_of,
    key_of,
    line_end,
    loss_key,
    milliseconds,
    names_of,
    records_in,
)
from toolreaders.training.run_selection import Labels
from toolreaders.training.series import check_count

MEMORY = re.compile(
    rb"\[Rank (\d+)\][^|\[\n]*memory \(MB\) \| allocated: ([\d.]+) \| max allocated: ([\d.]+)"
    rb"(?: \| reserved: ([\d.]+) \| max reserved: ([\d.]+))?"
)
PEAK_GB = re.compile(rb"max_memory_allocated\(GB\): ([\d.]+)")


@dataclass
class Columns:
    """What one pass collects, in file order; the label of ``ranks`` is empty where a line names
    none."""

    steps: array[int] = field(default_factory=lambda: array("q"))
    losses: array[float] = field(default_factory=lambda: array("d"))
    ranks: Labels = field(default_factory=Labels)
    times: array[float] = field(default_factory=lambda: array("d"))
    norms: Column = field(default_factory=Column)
    memory: dict[int, float] = field(default_factory=dict)
    reserved: dict[int, float] = field(default_factory=dict)
    iterations: int = 0
    skipped: int = 0
    damaged: int = 0
    first_damaged: int | None = None
    total_steps: int | None = None
    batch: float | None = None
    cut: str | None = None

    def add(
        self,
        steps: array[int],
        losses: array[float],
        times: array[float],
        norms: Column,
        ranks: Sequence[str] | None = None,
    ) -> None:
        """Append the columns of the next records."""
        self.steps.extend(steps)
        self.losses.extend(losses)
        self.times.extend(times)
        self.norms.extend(norms)
        self.ranks.extend(ranks, len(steps))


def collect(source: Source) -> Columns:
    """Every iteration and memory line of the log; ReadError ``too_large`` for too many."""
    columns, layout, number = Columns(), None, 1
    for chunk in source.chunks():
        before, number = number, number + chunk.count(b"\n")
        first = ITERATION.search(chunk)
        if first is None:
            _memory(chunk, columns)
            continue
        line = chunk[chunk.rfind(b"\n", 0, first.start()) + 1 : line_end(chunk, first.start())]
        layout = layout or _layout_of(line)
        lines = _alike(layout, chunk, columns) if layout else 0
        if not lines:
            _slowly(chunk, columns, before)
        in_gigabytes = b"max_memory_allocated(GB)" in line
        if in_gigabytes or lines < number - before:
            _memory(chunk, columns, in_gigabytes=in_gigabytes)
        columns.total_steps = int(first[2])
        columns.batch = fields_of(line).get(b"globalbatchsize", columns.batch)
        check_count(len(columns.steps))
    return columns


@dataclass(frozen=True)
class _Layout:
    """A pattern for (step, time in ms, loss, gradient norm) and a text found once in each line."""

    pattern: re.Pattern[bytes]
    marker: bytes


def _layout_of(line: bytes) -> _Layout | None:
    """The layout of the line's fields; None where it lacks one of them, has another order or
    names its rank; such files are read field by field."""
    start = ITERATION.search(line)
    fields = line.split(b"|")[1:-1]
    keys = [key_of(field) for field in fields]
    wanted = [b"elapsedtimeperiteration(ms)", loss_key(keys), b"gradnorm"]
    if start is None or bytes_label_of(line[: start.start()]):
        return None
    if [key for key in keys if key in wanted] != wanted:
        return None
    names = [SIGN.split(text, maxsplit=1)[0] for text in fields]
    parts = [rb"iteration +(\d+)/ *\d+ \|"]
    for key, name in zip(keys, names, strict=True):
        value = rb" *([^ |\n]+) *" if key in wanted else rb"[^|\n]*"
        parts.append(re.escape(name) + rb"[:=]" + value + rb"\|")
        if key == b"gradnorm":
            break
    return _Layout(re.compile(b"".join(parts)), names[0])


def _alike(layout: _Layout, chunk: bytes, columns: Columns) -> int:
    """Add the chunk's records and say how many they are; none if an iteration in it has another
    layout or a value that is no number."""
    rows = layout.pattern.findall(chunk)
    if not rows or len(rows) != chunk.count(layout.marker):
        return 0
    steps, times, losses, norms = zip(*rows, strict=True)
    try:
        columns.add(integers(map(int, steps)), doubles(map(float, losses)),
                    doubles(map(float, times)), Column.of(doubles(map(float, norms))))
    except ValueError:
        return 0
    columns.iterations += len(rows)
    return len(rows)


def _slowly(chunk: bytes, columns: Columns, number: int) -> None:
    """Add the records of a chunk whose first line has this number, one by one."""
    rows, norms = [], Column()
    for match, rank, text in records_in(chunk):
        columns.iterations += 1
        fields = fields_of(text)
        loss = loss_key(fields)
        if loss is not None:
            norms.append(fields.get(b"gradnorm"))
            rows.append((int(match[1]), fields[loss], milliseconds(fields), rank))
        elif match.end() + len(text) == len(chunk):
            columns.cut = (match[0] + text).decode("utf-8", "replace")
        elif loss_key(names_of(text)) is not None:
            columns.damaged += 1
            columns.first_damaged = columns.first_damaged or (
                number + chunk.count(b"\n", 0, match.start()))
        else:
            columns.skipped += 1
    if rows:
        steps, losses, times, ranks = zip(*rows, strict=True)
        columns.add(integers(steps), doubles(losses), doubles(times), norms, ranks)


def _memory(chunk: bytes, columns: Columns, *, in_gigabytes: bool = False) -> None:
    """Peaks in MB of 2^20 bytes; FSDP2 prints its own rank's in GB of 2^30 bytes."""
    if in_gigabytes:
        peaks = [1024 * float(peak) for peak in PEAK_GB.findall(chunk)]
        columns.memory[0] = max([*peaks, columns.memory.get(0, 0.0)])
    if b"memory (MB)" not in chunk:
        return
    for rank, _allocated, peak, _reserved, reserved in MEMORY.findall(chunk):
        number = int(rank)
        columns.memory[number] = max(float(peak), columns.memory.get(number, 0.0))
        if reserved:
            columns.reserved[number] = max(float(reserved), columns.reserved.get(number, 0.0))
