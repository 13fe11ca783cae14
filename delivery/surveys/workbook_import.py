"""A filled-in workbook, read back: what differs, and what is wrong with which cell.

The file is hostile until shown otherwise: size and packing are checked before it is opened.
"""

import io
import warnings
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from django.conf import settings
from django.core.files import File
from django.utils.translation import gettext as _
from openpyxl import load_workbook

from delivery.surveys.answer_sheet import Cell, Sheet
from delivery.surveys.answer_values import parse_value, show_value
from delivery.surveys.models import Survey
from delivery.surveys.services import Change, value_at
from delivery.surveys.workbook_export import (
    FIRST_ANSWER,
    FORMAT,
    HEAD_ROW,
    META,
    SHEETS,
    plain_text,
    sheet_of,
)
from engagements.errors import InvalidInput
from toolreaders.source import ReadError
from toolreaders.xlsx import members

MAX_FILE_BYTES = 5 * 2**20
MAX_UNPACKED_BYTES = 30 * 2**20
MAX_ROWS, MORE_COLUMNS = 400, 50  # beside a column per model
OLE_MAGIC = b"\xd0\xcf\x11\xe0"


@dataclass(frozen=True)
class CellError:
    """Sheet, cell, what is wrong and what to do."""

    sheet: str
    cell: str
    sentence: str


@dataclass(frozen=True)
class Difference:
    """An answer the file would change; `is_overtaken` when it changed here since the export."""

    cell: Cell
    before: str
    after: str
    change: Change
    is_overtaken: bool


@dataclass
class Reading:
    """What a workbook says: differences to apply, errors by cell, and how much is as before."""

    differences: list[Difference] = field(default_factory=list)
    errors: list[CellError] = field(default_factory=list)
    unchanged: int = 0


def read_upload(survey: Survey, upload: File) -> Reading:
    """`read_workbook` of an uploaded file; one that is too large is not read at all."""
    if upload.size > min(MAX_FILE_BYTES, settings.UPLOAD_LIMIT_BYTES):
        raise InvalidInput(_("The file is larger than 5 MB. A filled-in survey is far smaller."))
    return read_workbook(survey, upload.read())


def read_workbook(survey: Survey, data: bytes) -> Reading:
    """Compare a workbook with the survey. Writes nothing.

    Raises InvalidInput with one sentence for a file that cannot be used as a whole.
    """
    _check_container(data)
    book = _load(data)
    revisions, sheet, reading = _revisions(book, survey), Sheet(survey), Reading()
    for per_model in (False, True):
        name = sheet_of(book.sheetnames, per_model)
        if name is None:
            raise InvalidInput(_("Sheet “%(name)s” is missing. Export the workbook again.") % {
                "name": " / ".join(titles[per_model] for titles in SHEETS.values())})
        _check_shape(book[name], len(sheet.models))
        _read_page(book[name], sheet, revisions, reading, is_models=per_model)
    return reading


def _check_container(data: bytes) -> None:
    if len(data) > MAX_FILE_BYTES:
        raise InvalidInput(_("The file is larger than 5 MB. A filled-in survey is far smaller."))
    if data.startswith(OLE_MAGIC):
        raise InvalidInput(_("The file is password-protected or an old .xls. "
                             "Save it as .xlsx without a password."))
    try:
        with NamedTemporaryFile(suffix=".xlsx") as file:
            file.write(data)
            file.flush()
            found = members(Path(file.name))
    except ReadError as error:
        raise InvalidInput(_unsound()) from error
    if sum(member.file_size for member in found) > MAX_UNPACKED_BYTES:
        raise InvalidInput(_("The workbook unpacks to more than 30 MB, too much for a survey."))


def _unsound() -> str:
    return _("The file is not a valid .xlsx workbook. Open it in Excel or WPS and save it as "
             ".xlsx; renaming a .csv or .xls is not enough.")


def _load(data: bytes) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl's remarks on extensions it drops
            return load_workbook(io.BytesIO(data), keep_links=False)
    except (Exception, zipfile.BadZipFile) as error:  # openpyxl lets every kind of error out
        raise InvalidInput(_unsound()) from error


def _revisions(book: Any, survey: Survey) -> dict[str, int]:
    meta = book[META] if META in book.sheetnames else None
    rows = list(meta.iter_rows(values_only=True, max_row=min(meta.max_row, 20_000))
                ) if meta else []
    if not rows or tuple(rows[0])[:1] != (FORMAT,):
        raise InvalidInput(_("This workbook was not exported from a survey of this system."))
    if tuple(rows[0])[1:2] != (survey.pk,):
        raise InvalidInput(_("This workbook belongs to the survey of another engagement."))
    return {row[0]: row[1] for row in rows[1:]
            if isinstance(row[0], str) and isinstance(row[1], int)}


def _check_shape(page: Any, models: int) -> None:
    if page.max_row > MAX_ROWS or page.max_column > FIRST_ANSWER + models + MORE_COLUMNS:
        raise InvalidInput(_("Sheet “%(name)s” has more rows or columns than a survey. "
                             "Remove what was added.") % {"name": page.title})


def _merged(page: Any, reading: Reading) -> set[tuple[int, int]]:
    """Cells of merged ranges, each range reported once. None of them is an answer: of all but
    one cell the file does not tell what stood there."""
    found = set()
    for area in page.merged_cells.ranges:
        if area.max_row <= HEAD_ROW:
            continue
        reading.errors.append(CellError(page.title, str(area), _(
            "These cells are merged. Unmerge them and give each its own answer.")))
        found |= {(row, column) for row in range(area.min_row, area.max_row + 1)
                  for column in range(area.min_col, area.max_col + 1)}
    return found


def _read_page(page: Any, sheet: Sheet, revisions: dict, reading: Reading, *, is_models: bool
               ) -> None:
    codes = {column: plain_text(str(page.cell(HEAD_ROW, column).value or "").strip())
             for column in range(FIRST_ANSWER, page.max_column + 1)}
    if not is_models:
        codes = {FIRST_ANSWER: ""}
    seen, merged = set(), _merged(page, reading)
    for row in range(HEAD_ROW + 1, page.max_row + 1):
        key = str(page.cell(row, 1).value or "").strip()
        for column, code in codes.items():
            if (row, column) in merged:
                continue
            name = f"{key}@{code}" if is_models else key
            found, place = sheet.cells.get(name), page.cell(row, column)
            if found is None or name in seen:
                if place.value is not None:
                    _error(reading, place, _("This cell belongs to no question, or to one that "
                                             "was given before. Undo what moved or was added."))
                continue
            seen.add(name)
            _read_cell(place, found, revisions.get(name, 0), reading)


def _read_cell(place: Any, cell: Cell, revision: int, reading: Reading) -> None:
    if place.data_type == "f":
        _error(reading, place, _("There is a formula. Put its value in instead."))
        return
    if place.data_type == "e":
        _error(reading, place, _("There is an error value. Enter the answer again."))
        return
    raw = plain_text(place.value) if isinstance(place.value, str) else place.value
    try:
        value = parse_value(cell.question, raw)
    except InvalidInput as error:
        _error(reading, place, error.message)
        return
    if value == cell.value or value == value_at(cell, revision):
        reading.unchanged += 1
        return
    reading.differences.append(Difference(
        cell, cell.text, show_value(cell.question, value),
        Change(cell.name, value, revision), revision != cell.revision))


def _error(reading: Reading, place: Any, sentence: str) -> None:
    reading.errors.append(CellError(place.parent.title, place.coordinate, sentence))
