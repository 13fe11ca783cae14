"""Named styles, widths and print set-up of the quotation's sheet."""

from openpyxl.styles import Alignment, Border, Font, NamedStyle, PatternFill, Protection, Side
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.worksheet import Worksheet

WIDTHS = (6, 30, 36, 14, 14, 10, 10, 9, 14, 14, 9, 16, 14, 16, 16, 18)
THIN = Side(style="thin", color="B9C3D0")
BORDER = Border(left=THIN, right=THIN, top=THIN, bottom=THIN)
MONEY = "#,##0.00"


def named_styles() -> list[NamedStyle]:
    """Every look a cell of the quotation may have."""
    wrapped = Alignment(wrap_text=True, vertical="top")
    return [
        NamedStyle("desk_title", font=Font(bold=True, size=16)),
        NamedStyle("desk_label", font=Font(bold=True, color="44546A"), alignment=wrapped),
        NamedStyle("desk_head", font=Font(bold=True), border=BORDER,
                   fill=PatternFill("solid", fgColor="EEF3FB"),
                   alignment=Alignment(wrap_text=True, vertical="center")),
        NamedStyle("desk_text", border=BORDER, alignment=wrapped),
        NamedStyle("desk_note", alignment=wrapped),
        NamedStyle("desk_number", border=BORDER, number_format=MONEY),
        NamedStyle("desk_input", border=BORDER, number_format=MONEY,
                   protection=Protection(locked=False),
                   fill=PatternFill("solid", fgColor="FFFBEA")),
        NamedStyle("desk_price", border=BORDER, number_format="#,##0.00##"),
        NamedStyle("desk_rate", border=BORDER, number_format="0.00%"),
        NamedStyle("desk_total", font=Font(bold=True), border=BORDER, number_format=MONEY,
                   alignment=Alignment(horizontal="right")),
    ]


def print_setup(sheet: Worksheet, head_row: int, title: str) -> None:
    """A4 landscape, one page wide, headings on each page, numbered, locked."""
    for column, width in enumerate(WIDTHS, 1):
        sheet.column_dimensions[get_column_letter(column)].width = width
    sheet.page_setup.orientation, sheet.page_setup.paperSize = "landscape", 9
    sheet.page_setup.fitToHeight = 0
    sheet.sheet_properties.pageSetUpPr.fitToPage = True
    sheet.print_title_rows = f"{head_row}:{head_row}"
    sheet.freeze_panes = f"C{head_row + 1}"
    sheet.oddFooter.left.text, sheet.oddFooter.right.text = title, "&P / &N"
    sheet.protection.sheet = True
