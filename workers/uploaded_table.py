"""Lists that people upload as tables: the first sheet of an .xlsx that holds anything, or CSV.

Nothing is evaluated: a cell with a formula keeps its formula as text, which the check of the rows
refuses.
"""

import csv
import io
import tempfile
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from django.utils.translation import gettext as _

from engagements.errors import InvalidInput
from toolreaders.decoding import ZIP_MAGIC, decode, looks_binary
from toolreaders.source import ReadError
from toolreaders.xlsx import members

DELIMITERS = ",;\t"
OLE_MAGIC = bytes.fromhex("d0cf11e0a1b11ae1")
MAX_BYTES = 2 * 2**20
MAX_UNPACKED = 20 * 2**20  # of a workbook
MAX_ROWS, MAX_COLUMNS, MAX_CELL = 500, 60, 8000  # a certificate of RSA keys has 3,000


@dataclass
class Entry:
    """One row of a file: where it stands, and its texts by the file's own names."""

    place: str  # a row's number, or a host's name
    values: dict[str, str] = field(default_factory=dict)


def too_many() -> InvalidInput:
    """The refusal of a file with more rows or columns than such a list has."""
    return InvalidInput(_("The file has more than %(rows)d rows or %(columns)d columns. Delete "
                          "what is empty, or split it.")
                        % {"rows": MAX_ROWS, "columns": MAX_COLUMNS})


def damaged(why: str) -> InvalidInput:
    """The refusal of a file that cannot be read, with the reason."""
    return InvalidInput(_("The file cannot be read: %(why)s.") % {"why": why})


def read_upload(upload: BinaryIO) -> tuple[bytes, bool]:
    """All bytes of an uploaded list, and whether they are a workbook; otherwise they are text.

    Raises InvalidInput for a file that is too large, an old workbook, or neither.
    """
    data = upload.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise damaged(_("it is larger than %(limit)d MB") % {"limit": MAX_BYTES // 2**20})
    if data.startswith(OLE_MAGIC):
        raise damaged(_("it is an old .xls or protected by a password; save it as .xlsx"))
    is_workbook = data.startswith(ZIP_MAGIC)
    if not is_workbook and looks_binary(data[:4096]):
        raise damaged(_("it is neither .xlsx nor text"))
    return data, is_workbook


def read_table(upload: BinaryIO) -> list[Entry]:
    """The rows of an uploaded list, a workbook or CSV; raises InvalidInput as `read_upload`."""
    data, is_workbook = read_upload(upload)
    return entries_of_xlsx(data) if is_workbook else entries_of_csv(data)


def entries_of_csv(data: bytes) -> list[Entry]:
    """Rows of a CSV file with a heading; UTF-8 or GB 18030; comma, semicolon or tab."""
    text, _lossy = decode(data.removeprefix(b"\xef\xbb\xbf"))
    head = text.lstrip().split("\n", 1)[0]
    delimiter = max(DELIMITERS, key=head.count)
    try:
        return _entries(csv.reader(io.StringIO(text), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise damaged(str(error)) from error


def entries_of_xlsx(data: bytes) -> list[Entry]:
    """Rows of the first sheet with a heading and something below it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "inventory.xlsx")
        path.write_bytes(data)
        _check_packing(path)
        book = _opened(path)
        try:
            for sheet in book.worksheets:
                sheet.reset_dimensions()  # what the file declares is not believed
                if found := _entries([_text(value) for value in row]
                                     for row in sheet.iter_rows(values_only=True)):
                    return found
        except InvalidInput:
            raise
        except Exception as error:  # openpyxl lets every kind of error out of damaged files
            raise damaged(_("the workbook is damaged")) from error
        finally:
            book.close()
    return []


def _check_packing(path: Path) -> None:
    try:
        found = members(path)
    except ReadError as error:
        raise damaged(_("it is not a valid .xlsx workbook, or it is protected by a password")
                      ) from error
    if sum(member.file_size for member in found) > MAX_UNPACKED:
        raise damaged(_("it unpacks to far more than such a list needs"))


def _opened(path: Path) -> Any:
    from openpyxl import load_workbook  # slow to import: not at start

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # remarks on styles it does not know
            return load_workbook(path, read_only=True, data_only=False, keep_links=False)
    except Exception as error:
        raise damaged(_("the workbook is damaged")) from error


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _entries(rows: Iterable[list[str]]) -> list[Entry]:
    """The first row that is not empty names the columns. Empty rows are passed over."""
    heading: list[str] = []
    found: list[Entry] = []
    for number, row in enumerate(rows, 1):
        cells = [cell.strip()[:MAX_CELL] for cell in row]
        width = max((place for place, cell in enumerate(cells, 1) if cell), default=0)
        if len(found) >= MAX_ROWS or number > 4 * MAX_ROWS or width > MAX_COLUMNS:
            raise too_many()
        if not any(cells):
            continue
        if not heading:
            heading = cells
            continue
        named = zip(heading, cells, strict=False)
        found.append(Entry(str(number), {name: cell for name, cell in named if name and cell}))
    return found
