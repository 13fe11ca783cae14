"""Opens an uploaded price list: bounded, formulas and merged cells named, nothing evaluated."""

import hashlib
import tempfile
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO

from django.utils.translation import gettext as _
from openpyxl import load_workbook
from openpyxl.utils import get_column_letter

from engagements.errors import InvalidInput
from engagements.text.printable_text import printable
from toolreaders.source import ReadError, Source
from toolreaders.xlsx import workbook_of

MAX_BYTES = 10 * 2**20
MAX_ROWS = 6_000
MAX_COLUMNS = 40
MAX_CELL = 400
OLE_MAGIC = bytes.fromhex("d0cf11e0a1b11ae1")
ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


@dataclass
class PriceSheet:
    """The cells of one sheet as texts, and what a reader must know about some of them."""

    title: str
    sha256: str
    rows: list[list[str]] = field(default_factory=list)
    remarks: list[list[str]] = field(default_factory=list)  # [code, cell or range]


def read_price_sheet(upload: BinaryIO, name: str) -> PriceSheet:
    """The first sheet that holds anything.

    Raises InvalidInput with a sentence for each of: not a workbook, old .xls, password, damage,
    too many bytes, rows or columns, an archive that unpacks to far more than it should.
    """
    data = upload.read(MAX_BYTES + 1)
    _check_kind(data, name)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "upload.xlsx")
        path.write_bytes(data)
        _check_size(path, name)
        return _sheet(path, hashlib.sha256(data).hexdigest(), name)


def _check_kind(data: bytes, name: str) -> None:
    if not data:
        raise InvalidInput(_("“%(file)s” is empty.") % {"file": name})
    if len(data) > MAX_BYTES:
        raise InvalidInput(_("“%(file)s” is larger than %(limit)d MB. Split the price list.")
                           % {"file": name, "limit": MAX_BYTES // 2**20})
    if data.startswith(OLE_MAGIC):
        raise InvalidInput(
            _("“%(file)s” is protected by a password. Remove it (File › Info) and upload again.")
            % {"file": name} if ENCRYPTED in data else
            _("“%(file)s” is in the old .xls format. Save it as .xlsx and upload again.")
            % {"file": name})


def _check_size(path: Path, name: str) -> None:
    """Counts rows and cells in streaming mode, before the whole is loaded."""
    try:
        book = workbook_of(Source(path))
        if book is None:
            raise InvalidInput(_("“%(file)s” is not an .xlsx workbook. Save the price list as "
                                 ".xlsx.")
                               % {"file": name})
        for sheet in book.sheet_names:
            for number, row in enumerate(book.rows(sheet), 1):
                _check_row(number, len(row), sheet)
    except ReadError as error:
        reasons = {"too_large": _("it unpacks to too much data"),
                   "unsafe_archive": _("it unpacks to far more than its size allows"),
                   "encrypted_archive": _("it is protected by a password")}
        raise InvalidInput(_("“%(file)s” cannot be read: %(reason)s.") % {
            "file": name, "reason": reasons.get(error.code, _("the file is damaged"))}) from error


def _check_row(number: int, width: int, sheet: str) -> None:
    if number > MAX_ROWS or width > 2000:
        raise InvalidInput(_("Sheet “%(sheet)s” has more than %(n)d rows or far too many columns. "
                             "Delete what is empty or split it.")
                           % {"sheet": sheet, "n": MAX_ROWS})


def _sheet(path: Path, sha256: str, name: str) -> PriceSheet:
    try:
        values, formulas = (load_workbook(path, data_only=stored, keep_links=False)
                            for stored in (True, False))
    except Exception as error:  # openpyxl lets every kind of error out of damaged files
        raise InvalidInput(_("“%(file)s” cannot be read: %(reason)s.") % {
            "file": name, "reason": _("the file is damaged")}) from error
    for sheet in values.worksheets:
        found = PriceSheet(sheet.title[:80], sha256, [
            [_text(cell) for cell in row] for row in sheet.iter_rows(
                max_col=min(sheet.max_column, MAX_COLUMNS), values_only=True)])
        if any(any(row) for row in found.rows):
            _note_formulas(found, formulas[sheet.title])
            _spread_merged(found, sheet)
            return found
    raise InvalidInput(_("“%(file)s” holds no cell with text.") % {"file": name})


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{Decimal(repr(value)):f}".removesuffix(".0")
    if isinstance(value, datetime | date):
        return value.isoformat()[:10]
    return " ".join(printable(str(value)).split())[:MAX_CELL]


def _note_formulas(found: PriceSheet, sheet: Any) -> None:
    for cells in sheet.iter_rows(max_row=len(found.rows), max_col=len(found.rows[0])):
        for cell in cells:
            if cell.data_type == "f":
                stored = found.rows[cell.row - 1][cell.column - 1]
                found.remarks.append(["formula" if stored else "formula_empty", cell.coordinate])


def _spread_merged(found: PriceSheet, sheet: Any) -> None:
    """The first cell of a merged range stands for all of its rows, as one reads it in print."""
    for area in sheet.merged_cells.ranges:
        if area.max_col > MAX_COLUMNS or area.max_row > len(found.rows):
            continue
        if area.min_row < area.max_row:
            found.remarks.append(["merged", f"{get_column_letter(area.min_col)}{area.min_row}:"
                                            f"{get_column_letter(area.max_col)}{area.max_row}"])
        value = found.rows[area.min_row - 1][area.min_col - 1]
        for row in range(area.min_row, area.max_row):
            found.rows[row][area.min_col - 1] = value
