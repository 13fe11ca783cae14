"""The table of an msprobe comparison (xlsx, csv, json) as rows; nothing is judged here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from toolreaders.accuracy.msprobe_rows import CompareRow
from toolreaders.csv_rows import csv_rows
from toolreaders.source import ReadError, ReadingWarning, Source
from toolreaders.xlsx import Row, text, workbook_of

NAMES = ("NPU Name", "Bench Name")
VERDICTS = ("Result", "Accuracy Reached or Not")
DROPPED = {"NPU_Stack_Info", "Data_name"}


@dataclass
class CompareTable:
    """A comparison as the tool wrote it: its columns, its rows, the column with its verdicts."""

    header: list[str]
    rows: list[CompareRow]
    verdict: str
    warnings: list[ReadingWarning] = field(default_factory=list)


def compare_table(source: Source) -> CompareTable:
    """The rows in the sheet's order. Raises ReadError for a table without verdicts or sheet."""
    table = _rows_of(source)
    header = [text(cell) for cell in next(table, ())]
    verdict = next((name for name in VERDICTS if name in header), None)
    if verdict is None:
        raise ReadError("damaged_file", "The comparison has no column with verdicts.")
    rows, warnings = _compare_rows(header, table)
    return CompareTable(header, rows, verdict, warnings)


def json_table(source: Source) -> CompareTable:
    """The same of ``compare -da``: {api: {is_same, op_items: [row…]}}."""
    items = [item for api in source.json.values() for item in api["op_items"]]
    header = list(items[0]) if items else list(NAMES)
    return CompareTable(header, [CompareRow(n, item) for n, item in enumerate(items, 1)], "Result")


def _rows_of(source: Source) -> Iterator[Row]:
    book = workbook_of(source)
    if book is None:
        return csv_rows(source)
    sheet = book.has(*NAMES)
    if sheet is None:
        raise ReadError("damaged_xlsx", "No sheet holds a comparison.")
    return book.rows(sheet)


def _compare_rows(
    header: list[str], table: Iterable[Row]
) -> tuple[list[CompareRow], list[ReadingWarning]]:
    columns_read = [(place, name) for place, name in enumerate(header) if name not in DROPPED]
    needed = max(place for place, name in columns_read if name) + 1
    rows, warnings = [], []
    for line, row in enumerate(table, start=2):
        if not any(text(cell) for cell in row):
            continue
        # trailing empty cells of a sheet are simply not stored, hence only names are demanded
        if len(row) < 2 or (len(row) < needed and not _ends_empty(header, row)):
            message = f"Row {line} has {len(row)} of {len(header)} cells and is left out."
            warnings.append(ReadingWarning("truncated_record", message, line))
            continue
        cells = {name: row[place] if place < len(row) else None for place, name in columns_read}
        rows.append(CompareRow(line, cells))
    return rows, warnings


def _ends_empty(header: list[str], row: Row) -> bool:
    """True when only the verdict and what follows it is missing: 8.x leaves them empty."""
    verdict = next(header.index(name) for name in VERDICTS if name in header)
    return len(row) >= verdict
