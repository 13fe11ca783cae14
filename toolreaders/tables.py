"""Tables as tools print them: markdown, ``+---+`` frames, box-drawing frames and CSV."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass

from toolreaders.csv_rows import csv_lines
from toolreaders.source import Source

RULE = re.compile(r"^[\s|+\-=:_╒╤╕╞╪╡├┼┤╘╧╛┌┬┐└┴┘─═━┏┳┓┡╇┩┗┻┛╔╦╗╠╬╣╚╩╝]*$")
BARS = str.maketrans("│┃║", "|||")
MARK = r"(?:[*`]+|~~|</?(?:b|strong|i|em)>)+"
EMPHASIS = re.compile(rf"^{MARK}|{MARK}$", re.IGNORECASE)
IN_LINE = re.compile(r"\*\*|`|</?(?:b|strong)>", re.IGNORECASE)
BULLET = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s+(?=\S)")


@dataclass
class Table:
    """A header and rows of equal width; ``lines`` are the rows' line numbers."""

    header: list[str]
    rows: list[list[str]]
    lines: list[int]

    def column(self, name: str) -> int | None:
        """Index of the column with this lower-case name."""
        lowered = [cell.lower() for cell in self.header]
        return lowered.index(name) if name in lowered else None


def without_emphasis(cell: str) -> str:
    """A cell without the marks around it that show it bold, slanted or as code."""
    return EMPHASIS.sub("", cell.strip()).strip()


def plain_line(line: str) -> str:
    """A line without its bullet and its marks of emphasis, which hide no value."""
    return IN_LINE.sub("", BULLET.sub("", line)).strip()


def cells_of(line: str) -> list[str] | None:
    """Cells of a table line, None for text and for rules between rows."""
    text = line.translate(BARS).strip()
    if "|" not in text or RULE.match(text):
        return None
    return [without_emphasis(cell) for cell in text.strip("|").split("|")]


def framed_tables(lines: Iterable[tuple[int, str]], least: int = 2) -> list[Table]:
    """All tables of at least ``least`` columns; text or the header again ends a table. What a
    logger prints before the header alone is no cell of it."""
    tables: list[Table] = []
    current: Table | None = None
    is_behind_text = False
    for number, line in lines:
        cells = cells_of(line)
        if cells is None:
            if line.strip() and not RULE.match(line.translate(BARS).strip()):
                current = None
            continue
        begins_with_bar = line.translate(BARS).lstrip().startswith("|")
        if (current and is_behind_text and begins_with_bar and not current.rows
                and len(cells) == len(current.header) - 1):
            del current.header[0]
        if current is None or len(cells) != len(current.header) or cells == current.header:
            if len(cells) < least:
                continue
            current, is_behind_text = Table(cells, [], []), not begins_with_bar
            tables.append(current)
        else:
            current.rows.append(cells)
            current.lines.append(number)
    return tables


def csv_table(source: Source, limit: int | None = None) -> Table:
    """A CSV or TSV file; quoted cells may span lines; ``limit`` bounds the rows."""
    text = source.text.lstrip("\ufeff")
    first = text.lstrip().partition("\n")[0]
    separator = max(",\t;", key=first.count)
    reader = csv.reader(csv_lines(text), delimiter=separator)
    table: Table | None = None
    for row in reader:
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        if table is None:
            table = Table([cell.strip("*") for cell in cells], [], [])
        else:
            table.rows.append(cells)
            table.lines.append(reader.line_num)
        if limit is not None and table and len(table.rows) >= limit:
            break
    return table or Table([], [], [])
