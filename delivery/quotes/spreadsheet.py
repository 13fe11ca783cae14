"""The quotation as xlsx with live formulas that give the PDF's figures."""

import io
from decimal import Decimal

from django.utils.translation import gettext as _
from django.utils.translation import override
from openpyxl import Workbook
from openpyxl.styles import Alignment, Border, Font, NamedStyle, PatternFill, Protection, Side
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.worksheet import Worksheet

from delivery.quotes.documents import facts_of, grade_label, unit_label
from delivery.quotes.models import Quote

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
WIDTHS = (6, 30, 40, 12, 10, 10, 16, 10, 18, 16, 18)
FIRST_LINE = 9


def quote_xlsx(quote: Quote, language: str) -> bytes:
    """The workbook in one language: quantities and prices are values, amounts are formulas."""
    with override(language):
        book = Workbook()
        sheet = book.active
        sheet.title = _("Quotation")
        for style in _styles():
            book.add_named_style(style)
        _fill(sheet, facts_of(quote), is_english=language.startswith("en"))
    data = io.BytesIO()
    book.save(data)
    return data.getvalue()


def safe_text(value: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    return f"'{value}" if value.startswith(FORMULA_STARTS) else value


def _styles() -> list[NamedStyle]:
    thin = Side(style="thin", color="B9C3D0")
    border = Border(left=thin, right=thin, top=thin, bottom=thin)
    return [
        NamedStyle("desk_title", font=Font(bold=True, size=16)),
        NamedStyle("desk_head", font=Font(bold=True), border=border,
                   fill=PatternFill("solid", fgColor="EEF3FB"),
                   alignment=Alignment(wrap_text=True, vertical="center")),
        NamedStyle("desk_text", border=border,
                   alignment=Alignment(wrap_text=True, vertical="top")),
        NamedStyle("desk_number", border=border, number_format="#,##0.00"),
        NamedStyle("desk_input", border=border, number_format="#,##0.00",
                   protection=Protection(locked=False),
                   fill=PatternFill("solid", fgColor="FFFBEA")),
        NamedStyle("desk_price", border=border, number_format="#,##0.00##"),
        NamedStyle("desk_rate", border=border, number_format="0.00%"),
        NamedStyle("desk_total", font=Font(bold=True), border=border, number_format="#,##0.00"),
    ]


def _fill(sheet: Worksheet, facts: dict, is_english: bool) -> None:
    _head(sheet, facts, is_english)
    last = _lines(sheet, facts, is_english)
    _totals(sheet, facts, last)
    _print_setup(sheet)


def _pick(entry: dict, name: str, is_english: bool) -> str:
    return safe_text((entry.get(f"{name}_en") if is_english else "") or entry.get(name) or "")


def _head(sheet: Worksheet, facts: dict, is_english: bool) -> None:
    sheet["A1"] = _("Quotation")
    sheet["A1"].style = "desk_title"
    rows = [
        (_("Number and version"), f"{facts['number']} V{facts['version']}.0"),
        (_("Date"), facts["quote_date"]), (_("Valid until"), facts["valid_until"]),
        (_("To"), _pick(facts["customer"], "name", is_english)),
        (_("Project"), f"{facts['project']['code']} {_pick(facts['project'], 'name', is_english)}"),
    ]
    for row, (label, value) in enumerate(rows, 2):
        sheet.cell(row, 2, label)
        sheet.cell(row, 3, value)
    sheet.cell(7, 2, _("Discount"))
    sheet.cell(7, 3, Decimal(facts["discount_rate"])).style = "desk_rate"


def _lines(sheet: Worksheet, facts: dict, is_english: bool) -> int:
    titles = ("#", _("Item"), _("Specification"), _("Unit"), _("Quantity"), _("Months"),
              _("Unit price (excl. tax)"), _("Tax rate"), _("Amount (excl. tax)"), _("Tax"),
              _("Amount (incl. tax)"))
    for column, title in enumerate(titles, 1):
        sheet.cell(FIRST_LINE - 1, column, title).style = "desk_head"
    row = FIRST_LINE - 1
    for number, line in enumerate(facts["lines"], 1):
        row += 1
        values = (
            (number, "desk_text"), (_pick(line, "name", is_english), "desk_text"),
            (_pick(line, "specification", is_english) or grade_label(line["grade"]), "desk_text"),
            (unit_label(line["unit"]), "desk_text"), (Decimal(line["quantity"]), "desk_input"),
            (Decimal(line["months"]), "desk_input"), (Decimal(line["unit_price"]), "desk_price"),
            (Decimal(line["tax_rate"]), "desk_rate"),
            (f"=ROUND(E{row}*F{row}*G{row}*(1-$C$7),2)", "desk_number"),
            (f"=ROUND(I{row}*H{row},2)", "desk_number"), (f"=I{row}+J{row}", "desk_number"))
        for column, (value, style) in enumerate(values, 1):
            sheet.cell(row, column, value).style = style
    return row


def _totals(sheet: Worksheet, facts: dict, last: int) -> None:
    row = last + 1
    sheet.cell(row, 2, _("Total")).style = "desk_total"
    for column in (9, 10, 11):
        letter = get_column_letter(column)
        cell = sheet.cell(row, column, f"=SUM({letter}{FIRST_LINE}:{letter}{last})")
        cell.style = "desk_total"
    sheet.cell(row + 1, 2, f"人民币{facts['words']}")
    for number, term in enumerate(facts["payment"], 1):
        sheet.cell(row + 2 + number, 2, safe_text(term["name"]))
        sheet.cell(row + 2 + number, 3, Decimal(term["percent"]) / 100).style = "desk_rate"
        formula = (f"=ROUND($K${row}*C{row + 2 + number},2)" if number < len(facts["payment"])
                   else f"=$K${row}-SUM(I{row + 3}:I{row + 1 + number})")
        sheet.cell(row + 2 + number, 9, formula).style = "desk_number"


def _print_setup(sheet: Worksheet) -> None:
    for column, width in enumerate(WIDTHS, 1):
        sheet.column_dimensions[get_column_letter(column)].width = width
    sheet.page_setup.orientation, sheet.page_setup.paperSize = "landscape", 9
    sheet.page_setup.fitToHeight = 0
    sheet.sheet_properties.pageSetUpPr.fitToPage = True
    sheet.print_title_rows = f"{FIRST_LINE - 1}:{FIRST_LINE - 1}"
    sheet.freeze_panes = f"C{FIRST_LINE}"
    sheet.protection.sheet = True
