"""Megatron's iteration lines that are printed alike, read without a loop over the lines.

A million of them are read with one regular expression built from their own layout, or by columns
of bytes where they are of one length and numpy is there.
"""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass

from toolreaders.fixed_rows import Rows, np, numbers, tables
from toolreaders.training.line_prefixes import bytes_label_of
from toolreaders.training.megatron_fields import ITERATION, SIGN, key_of, loss_key

WANTED = 4  # step, time, loss, gradient norm


@dataclass(frozen=True)
class Layout:
    """A pattern for (step, time in ms, loss, gradient norm) and a text found once in each line."""

    pattern: re.Pattern[bytes]
    marker: bytes


def layout_of(line: bytes) -> Layout | None:
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
    return Layout(re.compile(b"".join(parts)), names[0])


def found_by_pattern(layout: Layout, chunk: bytes) -> list[array[float]] | None:
    """Steps, times, losses and norms; None if an iteration has another layout or one of them is no
    number."""
    rows = layout.pattern.findall(chunk)
    if not rows or len(rows) != chunk.count(layout.marker):
        return None
    steps, *others = zip(*rows, strict=True)
    try:
        return [array("q", map(int, steps)), *(array("d", map(float, column)) for column in others)]
    except ValueError:
        return None


def found_by_places(layout: Layout, line: bytes, chunk: bytes) -> list[array[float]] | None:
    """Steps, times, losses and norms in file order; None if an iteration of
    the chunk has another layout than ``line``."""
    places, read = [], []
    for where, rows in tables(chunk, b"|", line.count(b"|")):
        found = _numbers_of_rows(layout, rows)
        if found is None:
            return None
        places.append(where)
        read.append(found)
    if not places:
        return None
    lines = np.concatenate(places)
    if len(lines) <= lines.max() and chunk.count(layout.marker) != len(lines):
        return None
    columns = np.concatenate(read, axis=1)[:, np.argsort(lines)]
    return [array("q", columns[0].astype(np.int64).tobytes()),
            *(array("d", column.tobytes()) for column in columns[1:])]


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
