"""Where the printed quotation begins a new page: sums and signatures are never torn apart."""

from collections.abc import Iterable

from openpyxl.worksheet.pagebreak import Break
from openpyxl.worksheet.worksheet import Worksheet

from delivery.quotes.xlsx.header import WIDTHS

PAPER = 784.0, 487.0  # points between the margins of A4 landscape
# Of a column's unit: as in Excel, and in a program that lacks Excel's fonts and takes wider ones.
DIGIT_POINTS = (5.25, 7.1)
ALLOWANCE = (0.97, 1.0, 1.03)  # programs differ in what a header takes
PLAIN_ROW = 15.0  # a row whose height is not set


def keep_together(sheet: Worksheet, blocks: Iterable[tuple[int, int]], head_row: int) -> None:
    """Begin a new page before each block that some program would print on two pages.

    Args:
        blocks: first and last row of each, from top to bottom.
        head_row: the row that is printed on each further page.
    """
    begin = 1
    for first, last in blocks:
        if any(_is_torn(sheet, begin, first, last, room, head_row) for room in _rooms()):
            sheet.row_breaks.append(Break(id=first - 1))
            begin = first


def _rooms() -> list[float]:
    """What a page may hold, in points of the sheet: its columns are made to fit the width."""
    width, height = PAPER
    return [height / width * sum(WIDTHS) * digit * share
            for digit in DIGIT_POINTS for share in ALLOWANCE]


def _is_torn(sheet: Worksheet, begin: int, first: int, last: int, room: float,
             head_row: int) -> bool:
    """Whether a page ends within the block, when one begins at the row `begin`."""
    used = 0.0 if begin == 1 else _height(sheet, head_row)
    for row in range(begin, last + 1):
        used += _height(sheet, row)
        if used > room:
            if row > first:
                return True
            used = _height(sheet, head_row) + _height(sheet, row)
    return False


def _height(sheet: Worksheet, row: int) -> float:
    return sheet.row_dimensions[row].height or PLAIN_ROW
