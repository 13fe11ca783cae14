"""The quotation as xlsx with live formulas that give the PDF's figures."""

import io
from decimal import Decimal

from django.utils.translation import gettext as _
from django.utils.translation import override, pgettext
from openpyxl import Workbook
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.worksheet import Worksheet

from delivery.documents import bilingual
from delivery.documents.branding.theme import frozen_theme, page_headers
from delivery.documents.office.deterministic_zip import deterministic_zip
from delivery.documents.office.workbook_styles import (
    height,
    named_styles,
    place_logos,
    print_setup,
    safe_text,
)
from delivery.quotes.models import Quote
from delivery.quotes.rendering import in_language
from delivery.quotes.snapshot import facts_of
from delivery.quotes.xlsx.header import DISCOUNT, HEAD_ROW, LAST_COLUMN, WIDTHS, write_head
from delivery.quotes.xlsx.page_breaks import keep_together
from delivery.quotes.xlsx.terms import write_payment, write_terms
from engagements.text.text_joining import bracketed

FIRST_LINE = HEAD_ROW + 1
TITLE_ROW = 1  # of the sheet of conditions, printed on each of its pages
LINES_WITH_SUMS = 3  # of the last lines stand on the page of the sums
LOGO_CELLS = {"logo": "J2", "partner_logo": "M2"}  # rows 2 to 6: nothing else stands there
WRAPPED = (2, 3, 4, 5, 16)  # columns of a line that hold texts
FIGURES = range(7, 16)
SUM_POINTS = 19.5


def quote_xlsx(quote: Quote, language: str) -> bytes:
    """The workbook in one language: quantities and prices are values, amounts are formulas.

    In a draft quantities and months may be typed over; an issued quote is locked throughout.
    The same facts give the same bytes.
    """
    with override(language):
        frozen = facts_of(quote)
        facts = in_language(frozen, language.startswith("en"))
        theme = bilingual.in_language(frozen_theme(frozen), language)
        book = Workbook()
        sheet = book.active
        sheet.title = _("Quotation")
        for style in named_styles(theme):
            book.add_named_style(style)
        total = HEAD_ROW + len(facts["lines"]) + 1
        write_head(sheet, facts, total)
        _lines(sheet, facts, is_draft=not quote.content_hash)
        sums = _totals(sheet, facts, total)
        paid = write_payment(sheet, facts, sums + 2, total)
        keep_together(sheet, [(max(total - LINES_WITH_SUMS, FIRST_LINE), paid)], HEAD_ROW)
        place_logos(sheet, theme, LOGO_CELLS)
        terms = book.create_sheet(pgettext("of a quote", "Conditions"))
        keep_together(terms, [write_terms(terms, facts)], TITLE_ROW)
        for each, head_row in ((sheet, HEAD_ROW), (terms, TITLE_ROW)):
            print_setup(each, WIDTHS, head_row, f"{facts['number']} V{facts['version']}.0",
                        page_headers(theme, _("Quotation")))
            each.protection.sheet = True
        _hide_empty(sheet, facts)
    data = io.BytesIO()
    book.save(data)
    return deterministic_zip(data.getvalue(), facts["quote_date"])


def titles(has_discount: bool = False) -> tuple[str, ...]:
    """The columns of DOMAIN 9.2, in its order, with the months of what is paid monthly."""
    return ("#", _("Item"), _("Work or specification"), _("Category"), _("Grade"), _("Unit"),
            _("Quantity"), _("Months"), _("Unit price (excl. tax)"), _("Unit price (incl. tax)"),
            _("Tax rate"), *_amount_titles(has_discount), _("Before discount (excl. tax)"),
            _("Remark"))


def _amount_titles(has_discount: bool) -> tuple[str, ...]:
    """Of what is paid: after the discount where there is one."""
    if has_discount:
        return _("After discount (excl. tax)"), _("Tax"), _("After discount (incl. tax)")
    return _("Amount (excl. tax)"), _("Tax"), _("Amount (incl. tax)")


def _lines(sheet: Worksheet, facts: dict, is_draft: bool) -> None:
    named = titles(facts["has_discount"])
    for column, title in enumerate(named, 1):
        style = "desk_head_number" if column in FIGURES else "desk_head"
        sheet.cell(HEAD_ROW, column, title).style = style
    sheet.row_dimensions[HEAD_ROW].height = height(zip(named, WIDTHS, strict=True))
    figure = "desk_input" if is_draft else "desk_count"
    for number, line in enumerate(facts["lines"], 1):
        _line(sheet, HEAD_ROW + number, number, line, figure)


def _hide_empty(sheet: Worksheet, facts: dict) -> None:
    """Hide columns that hold nothing in this quote; formulas keep their letters.

    A neighbour takes their width: texts above and below span them.
    """
    filled = facts["filled"]
    for letter, neighbour, is_filled in (
            ("E", "C", filled["grade"]), ("H", "C", filled["months"]),
            ("O", "N", facts["has_discount"]), ("P", "L", filled["remark"])):
        if not is_filled:
            columns = sheet.column_dimensions
            columns[letter].hidden = True
            columns[neighbour].width += columns[letter].width


def _line(sheet: Worksheet, row: int, number: int, line: dict, figure: str) -> None:
    texts = [safe_text(line[name]) for name in (
        "name", "specification", "category_label", "grade_label", "unit_label")]
    values = [(number, "desk_centre"), *((text, "desk_text") for text in texts),
              (Decimal(line["quantity"]), figure), (Decimal(line["months"]), figure),
              *_amounts(line, row), (safe_text(line["remark"]), "desk_text")]
    for column, (value, style) in enumerate(values, 1):
        sheet.cell(row, column, value).style = style
    sheet.row_dimensions[row].height = height(
        (values[column - 1][0], WIDTHS[column - 1]) for column in WRAPPED)


def _amounts(line: dict, row: int) -> list[tuple]:
    """Columns I to O; the agreed price is a value, everything else follows from it."""
    agreed = Decimal(line["unit_price"])
    if line["is_tax_included"]:
        prices = (f"=ROUND(J{row}/(1+K{row}),2)", agreed)
        money = (f"=ROUND(N{row}/(1+K{row}),2)", f"=N{row}-L{row}",
                 f"=ROUND(G{row}*H{row}*J{row}*(1-{DISCOUNT}),2)",
                 f"=ROUND(ROUND(G{row}*H{row}*J{row},2)/(1+K{row}),2)")
    else:
        prices = (agreed, f"=ROUND(I{row}*(1+K{row}),2)")
        money = (f"=ROUND(G{row}*H{row}*I{row}*(1-{DISCOUNT}),2)", f"=ROUND(L{row}*K{row},2)",
                 f"=L{row}+M{row}", f"=ROUND(G{row}*H{row}*I{row},2)")
    return [*((price, "desk_price") for price in prices),
            (Decimal(line["tax_rate"]), "desk_rate"), *((value, "desk_number") for value in money)]


def _totals(sheet: Worksheet, facts: dict, total: int) -> int:
    """The sums of the columns, and below the amounts what they come to; returns the last row."""
    for column in range(1, LAST_COLUMN + 1):
        sheet.cell(total, column).style = "desk_total"
    sheet.cell(total, 2, _("Total"))
    sheet.row_dimensions[total].height = SUM_POINTS
    for column in (12, 13, 14, 15):
        letter = get_column_letter(column)
        formula = f"=SUM({letter}{FIRST_LINE}:{letter}{total - 1})" if facts["lines"] else 0
        sheet.cell(total, column, formula)
    row = total
    for label, formula, style in _sums(facts, total):
        row += 1
        sheet.row_dimensions[row].height = SUM_POINTS
        for column in (11, 12, 13):
            sheet.cell(row, column).style = "desk_head"
        sheet.cell(row, 11, label)
        sheet.merge_cells(start_row=row, start_column=11, end_row=row, end_column=13)
        sheet.cell(row, 14, formula).style = style
    return row


def _sums(facts: dict, total: int) -> list[tuple[str, str, str]]:
    """Label, formula and style: discount where there is one, tax by its rates, the whole."""
    rows = []
    if facts["has_discount"]:
        rows += [(_("Subtotal before discount"), f"=O{total}", "desk_number"),
                 (f"{_('Discount')}{bracketed(facts['discount_percent'])}", f"=L{total}-O{total}",
                  "desk_number")]
    rows.append((_("Total excluding tax"), f"=L{total}", "desk_total"))
    span = f"{FIRST_LINE}:{{0}}{total - 1}"
    rates, taxes = (f"{letter}{span.format(letter)}" for letter in "KM")
    rows += [(f"{_('VAT')} {rate['label']}", f"=SUMIF({rates},{rate['rate']},{taxes})",
              "desk_number") for rate in facts["by_rate"]]
    return [*rows, (_("Total including tax"), f"=N{total}", "desk_gross")]
