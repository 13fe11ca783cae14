"""Widths of a table's columns, from what stands in them: fixed widths set many times faster."""

import unicodedata
from itertools import zip_longest
from math import ceil
from statistics import fmean

LATIN, CJK, PADDING = 1.62, 3.0, 4.2  # mm at 8.5 pt
LINE = 4.35  # mm from line to line at that size
ONE_LINE_HASH = 72.0  # 64 characters as dense tables set them
HASH, WIDE_HASH, BOX, LEAST, MOST_CODE = 34.0, 54.0, 14.0, 13.0, 42.0
ROOM_TO_SIGN = 36.0
LANDSCAPE = 200  # mm; wider tables have room for longer pieces of a checksum
ONE_LINE = ("number", "day", "code")
BOLD = 1.25  # headings are wider
SMALL = 7.5 / 8.5  # dense tables are set smaller
LARGEST_LEAST = 0.28  # share of the table that the longest word may claim


def column_widths(entry: dict, total: float) -> list[float]:
    """Widths in per cent of the table.

    Args:
        entry: a table in one language (see `tables`).
        total: its width in mm.

    What stays on one line gets what it needs; the rest is shared by the length of the texts.
    """
    return _shares(_needs(entry, total), total)


def shared_widths(entries: list[dict], total: float) -> list[float]:
    """Widths of columns that tables one below the other have in common, as `column_widths`.

    The first column of each is as wide as the neediest first one, and so on.
    """
    return _shares(_joint(entries, total), total)


def _joint(entries: list[dict], total: float) -> list[tuple[float, float]]:
    needs = zip_longest(*(_needs(entry, total) for entry in entries), fillvalue=(0, 0))
    return [(max(width for width, _weight in column), max(weight for _width, weight in column))
            for column in needs]


def _needs(entry: dict, total: float) -> list[tuple[float, float]]:
    """What each column needs, see `_need`."""
    cells = list(zip(*entry["rows"], strict=True)) or [()] * len(entry["columns"])
    return [_need(column, texts, total, entry.get("is_dense", False))
            for column, texts in zip(entry["columns"], cells, strict=True)]


def _shares(needs: list[tuple[float, float]], total: float) -> list[float]:
    fixed = sum(width for width, weight in needs if not weight)
    weights = sum(weight for _width, weight in needs) or 1
    rest = max(total - fixed - sum(width for width, weight in needs if weight), 0)
    widths = [width + rest * weight / weights for width, weight in needs]
    return [round(100 * width / sum(widths), 2) for width in widths]


def least_width(*entries: dict) -> float:
    """The width in mm below which words or figures would break, where tables share columns."""
    return sum(width for width, _weight in _joint(list(entries), LANDSCAPE))


def height(entry: dict, widths: list[float], total: float) -> float:
    """About how high the rows stand in mm, where columns have these widths in per cent."""
    size, padding = (SMALL, 1.5) if entry.get("is_dense") else (1, 2.8)
    room = [max(width * total / 100 - PADDING, 1) for width in widths]
    lines = sum(max(sum(ceil(length(line) * size / space) or 1 for line in str(text).split("\n"))
                    for text, space in zip(row, room, strict=True)) for row in entry["rows"])
    return lines * LINE * size + padding * len(entry["rows"])


def _need(column: dict, texts: tuple, total: float, is_dense: bool) -> tuple[float, float]:
    """(least width in mm, share of what is left); no share for what stays on one line."""
    look, title = column["look"], column["title"]
    head = BOLD * max((length(word) if word.isascii() else min(length(word), LEAST)
                       for word in title.split()), default=0)
    if look == "hash":
        wide = ONE_LINE_HASH if is_dense else WIDE_HASH
        return max(wide if total > LANDSCAPE else HASH, head + PADDING), 0
    if look == "box":
        return max(BOX, head + PADDING), 0
    if look == "blank":
        return ROOM_TO_SIGN, 0
    size = SMALL if is_dense else 1
    longest, head = size * max(map(length, texts), default=0), size * head
    if look in ONE_LINE:
        return min(max(longest, head, LEAST - PADDING) + PADDING, MOST_CODE), 0
    word = size * max((length(word) for text in texts for word in str(text).split()
                       if word.isascii()), default=0)
    least = max(LEAST, head + PADDING, min(word + PADDING, LARGEST_LEAST * total))
    if longest and longest + PADDING <= least and longest < head:
        return least, 0
    typical = fmean(map(length, texts)) if texts else 0
    return min(least, longest + PADDING if longest > head else least), (
        (typical + longest) / 2) ** 0.75 + 1


def length(text: str) -> float:
    """Length of the longest line of a text in mm."""
    return max(sum(CJK if unicodedata.east_asian_width(c) in "WF" else LATIN for c in line)
               for line in str(text).split("\n"))
