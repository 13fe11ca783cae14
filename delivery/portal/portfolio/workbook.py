"""The portfolio as a workbook, written row by row: memory does not grow with the engagements."""

import tempfile
from itertools import islice
from typing import IO, Any

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.styles import Font

from delivery.documents.office.workbook_styles import safe_text
from delivery.portal.portfolio.columns import Column
from delivery.portal.portfolio.rows import rows_of

BATCH = 500  # engagements whose figures are read together


def write_workbook(engagements, columns: list[Column], *, title: str, with_money: bool
                   ) -> IO[bytes]:
    """A temporary file, open at its beginning, with a heading and a row for each engagement."""
    book = Workbook(write_only=True)
    sheet = book.create_sheet(title[:31])
    sheet.freeze_panes = "A2"
    heading = [WriteOnlyCell(sheet, value=str(column.label)) for column in columns]
    for cell in heading:
        cell.font = Font(bold=True)
    sheet.append(heading)
    rows = engagements.iterator(chunk_size=BATCH)
    while some := list(islice(rows, BATCH)):
        for row in rows_of(some, with_money=with_money):
            sheet.append([_cell(column.value(row)) for column in columns])
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the answer that sends it closes it
    book.save(file)
    file.seek(0)
    return file


def _cell(value: Any) -> Any:
    return safe_text(value) if isinstance(value, str) else value
