"""The head of the quotation's sheet: what it is, who offers it to whom, and what it comes to."""

from decimal import Decimal

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext
from openpyxl.worksheet.worksheet import Worksheet

from delivery.documents.office.workbook_styles import height, safe_text, span, title_row

WIDTHS = (5, 21, 26, 12, 12.5, 9, 9.5, 7, 12.5, 12.5, 8.5, 14, 12.5, 14, 14.5, 18)
LAST_COLUMN = len(WIDTHS)
HEAD_ROW = 19
DISCOUNT = "$C$17"
LEFT, RIGHT, WHOLE = (3, 8), (12, LAST_COLUMN), (3, LAST_COLUMN)


def write_head(sheet: Worksheet, facts: dict, total: int) -> None:
    """Items 1 to 7 of DOMAIN 9.2, in rows 1 to 17; `total` is the row of the sums."""
    title_row(sheet, LAST_COLUMN, _("Quotation"), f"{facts['number']} V{facts['version']}.0")
    days = ngettext("(%(n)s day)", "(%(n)s days)", facts["valid_days"]) % {
        "n": facts["valid_days"]}
    project = f"{facts['project']['code']} {facts['project']['name']}"
    for row, (label, value) in enumerate((
            (_("Number and version"), f"{facts['number']} V{facts['version']}.0"),
            (_("Date"), facts["quote_date"]), (_("Valid until"), f"{facts['valid_until']} {days}"),
            (_("Currency"), facts["currency"]), (_("Project"), project)), 2):
        _fact(sheet, row, label, value, LEFT)
    _fact(sheet, 7, pgettext("of a quote", "Subject"),
          "\n".join(filter(None, (facts["subject"], facts.get("framework"),
                                   facts["relation_text"]))), WHOLE)
    _parties(sheet, facts)
    _fact(sheet, 15, _("Scope of services"),
          "\n".join(entry["text"] for entry in facts["scope"]), WHOLE)
    _sum(sheet, facts, total)
    sheet.cell(17, 2, _("Discount")).style = "desk_label"
    sheet.cell(17, 3, Decimal(facts["discount_rate"])).style = "desk_rate"
    for row in (8, 14, 18):
        sheet.row_dimensions[row].height = 8


def _parties(sheet: Worksheet, facts: dict) -> None:
    """The customer at the left, the supplier at the right, row by row."""
    customer, supplier = facts["customer"], facts["supplier"]
    contact = " ".join(customer[name] for name in ("contact_name", "contact_phone",
                                                   "contact_email") if customer.get(name))
    own = " ".join(supplier[name] for name in ("contact_name", "phone", "email")
                   if supplier.get(name))
    bank = f"{supplier['bank']} {supplier['bank_account']}".strip()
    rows = [
        (_("To"), customer["name"], _("From"), supplier["name"]),
        (_("Unified social credit code"), customer.get("credit_code", ""),
         _("Unified social credit code"), supplier["credit_code"]),
        (_("Contact"), contact, _("Contact"), own),
        (_("Address"), customer["address"], _("Address"), supplier["address"]),
        ("", "", _("Bank and account"), bank)]
    for row, (label, value, other, own_value) in enumerate(rows, 9):
        style = "desk_strong" if row == 9 else "desk_value"
        if label:
            _fact(sheet, row, label, value, LEFT, style)
        span(sheet, row, (10, 11), other, "desk_label")
        span(sheet, row, RIGHT, safe_text(own_value) or "--", style)
        sheet.row_dimensions[row].height = height(
            [(label, WIDTHS[1]), (value, _width(LEFT)), (other, _width((10, 11))),
             (own_value, _width(RIGHT))])


def _fact(sheet: Worksheet, row: int, label: str, value: str, columns: tuple[int, int],
          style: str = "desk_value") -> None:
    sheet.cell(row, 2, label).style = "desk_label"
    span(sheet, row, columns, safe_text(value.strip()) or "--", style)
    sheet.row_dimensions[row].height = height([(label, WIDTHS[1]), (value, _width(columns))])


def _width(columns: tuple[int, int]) -> float:
    return sum(WIDTHS[columns[0] - 1:columns[1]])


def _sum(sheet: Worksheet, facts: dict, total: int) -> None:
    """The total in figures and in words, which go stale visibly."""
    stale = _("Quantities were changed; request an updated amount in words.").replace('"', '""')
    sheet.cell(16, 2, _("Total including tax")).style = "desk_label"
    sheet.cell(16, 3, f"=N{total}").style = "desk_gross"
    span(sheet, 16, (4, 5), _("Amount in words"), "desk_label")
    span(sheet, 16, (6, LAST_COLUMN), f'=IF(ROUND(N{total}-{facts["totals"]["gross"]},2)=0,'
                                      f'"{facts["words_shown"]}","{stale}")', "desk_strong")
    sheet.row_dimensions[16].height = 24
