"""Widths of columns with which the rows of a table stand as low as can be found."""

from collections.abc import Callable
from functools import cache
from itertools import permutations, product

from delivery.documents.tables.text_lines import Line, line_count

NEAR, FAR = (1.0, 4.0, 10.0), (2.0, 6.0, 14.0)  # mm that a column gives another at a time
ROUNDS = 200  # at most
SLACK = 0.1  # mm; a text that just fits fits
BREAK = 0.35  # of a line: what a text that breaks wastes at the ends of its lines

Widths = tuple[float, ...]
Cost = Callable[[Widths], float]


def lowest(rows: list[list[list[Line]]], widths: list[float], elastic: dict[int, float],
           sizes: list[float], padding: float) -> list[float]:
    """The widths after moving room from column to column as long as that saves height.

    Args:
        rows: the lines of every cell, see `lines_of`.
        widths: in mm, to begin with; given back where nothing lower is found.
        elastic: the columns that may give and take, with the least width of each in mm.
        sizes: of the letters of each column, against those of `lines_of`.
        padding: mm of a cell that its text cannot use.

    Lines come in whole numbers, so that a small move often changes none: first the text that a
    cell holds is spread, then lines are counted.
    """
    def rooms(tried: Widths) -> list[float]:
        return [max(width - padding, 1) / size for width, size in zip(tried, sizes, strict=True)]

    columns = [list(cells) for cells in zip(*rows, strict=True)]
    counted = _cost(columns, rooms, lambda cell, room: line_count(cell, room + SLACK))
    spread = _cost([[[[(sum(width for width, _wide in line), True)] for line in cell]
                     for cell in cells] for cells in columns], rooms, _spread)
    begun = tuple(widths)
    found = _climbed(_climbed(begun, elastic, spread, NEAR), elastic, counted, FAR)
    return list(min(begun, found, key=counted))


def _spread(cell: list[Line], room: float) -> float:
    """The height of a cell in lines and parts of lines."""
    lengths = [line[0][0] / room for line in cell]
    return sum(length + BREAK if length > 1 else 1 for length in lengths)


def _cost(columns: list[list], rooms: Callable[[Widths], list[float]],
          height: Callable[[list[Line], float], float]) -> Cost:
    """The height of all rows by the widths of their columns."""
    @cache
    def of_column(n: int, room: float) -> list[float]:
        return [height(cell, room) for cell in columns[n]]

    @cache
    def of_rows(widths: Widths) -> float:
        found = [of_column(n, round(room, 2)) for n, room in enumerate(rooms(widths)) if columns]
        return round(sum(map(max, zip(*found, strict=True))), 6)

    return of_rows


def _climbed(widths: Widths, elastic: dict[int, float], cost: Cost, moves: tuple[float, ...]
             ) -> Widths:
    """The widths after the best move of each round, until none lowers the cost."""
    for _round in range(ROUNDS):
        tried = [moved for (giver, taker), move in product(permutations(elastic, 2), moves)
                 if (moved := _moved(widths, giver, taker, move))[giver] >= elastic[giver]]
        best = min(tried, key=cost, default=widths)
        if cost(best) >= cost(widths):
            break
        widths = best
    return widths


def _moved(widths: Widths, giver: int, taker: int, move: float) -> Widths:
    change = {giver: -move, taker: move}
    return tuple(width + change.get(n, 0) for n, width in enumerate(widths))
