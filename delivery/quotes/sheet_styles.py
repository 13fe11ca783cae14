"""Named styles, widths and print set-up of the quotation's sheet."""

import io

from openpyxl.drawing.image import Image
from openpyxl.styles import Alignment, Border, Font, NamedStyle, PatternFill, Protection, Side
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.worksheet import Worksheet

from delivery.reports.identity.logos import of_uri

WIDTHS = (6, 30, 36, 14, 14, 10, 10, 9, 14, 14, 9, 16, 14, 16, 16, 18)
THIN = Side(style="thin", color="B9C3D0")
BORDER = Border(left=THIN, right=THIN, top=THIN, bottom=THIN)
MONEY = "#,##0.00"
LOGO_CELLS = {"logo": "J2", "partner_logo": "M2"}  # rows 2 to 6: nothing else stands there
LOGO_PIXELS = (270, 96)  # the most; three columns, five rows


def named_styles(look: dict) -> list[NamedStyle]:
    """Every style a cell of the quotation may have, in the colours of the paper's look."""
    colour, tint = (look[name].removeprefix("#").upper() for name in ("colour", "tint"))
    wrapped = Alignment(wrap_text=True, vertical="top")
    return [
        NamedStyle("desk_title", font=Font(bold=True, size=16, color=colour)),
        NamedStyle("desk_label", font=Font(bold=True, color="44546A"), alignment=wrapped),
        NamedStyle("desk_head", font=Font(bold=True), border=BORDER,
                   fill=PatternFill("solid", fgColor=tint),
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


def place_logos(sheet: Worksheet, look: dict) -> None:
    """The firm's logo and the customer's at the right of the head, above the columns of amounts."""
    for name, cell in LOGO_CELLS.items():
        if look[name]:
            picture = Image(io.BytesIO(of_uri(look[name])))
            share = min(LOGO_PIXELS[0] / picture.width, LOGO_PIXELS[1] / picture.height)
            picture.width, picture.height = picture.width * share, picture.height * share
            sheet.add_image(picture, cell)


def print_setup(sheet: Worksheet, head_row: int, title: str, heads: dict[str, str]) -> None:
    """A4 landscape, one page wide, headings on each page, numbered, locked.

    Args:
        title: left at the foot of every page.
        heads: texts of its head (see `identity.look.heads`).
    """
    for column, width in enumerate(WIDTHS, 1):
        sheet.column_dimensions[get_column_letter(column)].width = width
    sheet.page_setup.orientation, sheet.page_setup.paperSize = "landscape", 9
    sheet.page_setup.fitToHeight = 0
    sheet.sheet_properties.pageSetUpPr.fitToPage = True
    sheet.print_title_rows = f"{head_row}:{head_row}"
    sheet.freeze_panes = f"C{head_row + 1}"
    sheet.oddFooter.left.text, sheet.oddFooter.right.text = title, "&P / &N"
    sheet.oddHeader.left.text = plain(heads["page_head"])
    sheet.oddHeader.right.text = plain(heads["page_corner"])
    sheet.protection.sheet = True


def plain(text: str) -> str:
    """Text of a head or foot in which no sign starts a code."""
    return text.replace("&", "&&")
