"""The rating sheet of a human evaluation: a workbook out, the filled-in one in again.

A rater sees a prompt and two answers, A and B, and never which platform made which. Items are
found again by their number; that their texts are unchanged is checked by a digest.
"""

import hashlib
import io
import warnings
import zipfile
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import override
from openpyxl import Workbook, load_workbook
from openpyxl.styles import Alignment, Border, Font, PatternFill, Protection, Side
from openpyxl.worksheet.datavalidation import DataValidation

from assessments.models import HumanEvaluation
from engagements.errors import InvalidInput
from toolreaders.source import ReadError
from toolreaders.verdicts.preferences import SIDES, TIE, candidate_side
from toolreaders.xlsx import members

FORMAT, META = "delivery-desk-rating-1", "_desk"
RATER_CELL, HEAD_ROW = "C3", 5
COLUMNS, CHOICE_COLUMN = ("#", "prompt", "A", "B", "choice"), 5
WIDTHS = (6, 40, 60, 60, 12)
MAX_FILE_BYTES, MAX_UNPACKED_BYTES = 10 * 2**20, 60 * 2**20
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
LINES = Border(*[Side("thin", color="C5CEDB")] * 4)
YELLOW = PatternFill("solid", fgColor="FFF7D6")


def shown_items(evaluation: HumanEvaluation) -> list[tuple[str, str, str]]:
    """Prompt, answer A, answer B of each item as raters see them."""
    rows = []
    for number, item in enumerate(evaluation.items, 1):
        pair = (item["candidate"], item["baseline"])
        first, second = pair if candidate_side(evaluation.seed, number) == "A" else pair[::-1]
        rows.append((item["prompt"], first, second))
    return rows


def rating_sheet(evaluation: HumanEvaluation, language: str) -> bytes:
    """The workbook in `zh-hans` or `en`; only the rater's name and the choices are to be filled."""
    with override(language):
        book = Workbook()
        page = book.active
        page.title = _("Rating")
        _head(page, evaluation)
        for number, row in enumerate(shown_items(evaluation), 1):
            _item(page, HEAD_ROW + number, number, row)
        last = HEAD_ROW + len(evaluation.items)
        allowed = DataValidation(type="list", formula1=f'"{",".join((*SIDES, TIE))}"',
                                 allow_blank=True, showErrorMessage=True)
        allowed.add(f"E{HEAD_ROW + 1}:E{last}")
        page.add_data_validation(allowed)
        page.freeze_panes = f"C{HEAD_ROW + 1}"
        page.protection.enable()
        meta = book.create_sheet(META)
        meta.append([FORMAT, evaluation.pk, digest_of(evaluation)])
        meta.sheet_state = "veryHidden"
        data = io.BytesIO()
        book.save(data)
    return data.getvalue()


def _head(page: Any, evaluation: HumanEvaluation) -> None:
    page["B1"] = _safe(str(evaluation))
    page["B1"].font = Font(bold=True, size=14)
    page["B2"] = _safe(evaluation.instruction) or _("Which answer is better?")
    page["B3"] = _("Name of the rater")
    page[RATER_CELL].fill, page[RATER_CELL].border = YELLOW, LINES
    page[RATER_CELL].protection = Protection(locked=False)
    page["B4"] = _("Choose A or B for the better answer, = where both are equally good.")
    titles = ("#", _("Prompt"), _("Answer A"), _("Answer B"), _("Choice (A, B or =)"))
    for column, (title, width) in enumerate(zip(titles, WIDTHS, strict=True), 1):
        cell = page.cell(HEAD_ROW, column, title)
        cell.font, cell.border = Font(bold=True), LINES
        page.column_dimensions[cell.column_letter].width = width


def _item(page: Any, row: int, number: int, texts: tuple[str, str, str]) -> None:
    for column, value in enumerate((number, *map(_safe, texts), None), 1):
        cell = page.cell(row, column, value)
        cell.alignment, cell.border = Alignment(wrap_text=True, vertical="top"), LINES
    choice = page.cell(row, CHOICE_COLUMN)
    choice.fill, choice.protection = YELLOW, Protection(locked=False)


def _safe(text: str) -> str:
    """Text that no program takes for a formula, without control characters xlsx cannot hold."""
    printable = "".join(c for c in text if c >= " " or c in "\n\t")
    return f"'{printable}" if printable.startswith(FORMULA_STARTS) else printable


def digest_of(evaluation: HumanEvaluation) -> str:
    """SHA-256 over what raters see, to tell a sheet of other answers."""
    shown = "\x1f".join(part for row in shown_items(evaluation) for part in row)
    return hashlib.sha256(shown.encode()).hexdigest()


def read_sheet(evaluation: HumanEvaluation, data: bytes) -> tuple[str, list[str | None]]:
    """Rater's name and choices of a filled-in sheet. Raises InvalidInput with cell and cure."""
    book = _load(data)
    _require_own(book, evaluation)
    page = book[next(name for name in book.sheetnames if name != META)]
    rater = str(page[RATER_CELL].value or "").strip()
    if not rater:
        raise InvalidInput(_("Cell %(cell)s: enter the name of the rater.") % {"cell": RATER_CELL})
    if len(rater) > 80:
        raise InvalidInput(_("Cell %(cell)s: a name has at most 80 characters.") % {
            "cell": RATER_CELL})
    wanted = dict(enumerate(shown_items(evaluation), 1))
    found: dict[int, str | None] = {}
    for row in range(HEAD_ROW + 1, min(page.max_row, HEAD_ROW + len(wanted) + 50) + 1):
        number = page.cell(row, 1).value
        if number is None and page.cell(row, CHOICE_COLUMN).value is None:
            continue
        if number not in wanted or number in found:
            raise InvalidInput(_("Row %(row)d: “%(number)s” is not an item of this evaluation, or "
                                 "appears twice.") % {"row": row, "number": number})
        texts = tuple(str(page.cell(row, column).value or "") for column in (2, 3, 4))
        if texts != tuple(map(_safe, wanted[number])):
            raise InvalidInput(_("Row %(row)d: prompt or answers were changed. Fill in the sheet "
                                 "as it was exported.") % {"row": row})
        found[number] = _choice(page.cell(row, CHOICE_COLUMN))
    if missing := sorted(set(wanted) - set(found)):
        raise InvalidInput(_("Item %(n)d is missing. Fill in the sheet as it was exported.") % {
            "n": missing[0]})
    choices = [found[number] for number in wanted]
    if not any(choices):
        raise InvalidInput(_("The sheet holds no choice."))
    return rater, choices


def _choice(cell: Any) -> str | None:
    text = str(cell.value if cell.value is not None else "").strip().upper().replace("＝", TIE)
    if text in ("", *SIDES, TIE):
        return text or None
    raise InvalidInput(_("Cell %(cell)s: “%(value)s” is not A, B or =.") % {
        "cell": cell.coordinate, "value": text[:40]})


def _require_own(book: Any, evaluation: HumanEvaluation) -> None:
    row = next(iter(book[META].iter_rows(values_only=True, max_row=1)), ()) if (
        META in book.sheetnames) else ()
    if tuple(row)[:1] != (FORMAT,) or len(book.sheetnames) < 2:
        raise InvalidInput(_("This workbook is not a rating sheet exported by this system."))
    if tuple(row)[1:3] != (evaluation.pk, digest_of(evaluation)):
        raise InvalidInput(_("This sheet belongs to another evaluation."))


def _load(data: bytes) -> Any:
    unsound = _("The file is not a valid .xlsx workbook. Open it in Excel or WPS and save it as "
                ".xlsx; renaming a .csv or .xls is not enough.")
    if len(data) > MAX_FILE_BYTES:
        raise InvalidInput(_("The file is larger than 10 MB, too much for a rating sheet."))
    try:
        with NamedTemporaryFile(suffix=".xlsx") as file:
            file.write(data)
            file.flush()
            unpacked = sum(member.file_size for member in members(Path(file.name)))
        if unpacked > MAX_UNPACKED_BYTES:
            raise InvalidInput(_("The file is larger than 10 MB, too much for a rating sheet."))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl's remarks on extensions it drops
            return load_workbook(io.BytesIO(data), keep_links=False)
    except InvalidInput:
        raise
    except (Exception, zipfile.BadZipFile, ReadError) as error:  # openpyxl lets every kind out
        raise InvalidInput(unsound) from error
