"""Payment, below the lines of the quotation's sheet; conditions and signatures, on their own."""

from decimal import Decimal

from django.utils.translation import gettext as _
from django.utils.translation import pgettext
from openpyxl.worksheet.worksheet import Worksheet

from delivery.documents.office.workbook_styles import height, safe_text, span, title_row
from delivery.quotes.xlsx.header import LAST_COLUMN, WIDTHS

NOTE = (3, LAST_COLUMN)
SEAL_POINTS = 130  # a seal of 45 mm fits


def write_payment(sheet: Worksheet, facts: dict, row: int, total: int) -> int:
    """Milestones whose amounts add up to the total in row `total`; returns the last row."""
    sheet.cell(row, 2, _("Payment")).style = "desk_section"
    row = head = row + 1
    for column, title in enumerate((
            _("Milestone"), "%", _("Amount (incl. tax)"), _("Due after invoice (days)")), 2):
        sheet.cell(row, column, title).style = "desk_head" if column == 2 else "desk_head_number"
    sheet.row_dimensions[row].height = height([(_("Due after invoice (days)"), WIDTHS[4])])
    for number, term in enumerate(facts["payment"], 1):
        row += 1
        sheet.cell(row, 2, safe_text(term["name"])).style = "desk_text"
        sheet.cell(row, 3, Decimal(term["percent"]) / 100).style = "desk_rate"
        formula = (f"=ROUND($N${total}*C{row},2)" if number < len(facts["payment"])
                   else f"=$N${total}-SUM(D{head}:D{row - 1})")
        sheet.cell(row, 4, formula).style = "desk_number"
        sheet.cell(row, 5, term.get("days")).style = "desk_count"
        sheet.row_dimensions[row].height = height([(term["name"], WIDTHS[1])])
    return row


def write_terms(sheet: Worksheet, facts: dict) -> tuple[int, int]:
    """Items 13 to 20 of DOMAIN 9.2; returns the rows that a signature needs beside it:
    the last condition to the date."""
    title_row(sheet, LAST_COLUMN, pgettext("of a quote", "Conditions"),
              f"{facts['number']} V{facts['version']}.0")
    row = 2
    for entry in _entries(facts):
        row += 1
        sheet.cell(row, 2, entry["title"]).style = "desk_label"
        span(sheet, row, NOTE, safe_text(entry["text"]), "desk_value")
        sheet.row_dimensions[row].height = height(
            [(entry["title"], WIDTHS[1]), (entry["text"], sum(WIDTHS[2:]))])
    _signatures(sheet, facts, row + 2)
    return row, row + 4


def _entries(facts: dict) -> list[dict]:
    notes = [{"title": _("Assumptions and exclusions"), "text": facts["notes"]}]
    before = [entry for entry in facts["before_notes"] if entry["code"] != "invoice"]
    return [{"title": _("Invoice type"), "text": facts["invoice_text"]},
            *before, *(notes if facts["notes"] else []), *facts["after_notes"]]


def _signatures(sheet: Worksheet, facts: dict, row: int) -> None:
    """Both sides beside each other, each with room for its seal."""
    sides = (((2, 7), _("For the supplier"), facts["supplier"]["name"]),
             ((9, LAST_COLUMN), _("Confirmed by the customer"), facts["customer"]["name"]))
    for columns, side, name in sides:
        for n, (text, style) in enumerate((
                (f"{side}\n{name}", "desk_head"), (_("Seal and signature"), "desk_text"),
                (_("Date"), "desk_text"))):
            span(sheet, row + n, columns, text, style)
    for n, points in enumerate((height([("\n", 1)]), SEAL_POINTS, 26)):
        sheet.row_dimensions[row + n].height = points
