"""How the firm's workbooks are set: named styles, row heights, logos and print set-up."""

import io
import math
from collections.abc import Iterable
from unicodedata import east_asian_width

from openpyxl.drawing.image import Image
from openpyxl.styles import Alignment, Border, Font, NamedStyle, PatternFill, Protection, Side
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.worksheet import Worksheet

from delivery.documents.branding.logos import of_uri
from engagements.text.printable_text import printable

FONT, SIZE = "Microsoft YaHei", 10
LINE_POINTS, ROW_PADDING = 14.5, 5.0  # of a row's height
WORD_LOSS = 1.08  # what is lost at the ends of wrapped lines
THIN = Side(style="thin", color="B9C3D0")
BOX = Border(left=THIN, right=THIN, top=THIN, bottom=THIN)
UNDER = Border(bottom=Side(style="hair", color="B9C3D0"))
MONEY = "#,##0.00"
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
LONGEST_HEAD = 80  # characters of a part; Excel takes 255 for all three and their codes
TALLEST = 409.0  # points of a row, by the format
LOGO_PIXELS = (270, 96)  # the most; three columns, five rows


def named_styles(theme: dict) -> list[NamedStyle]:
    """Every style a cell of the firm's workbooks may have, in the colours of the branding."""
    colour, tint = (theme[name].removeprefix("#").upper() for name in ("colour", "tint"))
    tinted = PatternFill("solid", fgColor=tint)
    rule = Border(bottom=Side(style="medium", color=colour))
    return [
        _style("desk_title", bold=True, size=18, colour=colour, border=rule),
        _style("desk_subtitle", colour="44546A", horizontal="right", border=rule),
        _style("desk_note", colour="44546A"),
        _style("desk_section", bold=True, size=12, colour=colour),
        _style("desk_label", colour="44546A", border=UNDER),
        _style("desk_value", border=UNDER),
        _style("desk_strong", bold=True, size=11, border=UNDER),
        _style("desk_head", bold=True, border=BOX, fill=tinted, horizontal="left"),
        _style("desk_head_number", bold=True, border=BOX, fill=tinted, horizontal="right"),
        _style("desk_text", border=BOX, horizontal="left"),
        _style("desk_centre", border=BOX, horizontal="center"),
        _style("desk_mark", border=BOX, horizontal="center", bold=True, colour="C92A2A"),
        _style("desk_date", border=BOX, number_format="yyyy-mm-dd", horizontal="center"),
        _style("desk_count", border=BOX, number_format="General", horizontal="right"),
        _style("desk_number", border=BOX, number_format=MONEY, horizontal="right"),
        _style("desk_input", border=BOX, number_format="General", horizontal="right",
               fill=PatternFill("solid", fgColor="FFFBEA"), locked=False),
        _style("desk_price", border=BOX, number_format="#,##0.00##", horizontal="right"),
        _style("desk_rate", border=BOX, number_format="0.##%", horizontal="right"),
        _style("desk_total", bold=True, border=BOX, number_format=MONEY, horizontal="right"),
        _style("desk_gross", bold=True, size=12, colour=colour, border=BOX, fill=tinted,
               number_format=MONEY, horizontal="right"),
    ]


def _style(name: str, *, bold: bool = False, size: int = SIZE, colour: str = "1C2733",
           border: Border | None = None, fill: PatternFill | None = None,
           horizontal: str | None = None, number_format: str = "General", locked: bool = True
           ) -> NamedStyle:
    return NamedStyle(
        name, font=Font(name=FONT, bold=bold, size=size, color=colour),
        border=border or Border(), fill=fill or PatternFill(), number_format=number_format,
        protection=Protection(locked=locked),
        alignment=Alignment(wrap_text=True, vertical="center", horizontal=horizontal,
                            indent=int(horizontal == "left")))


def span(sheet: Worksheet, row: int, columns: tuple[int, int], value, style: str) -> None:
    """One value over neighbouring cells of a row, all of them in its style."""
    first, last = columns
    for column in range(first, last + 1):
        sheet.cell(row, column).style = style
    sheet.cell(row, first).value = value
    sheet.merge_cells(start_row=row, start_column=first, end_row=row, end_column=last)


def height(texts: Iterable[tuple[str, float]]) -> float:
    """The height of a row that shows all its texts wrapped: pairs of a text and its width."""
    most = max((_lines(text, width) for text, width in texts), default=1)
    return min(most * LINE_POINTS + ROW_PADDING, TALLEST)


def _lines(text: str, width: float) -> int:
    """Lines that a text takes in a cell so many digits wide; a Chinese character is two."""
    return sum(max(1, math.ceil(_breadth(part) * WORD_LOSS / width))
               for part in str(text).split("\n"))


def _breadth(text: str) -> int:
    return sum(2 if east_asian_width(letter) in "WFA" else 1 for letter in text)


def place_logos(sheet: Worksheet, theme: dict, cells: dict[str, str]) -> None:
    """The firm's logo and the customer's, each at its cell."""
    for name, cell in cells.items():
        if theme[name]:
            picture = Image(io.BytesIO(of_uri(theme[name])))
            share = min(LOGO_PIXELS[0] / picture.width, LOGO_PIXELS[1] / picture.height)
            picture.width, picture.height = picture.width * share, picture.height * share
            sheet.add_image(picture, cell)


def title_row(sheet: Worksheet, columns: int, title: str, corner: str) -> None:
    """The first row: what the sheet is at the left, of what at the right, over a rule."""
    middle = columns // 2
    span(sheet, 1, (1, middle), title, "desk_title")
    span(sheet, 1, (middle + 1, columns), safe_text(corner), "desk_subtitle")
    sheet.row_dimensions[1].height = 32


def print_setup(sheet: Worksheet, widths: tuple[float, ...], head_row: int, title: str,
                headers: dict[str, str]) -> None:
    """A4 landscape, one page wide, headings on each page, numbered.

    Args:
        title: left at the foot of every page.
        headers: texts of its head (see `branding.theme.page_headers`).
    """
    for column, width in enumerate(widths, 1):
        sheet.column_dimensions[get_column_letter(column)].width = width
    sheet.page_setup.orientation, sheet.page_setup.paperSize = "landscape", 9
    sheet.page_setup.fitToHeight = 0
    sheet.sheet_properties.pageSetUpPr.fitToPage = True
    sheet.page_margins.left = sheet.page_margins.right = 0.4
    sheet.page_margins.top = sheet.page_margins.bottom = 0.75
    sheet.print_options.horizontalCentered = True
    sheet.print_title_rows = f"{head_row}:{head_row}"
    sheet.freeze_panes = f"C{head_row + 1}"
    sheet.sheet_view.showGridLines = False
    sheet.oddFooter.left.text, sheet.oddFooter.right.text = plain(title), "&P / &N"
    sheet.oddHeader.left.text = plain(headers["page_head"])
    sheet.oddHeader.right.text = plain(headers["page_corner"])


def safe_text(value: str) -> str:
    """Text that no spreadsheet takes for a formula, without characters it cannot hold."""
    value = printable(value)
    return f"'{value}" if value.startswith(FORMULA_STARTS) else value


def plain(text: str) -> str:
    """Text of a head or foot in which no sign starts a code, cut to what a part of it may hold."""
    return printable(text)[:LONGEST_HEAD].replace("&", "&&")
