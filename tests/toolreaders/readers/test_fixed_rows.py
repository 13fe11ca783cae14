"""Numbers read by columns are the doubles that `float` gives, or none at all."""

import random

import numpy as np
import pytest

from toolreaders.fixed_rows import numbers, tables


def field(*texts: str) -> np.ndarray:
    return np.array([list(text.encode()) for text in texts], dtype=np.uint8)


@pytest.mark.parametrize("pattern", ["{:.6E}", "{:.3e}", "{:10.1f}", "{:12.4f}"])
def test_the_same_doubles_as_float(pattern):
    source = random.Random(7)
    texts = [pattern.format(source.uniform(1, 9.9) * 10 ** source.randint(-3, 3))
             for _ in range(2000)]
    width = max(map(len, texts))
    found = numbers(field(*(text.rjust(width) for text in texts)))
    assert found.tolist() == [float(text) for text in texts]


@pytest.mark.parametrize("texts", [
    ("1.5", "nan"), ("1.25", "12.5"), ("1.5E+00", "1.5E 00"), ("1 5", "1 5"),
    ("1.5E+99", "1.5E+99"),
    ("-1.5", "-1.5"), ("1234567890123456", "1234567890123456"), ("   ", "   "), ("1.5E", "1.5E"),
    ("1..5", "1..5"), (".E+1", ".E+1")])
def test_what_is_not_printed_alike_is_left_to_others(texts):
    assert numbers(field(*texts)) is None


def test_lines_are_grouped_by_their_layout():
    block = b"a 1 | b\nnote\na 2 | b\na 30 | b\n"
    groups = {tuple(where.tolist()): rows.shape for where, rows in tables(block, b"|", 1)}
    assert groups == {(0, 2): (2, 7), (3,): (1, 8)}


def test_a_block_without_a_line_end_is_no_table():
    assert tables(b"a 1 | b\na 2 | b", b"|", 1) == []


def test_lines_of_one_length_are_read_in_place():
    (group,) = tables(b"a 1 | b\na 2 | b\n", b"|", 1)
    assert (group[0].tolist(), group[1].shape) == ([0, 1], (2, 7))
    assert group[1][1].tobytes() == b"a 2 | b"


@pytest.mark.parametrize("block", [b"a | 12b\na 3 | b\n", b"a | b |\na | bcd\n",
                                   b"a|b\nc|\nd|ef\n"])
def test_lines_of_one_length_but_another_layout_are_told_apart(block):
    rows = [row.tobytes() for _where, found in tables(block, b"|", 1) for row in found]
    assert sorted(rows) == sorted(line for line in block.splitlines() if line.count(b"|") == 1)
