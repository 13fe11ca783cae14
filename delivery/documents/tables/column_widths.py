"""Widths of a table's columns, from what stands in them: fixed widths set many times faster."""

from itertools import zip_longest
from statistics import fmean

from delivery.documents.tables.lowest_rows import lowest
from delivery.documents.tables.text_lines import length, line_count, lines_of

PADDING, SMALL_PADDING = 3.8, 2.9  # mm of a cell, left and right with its rule; of dense tables
LINE = 4.35  # mm from line to line at that size
ONE_LINE_HASH = 72.0  # 64 characters as dense tables set them
HASH, WIDE_HASH, BOX, LEAST, MOST_CODE = 34.0, 54.0, 14.0, 13.0, 42.0
ROOM_TO_SIGN = 36.0
LANDSCAPE = 200  # mm; wider tables have room for longer pieces of a checksum
ONE_LINE = ("number", "day", "code")
BOLD = 1.12  # headings are wider
SMALL = 7.5 / 8.5  # dense tables are set smaller
HASH_SIZE, SMALL_HASH_SIZE = 0.8, 0.7  # of a checksum's letters, against those of a table
LARGEST_LEAST = 0.28  # share of the table that the longest word may claim
TRIED_ROWS = 150  # at most; a longer table is like its first rows


def column_widths(entry: dict, total: float, least: float = LEAST) -> list[float]:
    """Widths in per cent of the table.

    Args:
        entry: a table in one language (see `tables`).
        total: its width in mm.
        least: no column is narrower, in mm.

    What stays on one line gets what it needs; the rest is shared by the length of the texts, and
    then so that the rows stand as low as they can.
    """
    needs = _needs(entry, total, least)
    cells = [[lines_of(text) for text in row] for row in entry["rows"][:TRIED_ROWS]]
    elastic = {n: need for n, (need, weight) in enumerate(needs) if weight}
    return _shares(lowest(cells, _shared(needs, total), elastic, _sizes(entry), _padding(entry)))


def shared_widths(entries: list[dict], total: float) -> list[float]:
    """Widths of columns that tables one below the other have in common, as `column_widths`.

    The first column of each is as wide as the neediest first one, and so on.
    """
    return _shares(_shared(_joint(entries, total), total))


def _joint(entries: list[dict], total: float) -> list[tuple[float, float]]:
    needs = zip_longest(*(_needs(entry, total) for entry in entries), fillvalue=(0, 0))
    return [(max(width for width, _weight in column), max(weight for _width, weight in column))
            for column in needs]


def _needs(entry: dict, total: float, least: float = LEAST) -> list[tuple[float, float]]:
    """What each column needs, see `_need`."""
    cells = list(zip(*entry["rows"], strict=True)) or [()] * len(entry["columns"])
    return [_need(column, texts, total, least, is_dense=entry.get("is_dense", False))
            for column, texts in zip(entry["columns"], cells, strict=True)]


def _shared(needs: list[tuple[float, float]], total: float) -> list[float]:
    """Widths in mm: what is left of the table goes to the columns by their share."""
    weights = sum(weight for _width, weight in needs) or 1
    rest = max(total - sum(width for width, _weight in needs), 0)
    return [width + rest * weight / weights for width, weight in needs]


def _shares(widths: list[float]) -> list[float]:
    return [round(100 * width / sum(widths), 2) for width in widths]


def _sizes(entry: dict) -> list[float]:
    """How large the letters of each column are, against those of a table that is not dense."""
    text, digest = (SMALL, SMALL_HASH_SIZE) if entry.get("is_dense") else (1, HASH_SIZE)
    return [digest if column["look"] == "hash" else text for column in entry["columns"]]


def _padding(entry: dict) -> float:
    return SMALL_PADDING if entry.get("is_dense") else PADDING


def least_width(*entries: dict) -> float:
    """The width in mm below which words or figures would break, where tables share columns."""
    return sum(width for width, _weight in _joint(list(entries), LANDSCAPE))


def height(entry: dict, widths: list[float], total: float) -> float:
    """About how high the rows stand in mm, where columns have these widths in per cent."""
    size, padding = (SMALL, 1.5) if entry.get("is_dense") else (1, 2.8)
    room = [max(width * total / 100 - _padding(entry), 1) / letters
            for width, letters in zip(widths, _sizes(entry), strict=True)]
    lines = sum(max(line_count(lines_of(text), space) for text, space in zip(
        row, room, strict=True)) for row in entry["rows"])
    return lines * LINE * size + padding * len(entry["rows"])


def _need(column: dict, texts: tuple, total: float, narrowest: float, *, is_dense: bool
          ) -> tuple[float, float]:
    """(least width in mm, share of what is left); no share for what stays on one line."""
    look, title = column["look"], column["title"]
    size, padding = (SMALL, SMALL_PADDING) if is_dense else (1, PADDING)
    head = BOLD * max((length(word) if word.isascii() else min(length(word), narrowest)
                       for word in title.split()), default=0)
    if look == "hash":
        wide = ONE_LINE_HASH if is_dense else WIDE_HASH
        return max(wide if total > LANDSCAPE else HASH, head + padding), 0
    if look == "box":
        return max(BOX, head + padding), 0
    if look == "blank":
        return ROOM_TO_SIGN, 0
    longest, head = size * max(map(length, texts), default=0), size * head
    if look in ONE_LINE:
        return min(max(longest, head, narrowest - padding) + padding, MOST_CODE), 0
    word = size * max((length(word) for text in texts for word in str(text).split()
                       if word.isascii()), default=0)
    least = max(narrowest, head + padding, min(word + padding, LARGEST_LEAST * total))
    if longest and longest + padding <= least and longest < head:
        return least, 0
    typical = fmean(map(length, texts)) if texts else 0
    return min(least, longest + padding if longest > head else least), (
        (typical + longest) / 2) ** 0.75 + 1
