"""Numbers of lines that are printed alike, taken out by their columns of characters instead of line
by line: a million records in a second."""

from __future__ import annotations

import re
from array import array
from collections import defaultdict

SHAPE = bytes.maketrans(b"123456789 +-", b"0" * 12)
"""Lines of one shape differ in digits, padding and signs alone: their fields stand below each
other."""
SAME_DIGITS = bytes.maketrans(b"023456789", b"1" * 9)
FEWEST_ALIKE = 8
CODES = "q", "d"


def kinds_in(chunk: bytes) -> bytes:
    """The lines of a chunk that differ not in their digits alone, each digit as 1: the few that are
    to be searched for what few lines hold."""
    masked = chunk.translate(SAME_DIGITS)
    first = masked[: masked.find(b"\n") + 1]
    if first and masked == first * (len(masked) // len(first)):
        return first
    return b"\n".join(set(masked.split(b"\n")))


def numbers_of(chunk: bytes, pattern: re.Pattern[bytes], marker: bytes) -> list[array] | None:
    """The numbers in each group of ``pattern``, of all lines with ``marker``; the first group's are
    integers. Padding may stand around a group.

    None where such a line has another form or holds the marker twice, or where few lines are
    alike; ValueError where a group is no number.
    """
    chunk += b"" if chunk.endswith(b"\n") else b"\n"
    shapes, mark = chunk.translate(SHAPE), marker.translate(SHAPE)
    first = shapes[: shapes.find(b"\n") + 1]
    if shapes == first * (len(shapes) // len(first)):
        return _block(chunk, len(first), pattern, marker)
    lines: dict[bytes, list[bytes]] = defaultdict(list)
    order = shapes.split(b"\n")
    for shape, line in zip(order, chunk.split(b"\n"), strict=True):
        lines[shape].append(line)
    order = [shape for shape in order if mark in shape]
    blocks = {}
    for shape in set(order):
        block = b"\n".join([*lines[shape], b""])
        found = _block(block, len(shape) + 1, pattern, marker)
        if found is None or len(blocks) * FEWEST_ALIKE > len(order):
            return None
        blocks[shape] = found
    columns = []
    for place in range(pattern.groups):
        own = {shape: iter(found[place]) for shape, found in blocks.items()}
        columns.append(array(CODES[place > 0], map(next, map(own.__getitem__, order))))
    return columns


def _block(block: bytes, length: int, pattern: re.Pattern[bytes], marker: bytes
           ) -> list[array] | None:
    """The numbers of lines of one shape, each of this length."""
    first = block[:length]
    match = pattern.search(first)
    if match is None or first.count(marker) != 1:
        return None
    return [_column(block, length, match.span(group), CODES[group > 1])
            for group in range(1, pattern.groups + 1)]


def _column(block: bytes, length: int, span: tuple[int, int], code: str) -> array:
    """The numbers at one place of each line; of what all print alike, one made and repeated."""
    line, (start, end) = block[:length], span
    start, end = len(line[:start].rstrip(b" ")), length - len(line[end:].lstrip(b" "))
    signs = [block[place::length] for place in range(start, end)]
    count, number = len(block) // length, int if code == "q" else float
    if all(sign == sign[:1] * count for sign in signs):
        return array(code, [number(line[start:end])]) * count
    texts = bytearray(b"\n") * (count * (len(signs) + 1))
    for place, sign in enumerate(signs):
        texts[place :: len(signs) + 1] = sign
    return array(code, map(number, texts.decode("ascii").split("\n")[:-1]))
