"""Columns of numbers out of a block of like lines, without a loop over the lines.

Lines whose separators stand at the same places form a table of bytes. A field of digits, a point
and an exponent becomes a number by whole columns; the result is the double nearest to the printed
decimal, as ``float`` gives it: digits below 2^53 and a power of ten up to 10^22 are exact, so one
division or multiplication rounds once. Needs numpy; without it no table is found, and who asks
reads the lines one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

try:
    import numpy as np
    from numpy.lib.stride_tricks import as_strided
except ImportError:
    np = None

NEWLINE, SPACE, POINT, PLUS, MINUS, ZERO, NINE = 10, 32, 46, 43, 45, 48, 57
EXPONENTS = (69, 101)  # E, e
SIGNS = (PLUS, MINUS)
EXACT_DIGITS, EXACT_POWER = 15, 22
POWERS = [10.0**power for power in range(EXACT_POWER + 1)]
Rows = Any  # an array of bytes, a row per line
Columns = Any  # an array of bytes, a row per place in the line


def tables(block: bytes, separator: bytes, count: int) -> list[tuple[np.ndarray, Rows]]:
    """Groups of lines that have ``count`` separators at the same places; others are left out.

    Each group is (places of its lines among all lines, their bytes as rows). Empty where the block
    does not end with a line.
    """
    if np is None:
        return []
    if alike := _one_table(block, separator, count):
        return alike
    data = np.frombuffer(block, dtype=np.uint8)
    ends = np.flatnonzero(data == NEWLINE)
    marks = np.flatnonzero(data == separator[0])
    if not len(ends) or ends[-1] != len(data) - 1:
        return []
    starts = np.concatenate([[0], ends[:-1] + 1])
    found = np.diff(np.searchsorted(marks, ends), prepend=0)
    lines = np.flatnonzero(found == count)
    if len(lines) < len(ends):
        marks = marks[np.repeat(found == count, found)]
    places = marks.reshape(len(lines), count) - starts[lines, None]
    return list(_groups(data, lines, starts, ends - starts, places))


def _one_table(block: bytes, separator: bytes, count: int) -> list[tuple[np.ndarray, Rows]]:
    """The group of a block whose lines are all of one length and layout, without copying it."""
    width = block.find(b"\n") + 1
    lines = len(block) // width if width else 0
    if not lines or len(block) % width:
        return []
    rows = np.frombuffer(block, dtype=np.uint8).reshape(lines, width)
    marks = np.flatnonzero(rows[0] == separator[0])
    if len(marks) != count or not _stands_only_at(rows, NEWLINE, np.array([width - 1])):
        return []
    return [(np.arange(lines), rows[:, :-1])] if _stands_only_at(rows, separator[0], marks) else []


def _stands_only_at(rows: Rows, byte: int, columns: np.ndarray) -> bool:
    """Whether the byte fills these columns and stands nowhere else."""
    is_there = rows == byte
    wanted = len(rows) * len(columns)
    return bool(is_there[:, columns].all()) and np.count_nonzero(is_there) == wanted


def _groups(
    data: np.ndarray, lines: np.ndarray, starts: np.ndarray, lengths: np.ndarray, places: np.ndarray
) -> Iterator[tuple[np.ndarray, Rows]]:
    shape = lengths[lines] + places @ (1_000_003 ** np.arange(1, places.shape[1] + 1) % 2**31)
    for value in np.unique(shape):
        where = lines[shape == value]
        width = int(lengths[where].min())
        windows = as_strided(data, shape=(len(data) - width + 1, width), strides=(1, 1))
        yield where, windows[starts[where]]


def numbers(field: Rows) -> np.ndarray | None:
    """The numbers of a field of equal width; None where its lines are not printed alike."""
    columns = np.ascontiguousarray(field.T)
    used = np.flatnonzero((columns != SPACE).any(axis=1))
    if not len(used):
        return None
    mantissa, exponent = _parts(columns[used[0] : used[-1] + 1])
    if exponent is None:
        return None
    digits, decimals = _digits(mantissa)
    if digits is None or (np.abs(exponent - decimals) > EXACT_POWER).any():
        return None
    power = exponent - decimals
    scale = np.array(POWERS)[np.abs(power)]
    return np.where(power < 0, digits / scale, digits * scale)


def _parts(columns: Columns) -> tuple[Columns, np.ndarray | None]:
    """Mantissa and exponents; the exponents are None where they are not written alike."""
    at = np.flatnonzero(_is_one_of(columns[:, 0], EXPONENTS))
    if not len(at):
        return columns, np.zeros(1, dtype=np.int64)
    mark = int(at[0])
    sign = columns[min(mark + 1, len(columns) - 1)]
    power, decimals = _digits(columns[mark + 2 :])
    is_alike = (columns[mark] == columns[mark, 0]).all() and _is_one_of(sign, SIGNS).all()
    if power is None or decimals or not is_alike:
        return columns, None
    return columns[:mark], np.where(sign == MINUS, -power, power).astype(np.int64)


def _is_one_of(bytes_: np.ndarray, pair: tuple[int, int]) -> np.ndarray:
    return (bytes_ == pair[0]) | (bytes_ == pair[1])


def _digits(columns: Columns) -> tuple[np.ndarray | None, int]:
    """The digits as one number, and how many stand after the point."""
    points = np.flatnonzero(columns[:, 0] == POINT) if len(columns) else []
    width = len(columns) - len(points)
    if not 0 < width <= EXACT_DIGITS or len(points) > 1:
        return None, 0
    decimals = 0
    if len(points):
        point = int(points[0])
        if not (columns[point] == POINT).all():
            return None, 0
        decimals = width - point
        columns = np.delete(columns, point, axis=0)
    values = columns - np.uint8(ZERO)
    is_digit = values <= NINE - ZERO
    if not is_digit.all():
        is_padding = (columns == SPACE) & ~np.logical_or.accumulate(is_digit, axis=0)
        if not (is_digit | is_padding).all() or not is_digit[-1 - decimals :].all():
            return None, 0
        values = np.where(is_digit, values, 0)
    number = np.zeros(values.shape[1])
    for place in values:
        number = 10 * number + place
    return number, decimals
