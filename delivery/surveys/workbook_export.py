"""The questionnaire as a workbook: one sheet for the engagement, one with a column per model.

Rows are found again by their key and columns by the model's code, never by position. A hidden
sheet holds the revision each answer had, so that a later reading knows what its writer saw.
"""

import io

from django.utils.translation import gettext as _
from django.utils.translation import override
from openpyxl import Workbook
from openpyxl.comments import Comment
from openpyxl.styles import Alignment, Border, Font, PatternFill, Protection, Side
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.properties import PageSetupProperties
from openpyxl.worksheet.worksheet import Worksheet

from delivery.surveys.answer_sheet import Cell, Sheet
from delivery.surveys.answer_values import choices_of
from delivery.surveys.models import Question, Survey

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
HEAD_ROW = 3
FIRST_ANSWER = 6
META = "_desk"
FORMAT = "delivery-desk-survey-1"
# Names of the two sheets by language; a book is read back in either, whoever translated it.
SHEETS = {"zh-hans": {False: "项目", True: "模型"}, "en": {False: "Engagement", True: "Models"}}
LINES = Border(*[Side("thin", color="C5CEDB")] * 4)
LISTED = (Question.Type.CHOICE, Question.Type.BOOL)


def survey_xlsx(survey: Survey, language: str) -> bytes:
    """The workbook in `zh-hans` or `en`; answers are text that no program takes for a formula."""
    with override(language):
        book, sheet = Workbook(), Sheet(survey)
        book.remove(book.active)
        lists = book.create_sheet("_lists")
        for per_model in (False, True):
            _fill(book.create_sheet(SHEETS[language][per_model]), lists, sheet, per_model)
        meta = book.create_sheet(META)
        meta.append([FORMAT, survey.pk, survey.questionnaire.version])
        for cell in sheet.cells.values():
            meta.append([cell.name, cell.revision])
        book.move_sheet("_lists", 2)
        lists.sheet_state = meta.sheet_state = "veryHidden"
        data = io.BytesIO()
        book.save(data)
    return data.getvalue()


def sheet_of(names: list[str], per_model: bool) -> str | None:
    """The name of the sheet in a book; upper and lower case are the same."""
    wanted = {titles[per_model].lower() for titles in SHEETS.values()}
    return next((name for name in names if name.strip().lower() in wanted), None)


def safe_text(value: str) -> str:
    """Text that no spreadsheet takes for a formula; `plain_text` takes the mark off again."""
    return f"'{value}" if value.startswith(("'", *FORMULA_STARTS)) else value


def plain_text(value: str) -> str:
    """What `safe_text` was given."""
    return value[1:] if value.startswith("'") and safe_text(value[1:]) == value else value


def _fill(page: Worksheet, lists: Worksheet, sheet: Sheet, per_model: bool) -> None:
    models = sheet.models if per_model else [None]
    page["B1"] = _("Survey") + " · " + safe_text(str(sheet.survey.engagement))
    page["B1"].font = Font(bold=True, size=14)
    page["B2"] = _("Fill in the yellow cells only. Grey: not asked, given the other answers.")
    titles = [_("Key"), "#", _("Section"), _("Survey question"), _("Required"), *(
        [m.code for m in models] if per_model else [_("Answer")])]
    for column, title in enumerate(titles, 1):
        cell = page.cell(HEAD_ROW, column, safe_text(title))
        cell.font, cell.fill = Font(bold=True), PatternFill("solid", fgColor="EEF3FB")
        cell.border, cell.alignment = LINES, Alignment(vertical="center", wrap_text=True)
    row = HEAD_ROW
    for question in sheet.questions:
        if question.is_per_model == per_model:
            row += 1
            _row(page, lists, row, question, [
                sheet.cells[f"{question.key}@{m.code}" if m else question.key] for m in models],
                 sheet)
    _layout(page, len(titles))


def _row(page: Worksheet, lists: Worksheet, row: int, question: Question, cells: list[Cell],
         sheet: Sheet) -> None:
    unit = f" ({question.unit})" if question.unit else ""
    for column, text in enumerate((
            question.key, question.part_number, question.localized_section,
            question.localized_label + unit,
            _("Yes") if question.is_required else ""), 1):
        cell = page.cell(row, column, safe_text(text) if isinstance(text, str) else text)
        cell.border, cell.alignment = LINES, Alignment(wrap_text=True, vertical="top")
    for column, answer in enumerate(cells, FIRST_ANSWER):
        cell = page.cell(row, column, _cell_value(answer))
        cell.protection, cell.border = Protection(locked=False), LINES
        cell.alignment = Alignment(wrap_text=True, vertical="top")
        cell.number_format = "General" if question.type == Question.Type.NUMBER else "@"
        colour = "FFFBEA" if sheet.is_asked(answer) else "E5E7EB"
        cell.fill = PatternFill("solid", fgColor=colour)
    _note(page, row, question)
    if cells:
        _validate(page, lists, row, question, len(cells))


def _cell_value(answer: Cell) -> str | float | int | None:
    if answer.value is None:
        return None
    if answer.question.type == Question.Type.NUMBER and len(answer.value) <= 15:
        number = float(answer.value)
        return int(number) if number.is_integer() else number
    return safe_text(answer.text)


def _note(page: Worksheet, row: int, question: Question) -> None:
    parts = [question.localized_help, question.get_type_display()]
    if question.type == Question.Type.MULTI:
        labels = "; ".join(label for _code, label in choices_of(question))
        parts.append(_("Several, separated by “;”: %(options)s") % {"options": labels})
    page.cell(row, 4).comment = Comment("\n".join(part for part in parts if part),
                                        "Delivery Desk", height=120, width=300)


def _validate(page: Worksheet, lists: Worksheet, row: int, question: Question, width: int) -> None:
    rule = _rule(lists, question)
    if rule is None:
        return
    rule.showErrorMessage = True
    rule.errorTitle, rule.error = _("Survey"), _("This value does not fit the question.")
    first, last = get_column_letter(FIRST_ANSWER), get_column_letter(FIRST_ANSWER + width - 1)
    rule.add(f"{first}{row}:{last}{row}")
    page.add_data_validation(rule)


def _rule(lists: Worksheet, question: Question) -> DataValidation | None:
    if question.type in LISTED:
        column = lists.max_column + (lists.cell(1, 1).value is not None)
        labels = [label for _code, label in choices_of(question)]
        for n, label in enumerate(labels, 1):
            lists.cell(n, column, safe_text(label))
        letter = get_column_letter(column)
        return DataValidation("list", f"_lists!${letter}$1:${letter}${len(labels)}",
                              allow_blank=True)
    if question.type == Question.Type.NUMBER:
        return DataValidation("decimal", operator="greaterThanOrEqual", formula1="0",
                              allow_blank=True)
    return None


def _layout(page: Worksheet, columns: int) -> None:
    for column in range(1, columns + 1):
        width = {1: 20, 2: 5, 3: 16, 4: 48, 5: 10}.get(column, 36)
        page.column_dimensions[get_column_letter(column)].width = width
    page.column_dimensions["A"].hidden = True  # keys are for the reader of the book
    page.freeze_panes = page.cell(HEAD_ROW + 1, FIRST_ANSWER)
    page.page_setup.orientation, page.page_setup.paperSize = "landscape", page.PAPERSIZE_A4
    page.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)
    page.page_setup.fitToHeight = 0
    page.print_title_rows = f"{HEAD_ROW}:{HEAD_ROW}"
    page.protection.sheet = True
    page.protection.formatColumns = page.protection.formatRows = False
