"""All records of a Megatron log in columns of numbers, collected in one pass.

Of lines that are printed alike, a million are read by one layout (`like_lines`).
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

from toolreaders.columns import Column, doubles, integers
from toolreaders.source import Source
from toolreaders.training.like_lines import numbers_of
from toolreaders.training.line_prefixes import bytes_label_of
from toolreaders.training.megatron_fields import (
    ITERATION,
    SIGN,
    TFLOPS,
    fields_of,
    key_of,
    line_end,
    loss_key,
    milliseconds,
    names_of,
    records_in,
)
from toolreaders.training.run_conditions import LEARNING_RATE, SAMPLES, SCALE
from toolreaders.training.run_selection import Labels
from toolreaders.training.series import check_count

MEMORY = re.compile(
    rb"\[Rank (\d+)\][^|\[\n]*memory \(MB\) \| allocated: ([\d.]+) \| max allocated: ([\d.]+)"
    rb"(?: \| reserved: ([\d.]+) \| max reserved: ([\d.]+))?"
)
TIME, NORM = b"elapsedtimeperiteration(ms)", b"gradnorm"
BESIDE = {b"learningrate": LEARNING_RATE, b"consumedsamples": SAMPLES, b"lossscale": SCALE,
          TFLOPS: "tflops"}
SKIPPED = re.compile(rb"number of skipped iterations: *([1-9]\d*)")
"""Of a record: how many iterations its interval skipped."""
NAMES_SKIPPED = b"number of skipped iterations:"
PEAK_GB = re.compile(rb"max_memory_allocated\(GB\): ([\d.]+)")


@dataclass
class Columns:
    """What one pass collects, in file order; the label of ``ranks`` is empty where a line names
    none. ``skipped`` is the sum of the column that says how many iterations each interval skipped,
    None without such a column."""

    steps: array[int] = field(default_factory=lambda: array("q"))
    losses: array[float] = field(default_factory=lambda: array("d"))
    ranks: Labels = field(default_factory=Labels)
    times: array[float] = field(default_factory=lambda: array("d"))
    norms: Column = field(default_factory=Column)
    beside: dict[str, Column] = field(
        default_factory=lambda: {name: Column() for name in BESIDE.values()})
    memory: dict[int, float] = field(default_factory=dict)
    reserved: dict[int, float] = field(default_factory=dict)
    iterations: int = 0
    without_loss: int = 0
    skipped: int | None = None
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
        beside: dict[str, Column],
        ranks: Sequence[str] | None = None,
    ) -> None:
        """Append the columns of the next records."""
        self.steps.extend(steps)
        self.losses.extend(losses)
        self.times.extend(times)
        self.norms.extend(norms)
        for name, column in self.beside.items():
            column.extend(beside[name])
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
        if NAMES_SKIPPED in chunk:
            columns.skipped = (columns.skipped or 0) + sum(map(int, SKIPPED.findall(chunk)))
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
    """A pattern for the step and the fields of these keys, and a text found once in each line."""

    pattern: re.Pattern[bytes]
    keys: list[bytes]
    loss: bytes
    marker: bytes


def _layout_of(line: bytes) -> _Layout | None:
    """The layout of the line's fields; None where it lacks time, loss or norm, has one twice or
    names its rank; such files are read field by field."""
    start = ITERATION.search(line)
    fields = line.split(b"|")[1:-1]
    keys = [key_of(field) for field in fields]
    loss = loss_key(keys)
    wanted = [key for key in keys if key in {TIME, loss, NORM, *BESIDE}]
    if start is None or loss is None or bytes_label_of(line[: start.start()]):
        return None
    if len(wanted) > len(set(wanted)) or not {TIME, NORM} < set(wanted):
        return None
    names = [SIGN.split(text, maxsplit=1)[0] for text in fields]
    parts = [rb"iteration +(\d+)/ *\d+ \|"]
    for key, name in zip(keys, names, strict=True):
        value = rb" *([^ |\n]+) *" if key in wanted else rb"[^|\n]*"
        parts.append(re.escape(name) + rb"[:=]" + value + rb"\|")
        if key == wanted[-1]:
            break
    return _Layout(re.compile(b"".join(parts)), wanted, loss, names[0])


def _alike(layout: _Layout, chunk: bytes, columns: Columns) -> int:
    """Add the chunk's records and say how many they are; none if an iteration in it has another
    layout or a value that is no number."""
    try:
        found = numbers_of(chunk, layout.pattern, layout.marker)
    except ValueError:
        return 0
    if not found:
        return 0
    steps, numbers = found[0], dict(zip(layout.keys, found[1:], strict=True))
    beside = {name: Column.of(numbers[key]) if key in numbers else Column.lacking(len(steps))
              for key, name in BESIDE.items()}
    columns.add(steps, numbers[layout.loss], numbers[TIME], Column.of(numbers[NORM]), beside)
    columns.iterations += len(steps)
    return len(steps)


def _slowly(chunk: bytes, columns: Columns, number: int) -> None:
    """Add the records of a chunk whose first line has this number, one by one."""
    rows, norms = [], Column()
    beside = {name: Column() for name in BESIDE.values()}
    for match, rank, text in records_in(chunk):
        columns.iterations += 1
        fields = fields_of(text)
        loss = loss_key(fields)
        if loss is not None:
            norms.append(fields.get(NORM))
            for key, name in BESIDE.items():
                beside[name].append(fields.get(key))
            rows.append((int(match[1]), fields[loss], milliseconds(fields), rank))
        elif match.end() + len(text) == len(chunk):
            columns.cut = (match[0] + text).decode("utf-8", "replace")
        elif loss_key(names_of(text)) is not None:
            columns.damaged += 1
            columns.first_damaged = columns.first_damaged or (
                number + chunk.count(b"\n", 0, match.start()))
        else:
            columns.without_loss += 1
    if rows:
        steps, losses, times, ranks = zip(*rows, strict=True)
        columns.add(integers(steps), doubles(losses), doubles(times), norms, beside, ranks)


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
