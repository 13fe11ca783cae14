"""A document's tables as a workbook, after a sheet with the document's identity.

A long table has a sheet of its own, with a filter; short ones stand one below the other, so that
a printed page is no single line.
"""

import contextlib
import io
import math
from collections.abc import Callable, Iterable, Iterator

from django.utils.translation import gettext as _
from django.utils.translation import override
from openpyxl import Workbook
from openpyxl.styles import Alignment, Border, Font, PatternFill, Protection, Side
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.worksheet import Worksheet

from bundle_verifier.canonical import content_hash
from delivery.documents.banners import marks
from delivery.documents.bilingual import in_language
from delivery.documents.branding.theme import frozen_theme
from delivery.documents.office.deterministic_zip import deterministic_zip
from delivery.documents.office.workbook_styles import TALLEST, plain, safe_text
from delivery.documents.tables.column_widths import least_width, shared_widths
from delivery.documents.tables.text_lines import length
from delivery.reports.office.plain_tables import sheets

THIN = Side(style="thin", color="B9C3D0")
BORDER = Border(left=THIN, right=THIN, top=THIN, bottom=THIN)
WRAPPED = Alignment(wrap_text=True, vertical="top")
HORIZONTAL = {"number": "right", "box": "center"}
LONGEST_SHEET_NAME = 28
PAGE, LANDSCAPE_MM = 132, 261  # width of a landscape page in characters, and in mm
CHARACTER = 2.0  # mm, the unit of a column's width
LOOSE = 1.18  # lines break at words, and letters of office fonts are wider
FONT = {"zh-hans": "Microsoft YaHei", "en": "Calibri"}
NOTHING = "–"  # said in a cell rather than left blank
FEW_ROWS = 8  # of a table that needs no sheet of its own
LARGE = 12  # points; larger letters stay as they are
RED = "B42318"
LINE, AIR, SIZE = 13, 4, 9  # of a row in points, and of its letters


def document_xlsx(snapshot: dict, language: str, *, is_withdrawn: bool = False,
                  tables: Callable[[dict], Iterable[dict]] = sheets) -> bytes:
    """The workbook in one language; every cell is text or a number, never a formula.

    Args:
        is_withdrawn: say on the first sheet and at the top of every page that it is void.
        tables: what is listed, made of the facts in the active language.
    """
    facts = in_language(snapshot, language)
    with override(language):
        book, warnings = Workbook(), marks(facts, is_withdrawn=is_withdrawn)
        _cover(book.active, facts, content_hash(snapshot), warnings)
        head = PatternFill("solid",
                           fgColor=frozen_theme(facts)["tint"].removeprefix("#").upper())
        for entries in _by_sheet(tables(facts)):
            _fill(book.create_sheet(), entries, facts["title"], head)
        _stamp(book, facts, warnings)
        _letters(book, FONT[language])
        data = io.BytesIO()
        book.save(data)
    return deterministic_zip(data.getvalue(), facts["date"])


def _cover(sheet: Worksheet, facts: dict, digest: str, warnings: list[str]) -> None:
    sheet.title = _("Document")
    sheet["A1"] = safe_text(facts["title"])
    sheet["A1"].font = Font(bold=True, size=16,
                            color=frozen_theme(facts)["colour"].removeprefix("#").upper())
    for warning in warnings:
        sheet.append([_("Note"), warning])
        sheet.cell(sheet.max_row, 2).font = Font(bold=True, color=RED)
    rows = [
        (_("Project"), facts["engagement"]["name"]),
        (_("Project code"), facts["engagement"]["code"]),
        (_("Document number"), facts["number"] or _("DRAFT")),
        (_("Version"), f"V{facts['version']}.0"), (_("Customer"), facts["customer"]["name"]),
        (_("Prepared by (company)"), facts["supplier"]["name"]), (_("Date"), facts["date"]),
        (_("Prepared by"), facts["prepared_by"]["name"]),
        (_("Reviewed by"), facts["reviewed_by"]["name"]),
        (_("Approved by"), facts["approved_by"]["name"]), (_("Content hash (SHA-256)"), digest)]
    for label, value in rows:
        sheet.append([label, safe_text(str(value or "–"))])
        sheet.cell(sheet.max_row, 1).font = Font(bold=True, color="44546A")
        for cell in sheet[sheet.max_row]:
            cell.alignment = WRAPPED
    sheet.column_dimensions["A"].width, sheet.column_dimensions["B"].width = 26, 104
    _passages(sheet, facts["words"])
    _heights(sheet)
    sheet.row_dimensions[1].height = 30


def _by_sheet(entries: list[dict]) -> Iterator[list[dict]]:
    """Tables by the sheet that holds them: short neighbours share one if their columns can."""
    group: list[dict] = []
    for entry in entries:
        if group and not _may_share([*group, entry]):
            yield group
            group = []
        group.append(entry)
    if group:
        yield group


def _may_share(entries: list[dict]) -> bool:
    return (all(len(entry["rows"]) <= FEW_ROWS for entry in entries)
            and least_width(*entries) <= LANDSCAPE_MM)


def _fill(sheet: Worksheet, entries: list[dict], title: str, head: PatternFill) -> None:
    """One table with its filter, or several, each below its caption."""
    for n, share in enumerate(shared_widths(entries, LANDSCAPE_MM), 1):
        sheet.column_dimensions[get_column_letter(n)].width = round(share * PAGE / 100, 1)
    if len(entries) == 1:
        title = entries[0]["caption"]
        _table(sheet, entries[0], head)
        sheet.freeze_panes, sheet.print_title_rows = "B2", "1:1"
        sheet.auto_filter.ref = sheet.dimensions
    else:
        for n, entry in enumerate(entries):
            row = sheet.max_row + 2 if n else 1  # air between two tables
            sheet.cell(row, 1, safe_text(entry["caption"])).font = Font(bold=True)
            _table(sheet, entry, head)
    sheet.title = "".join(c for c in title if c not in r"[]:*?/\'")[:LONGEST_SHEET_NAME]
    _heights(sheet)
    _print(sheet, title)


def _table(sheet: Worksheet, entry: dict, head: PatternFill) -> None:
    """Head and rows below what the sheet holds; a sentence where there is no row."""
    sheet.append([column["title"] for column in entry["columns"]])
    for cell, column in zip(sheet[sheet.max_row], entry["columns"], strict=False):
        cell.font, cell.fill, cell.border = Font(bold=True), head, BORDER
        cell.alignment = _aligned(column, "center")
    for row in entry["rows"]:
        sheet.append([_value(value, column["look"])
                      for value, column in zip(row, entry["columns"], strict=True)])
        for cell, column in zip(sheet[sheet.max_row], entry["columns"], strict=False):
            cell.border, cell.alignment = BORDER, _aligned(column, "top")
            cell.protection = Protection(locked=column["look"] != "box")
    if not entry["rows"]:
        sheet.append([entry["empty"]])


def _aligned(column: dict, vertical: str) -> Alignment:
    side = HORIZONTAL.get(column["look"])
    return Alignment(wrap_text=True, vertical=vertical, horizontal=side,
                     indent=1 if side == "right" else 0)


def _value(text: str, look: str) -> str | int | float:
    """A number where the column holds numbers and the text is one; text otherwise."""
    if look == "number":
        with contextlib.suppress(ValueError):
            number = float(text)
            if math.isfinite(number):
                return int(number) if number.is_integer() else number
    return safe_text(text) or NOTHING


def _print(sheet: Worksheet, caption: str) -> None:
    sheet.oddHeader.left.text = plain(caption)
    sheet.protection.sheet = True
    sheet.protection.autoFilter = sheet.protection.formatColumns = False
    sheet.protection.formatRows = False


def _heights(sheet: Worksheet) -> None:
    """Heights for what wraps: not every program measures rows when it opens a file."""
    for row in sheet.iter_rows():
        lines = max(_lines(str(cell.value or ""),
                           sheet.column_dimensions[cell.column_letter].width)
                    if cell.alignment.wrap_text else 1 for cell in row)
        sheet.row_dimensions[row[0].row].height = min(lines * LINE + AIR, TALLEST)


def _lines(text: str, width: float) -> int:
    return sum(max(1, math.ceil(length(line) * LOOSE / (width * CHARACTER)))
               for line in text.split("\n"))


def _passages(sheet: Worksheet, words: dict) -> None:
    """The written passages, below the identity: they are few and need no page of their own."""
    for passage in words.values():
        sheet.append([safe_text(passage["title"]), safe_text(passage["text"])])
        title, text = sheet[sheet.max_row]
        title.font, title.alignment = Font(bold=True), WRAPPED
        text.alignment = WRAPPED


def _stamp(book: Workbook, facts: dict, warnings: list[str]) -> None:
    """Number, version, and that it is practice or void, on every printed page."""
    name = f"{facts['number'] or _('DRAFT')} V{facts['version']}.0"
    for sheet in book.worksheets:
        sheet.oddFooter.left.text, sheet.oddFooter.right.text = plain(name), "&P / &N"
        if warnings:
            sheet.oddHeader.right.text = plain(" · ".join(warnings))
            sheet.sheet_properties.tabColor = RED
        sheet.page_setup.orientation, sheet.page_setup.paperSize = "landscape", 9
        sheet.page_setup.fitToHeight = 0
        sheet.sheet_properties.pageSetUpPr.fitToPage = True


def _letters(book: Workbook, name: str) -> None:
    """One typeface throughout; without a name a program chooses its own for bold."""
    for sheet in book.worksheets:
        for row in sheet.iter_rows():
            for cell in row:
                old = cell.font
                cell.font = Font(name=name, bold=old.bold, color=old.color,
                                 size=old.size if (old.size or 0) > LARGE else SIZE)
