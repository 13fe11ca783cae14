"""Widths of a table's columns, from what stands in them: fixed widths set many times faster."""

import unicodedata
from statistics import fmean

LATIN, CJK, PADDING = 1.62, 3.0, 4.2  # mm at 8.5 pt
ONE_LINE_HASH = 72.0  # 64 characters as dense tables set them
HASH, WIDE_HASH, BOX, LEAST, MOST_CODE = 34.0, 54.0, 14.0, 13.0, 42.0
LANDSCAPE = 200  # mm; wider tables have room for longer pieces of a checksum
ONE_LINE = ("number", "day", "code")
BOLD = 1.12  # headings are wider
LARGEST_LEAST = 0.28  # share of the table that the longest word may claim


def column_widths(entry: dict, total: float) -> list[float]:
    """Widths in per cent of the table.

    Args:
        entry: a table in one language (see `tables`).
        total: its width in mm.

    What stays on one line gets what it needs; the rest is shared by the length of the texts.
    """
    cells = list(zip(*entry["rows"], strict=True)) or [()] * len(entry["columns"])
    needs = [_need(column, texts, total, entry.get("is_dense", False))
             for column, texts in zip(entry["columns"], cells, strict=True)]
    fixed = sum(width for width, weight in needs if not weight)
    weights = sum(weight for _width, weight in needs) or 1
    rest = max(total - fixed - sum(width for width, weight in needs if weight), 0)
    widths = [width + rest * weight / weights for width, weight in needs]
    return [round(100 * width / sum(widths), 2) for width in widths]


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
    longest = max(map(length, texts), default=0)
    if look in ONE_LINE:
        return min(max(longest, head, LEAST - PADDING) + PADDING, MOST_CODE), 0
    word = max((length(word) for text in texts for word in str(text).split()
                if word.isascii()), default=0)
    least = max(LEAST, head + PADDING, min(word + PADDING, LARGEST_LEAST * total))
    typical = fmean(map(length, texts)) if texts else 0
    return min(least, longest + PADDING if longest > head else least), (
        (typical + longest) / 2) ** 0.75 + 1


def length(text: str) -> float:
    """Length of a line of text in mm."""
    return sum(CJK if unicodedata.east_asian_width(c) in "WF" else LATIN for c in str(text))
