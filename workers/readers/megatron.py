"""Iteration lines of Megatron-LM, MindSpeed, MindSpeed-LLM (also FSDP2), FlagScale and forks.

``iteration  5/ 5000 | … | elapsed time per iteration (ms): X | … lm loss: 1.0E+01 | …`` as printed
by Megatron-LM megatron/training/training.py; steps count from 1, a loss is the mean since the last
line. Files of a million lines are read with one regular expression built from their own layout.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from workers.masking import mask_tree
from workers.readers.base import Sample, Source, register
from workers.readers.fixed_rows import Rows, numbers, tables
from workers.readers.megatron_arguments import arguments_of
from workers.readers.megatron_start import started
from workers.readers.series import (
    LossSeries,
    TrainingLogReader,
    assemble,
    records_of_one_rank,
    statistic_values,
    time_values,
    truncated,
)
from workers.readers.source import ReadError, ReadingWarning

ITERATION = re.compile(rb"iteration[ \t=:]*(\d+)/\s*(\d+)\s*\|")
RECOGNISED = re.compile(r"iteration[ \t=:]*\d+/\s*\d+\s*\|")
RANK = re.compile(rb"^\s*\[(?:default|rank|Rank )(\d+)[\] ]")
RANK_BYTES = 200
MEMORY = re.compile(
    rb"\[Rank (\d+)\][^|\[\n]*memory \(MB\) \| allocated: ([\d.]+) \| max allocated: ([\d.]+)"
    rb"(?: \| reserved: ([\d.]+) \| max reserved: ([\d.]+))?"
)
NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+|nan|inf|infinity)", re.IGNORECASE)
VALUE = re.compile(rb"(%b)(?:/%b)?" % (NUMBER.pattern, NUMBER.pattern), re.IGNORECASE)
PEAK_GB = re.compile(rb"max_memory_allocated\(GB\): ([\d.]+)")
CONTINUED = re.compile(rb"\n(?: ?[a-z][a-z ]*: [^|\n]{1,60}\|)+[ \t\r]*(?=\n|$)")
SPACE = re.compile(rb"[\s_]+")
SIGN = re.compile(rb"[:=]")  # between a field's name and its value
MOST_KEYS = 1024  # names of fields that are remembered; a log repeats a dozen
NOT_THE_LOSS = (b"scale", b"balancing", b"aux", b"zloss", b"mtp", b"eval", b"valid", b"indexer")
LOSS_KEYS = (b"lmloss", b"loss", b"reducedtrainloss", b"trainloss", b"totalloss")

Fields = dict[bytes, float]


@dataclass
class Columns:
    """What one pass collects, in file order; ``ranks`` is -1 where a line names none."""

    steps: array[int] = field(default_factory=lambda: array("q"))
    losses: array[float] = field(default_factory=lambda: array("d"))
    ranks: array[int] = field(default_factory=lambda: array("q"))
    times: array[float] = field(default_factory=lambda: array("d"))
    norms: array[float] = field(default_factory=lambda: array("d"))
    memory: dict[int, float] = field(default_factory=dict)
    reserved: dict[int, float] = field(default_factory=dict)
    iterations: int = 0
    skipped: int = 0
    total_steps: int | None = None
    batch: float | None = None
    cut: str | None = None

    def add(self, steps: Any, losses: Any, times: Any, norms: Any, ranks: Any = None) -> None:
        """Append columns of bytes or numbers; nothing is appended where one is not a number."""
        read = [_column(column, float, np.float64) for column in (losses, times, norms)]
        counted = _column(steps, int, np.int64)
        named = np.full(len(counted), -1) if ranks is None else np.array(ranks, dtype=np.int64)
        columns = (self.steps, self.ranks, self.losses, self.times, self.norms)
        for column, values in zip(columns, (counted, named, *read), strict=True):
            column.frombytes(values.tobytes())


def _column(values: Any, read: type, dtype: Any) -> np.ndarray:
    is_read = isinstance(values, np.ndarray)
    return values.astype(dtype) if is_read else np.fromiter(map(read, values), dtype)


@register
class MegatronReader(TrainingLogReader):
    """Megatron-style iteration lines."""

    name = "megatron_log"
    tool = "Megatron-LM"
    version = "2"

    def recognises(self, sample: Sample) -> int:
        return 90 if RECOGNISED.search(sample.text) else 0

    def series(self, source: Source) -> LossSeries:
        columns = _collect(source)
        if not columns.steps:
            raise ReadError("no_loss_points", _no_loss(columns))
        steps, losses = np.frombuffer(columns.steps, np.int64), np.frombuffer(columns.losses)
        kept, warnings = records_of_one_rank(np.frombuffer(columns.ranks, np.int64))
        if len(kept) < len(steps):
            steps, losses = steps[kept], losses[kept]
        if columns.cut is not None:
            warnings.append(truncated(_last_line(source), columns.cut))
        if columns.skipped:
            warnings.append(_skipped(columns))
        return assemble(
            steps,
            losses,
            meaning="window_mean",
            step_base=0 if len(steps) and steps[0] == 0 else 1,
            line_of=lambda index: _line_of(source, int(kept[index])),
            warnings=warnings,
            tool=self.tool,
            extras=_extras(columns) | _start(source),
        )


def _start(source: Source) -> dict[str, Any]:
    values, lines = started(source)
    if (found := arguments_of(source, until=ITERATION)).values:
        values["arguments"], lines = mask_tree(found.values), {**found.lines, **lines}
    return {"started": values, "lines": lines}


def _collect(source: Source) -> Columns:
    columns, layout = Columns(), None
    for chunk in source.chunks():
        first = ITERATION.search(chunk)
        if first is None:
            _memory(chunk, columns)
            continue
        line = chunk[chunk.rfind(b"\n", 0, first.start()) + 1 : _line_end(chunk, first.start())]
        layout = layout or _layout(line)
        lines = _as_table(layout, line, chunk, columns) if layout else 0
        if not lines and not (layout and _fast(layout, chunk, columns)):
            _slowly(chunk, columns)
        in_gigabytes = b"max_memory_allocated(GB)" in line
        if in_gigabytes or lines < chunk.count(b"\n"):
            _memory(chunk, columns, in_gigabytes=in_gigabytes)
        _first_facts(first, line, columns)
    return columns


def _line_end(chunk: bytes, start: int, limit: int | None = None) -> int:
    """Where the line ends, or the limit before that: long lines hold many records."""
    limit = len(chunk) if limit is None else limit
    end = chunk.find(b"\n", start, limit)
    return limit if end < 0 else end


@dataclass(frozen=True)
class Layout:
    """A pattern for (step, time in ms, loss, gradient norm) and a text found once in each line."""

    pattern: re.Pattern[bytes]
    marker: bytes


def _layout(line: bytes) -> Layout | None:
    """The layout of the line's fields; None where it lacks one of them, has another order or
    names its rank; such files are read field by field."""
    fields = line.split(b"|")[1:-1]
    keys = [_key(field) for field in fields]
    wanted = [b"elapsedtimeperiteration(ms)", _loss_key(keys), b"gradnorm"]
    if [key for key in keys if key in wanted] != wanted or RANK.match(line):
        return None
    names = [SIGN.split(text, maxsplit=1)[0] for text in fields]
    parts = [rb"iteration +(\d+)/ *\d+ \|"]
    for key, name in zip(keys, names, strict=True):
        value = rb" *([^ |\n]+) *" if key in wanted else rb"[^|\n]*"
        parts.append(re.escape(name) + rb"[:=]" + value + rb"\|")
        if key == b"gradnorm":
            break
    return Layout(re.compile(b"".join(parts)), names[0])


def _fast(layout: Layout, chunk: bytes, columns: Columns) -> bool:
    """Add the chunk's records if every iteration in it has the layout; say whether it has."""
    rows = layout.pattern.findall(chunk)
    if not rows or len(rows) != chunk.count(layout.marker):
        return False
    steps, times, losses, norms = zip(*rows, strict=True)
    try:
        columns.add(steps, losses, times, norms)
    except ValueError:
        return False
    columns.iterations += len(rows)
    return True


WANTED = 4  # step, time, loss, gradient norm


def _as_table(layout: Layout, line: bytes, chunk: bytes, columns: Columns) -> int:
    """Add the chunk's records if every iteration in it has the layout; say how many they are."""
    places, read = [], []
    for where, rows in tables(chunk, b"|", line.count(b"|")):
        found = _numbers_of_rows(layout, rows)
        if found is None:
            return 0
        places.append(where)
        read.append(found)
    if not places:
        return 0
    lines = np.concatenate(places)
    if len(lines) <= lines.max() and chunk.count(layout.marker) != len(lines):
        return 0
    steps, times, losses, norms = np.concatenate(read, axis=1)[:, np.argsort(lines)]
    columns.add(steps.astype(np.int64), losses, times, norms)
    columns.iterations += len(steps)
    return len(steps)


def _numbers_of_rows(layout: Layout, rows: Rows) -> np.ndarray | None:
    """Step, time, loss and norm of each row; None if rows differ in more than their values."""
    first = rows[0].tobytes()
    found = layout.pattern.search(first)
    if found is None or len(ITERATION.findall(first)) != 1 or first.count(b"|", 0, found.start()):
        return None
    places, differs = _value_places(first, found.start()), (rows != rows[0]).any(axis=0)
    for start, end in places:
        differs[start:end] = False
    if differs.any():
        return None
    wanted = [
        next(place for place in places if place[0] <= found.start(group) < place[1])
        for group in range(1, WANTED + 1)
    ]
    read = [numbers(rows[:, start:end]) for start, end in wanted]
    return None if any(values is None for values in read) else np.array(read)


def _value_places(line: bytes, start: int) -> list[tuple[int, int]]:
    """Where a line may differ from the others: before and after the fields, and in their values."""
    places = [(0, start), (start + len(b"iteration"), line.index(b"/", start))]
    begin = line.index(b"|", start) + 1
    while (end := line.find(b"|", begin)) >= 0:
        sign = SIGN.search(line, begin, end)
        if sign:
            places.append((sign.end(), end))
        begin = end + 1
    return [*places, (begin, len(line))]


def _key(field_text: bytes) -> bytes:
    return _plain(SIGN.split(field_text, maxsplit=1)[0])


@lru_cache(MOST_KEYS)
def _plain(name: bytes) -> bytes:
    return SPACE.sub(b"", name).lower()


def _loss_key(keys: list[bytes] | Fields) -> bytes | None:
    for key in LOSS_KEYS:
        if key in keys:
            return key
    others = [key for key in keys if key.endswith(b"loss")]
    return next((key for key in others if not any(no in key for no in NOT_THE_LOSS)), None)


def _records(chunk: bytes) -> Iterator[tuple[re.Match[bytes], int, bytes]]:
    """(match, rank, text after the counter) of every iteration, also of glued ones."""
    matches = list(ITERATION.finditer(chunk))
    limits = [match.start() for match in matches[1:]] + [len(chunk)]
    line_start = before = 0
    for match, limit in zip(matches, limits, strict=True):
        line_start = chunk.rfind(b"\n", before, match.start()) + 1 or line_start
        before = match.start()
        end = _line_end(chunk, match.end(), limit)
        while end < limit and (found := CONTINUED.match(chunk, end)):  # a terminal wrapped it
            end = found.end()
        rank = RANK.match(chunk[line_start : min(match.start(), line_start + RANK_BYTES)])
        yield match, int(rank[1]) if rank else -1, chunk[match.end() : min(end, limit)]


def _fields(text: bytes) -> Fields:
    """Numbers of the fields that are closed by ``|``; broken keys and numbers are joined again.

    Megatron-LM 1 prints no colon; of “this/mean of the last” the first number counts.
    """
    numbers: Fields = {}
    for part in text.split(b"|")[:-1]:
        pieces = SIGN.split(part, maxsplit=1)
        pieces = pieces if len(pieces) == 2 else part.strip().rsplit(b" ", maxsplit=1)
        if len(pieces) == 2:
            value = VALUE.fullmatch(SPACE.sub(b"", pieces[1]))
            if value:
                numbers[_plain(pieces[0])] = float(value[1])
    return numbers


def _milliseconds(fields: Fields) -> float:
    if b"elapsedtimeperiteration(s)" in fields:
        return 1000 * fields[b"elapsedtimeperiteration(s)"]
    for key in (b"elapsedtimeperiteration(ms)", b"elapsedtimeperiterationms"):
        if key in fields:
            return fields[key]
    return float("nan")


def _slowly(chunk: bytes, columns: Columns) -> None:
    rows = []
    for match, rank, text in _records(chunk):
        columns.iterations += 1
        fields = _fields(text)
        loss = _loss_key(fields)
        if loss is not None:
            norm = fields.get(b"gradnorm", float("nan"))
            rows.append((int(match[1]), fields[loss], _milliseconds(fields), norm, rank))
        elif match.end() + len(text) == len(chunk):
            columns.cut = (match[0] + text).decode("utf-8", "replace")
        else:
            columns.skipped += 1
    if rows:
        columns.add(*zip(*rows, strict=True))


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


def _first_facts(first: re.Match[bytes], line: bytes, columns: Columns) -> None:
    columns.total_steps = int(first[2])
    columns.batch = _fields(line).get(b"globalbatchsize", columns.batch)


def _no_loss(columns: Columns) -> str:
    if columns.skipped:
        return (
            f"None of {columns.iterations} iterations prints a loss; "
            "fp16 skips an iteration whose gradients overflow."
        )
    return "No iteration of the log prints a loss."


def _line_of(source: Source, record: int) -> int | None:
    """Line of the n-th record with a loss; a second pass, only for warnings."""
    line, seen = 1, 0
    for chunk in source.chunks():
        for match, _rank, text in _records(chunk):
            if _loss_key(_fields(text)) is None:
                continue
            if seen == record:
                return line + chunk.count(b"\n", 0, match.start())
            seen += 1
        line += chunk.count(b"\n")
    return None


def _last_line(source: Source) -> int:
    """Number of the file's last line."""
    ends = sum(chunk.count(b"\n") for chunk in source.chunks())
    return ends if source.ends_with_newline() else ends + 1


def _skipped(columns: Columns) -> ReadingWarning:
    message = (
        f"{columns.skipped} of {columns.iterations} iterations print no loss: "
        "their gradients overflowed and the update was skipped."
    )
    return ReadingWarning("skipped_iterations", message)


def _extras(columns: Columns) -> dict[str, Any]:
    times = time_values(np.frombuffer(columns.times))
    norms = np.frombuffer(columns.norms)
    throughput = None
    if times and columns.batch:
        throughput = {
            "samples_per_second": columns.batch * 1000 / times["mean"],
            "global_batch_size": columns.batch,
        }
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
        "throughput": throughput,
        "memory": memory,
        "grad_norm": None if np.isnan(norms).all() else statistic_values(norms),
        "skipped_iterations": columns.skipped or None,
    }
