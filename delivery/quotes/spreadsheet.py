"""The quotation as xlsx with live formulas that give the PDF's figures."""

import io
import re
from decimal import Decimal

from django.utils.translation import gettext as _
from django.utils.translation import override
from openpyxl import Workbook
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.worksheet import Worksheet

from delivery.quotes.documents import facts_of
from delivery.quotes.models import Quote
from delivery.quotes.paper import in_language
from delivery.quotes.sheet_styles import named_styles, place_logos, print_setup
from delivery.reports import bilingual
from delivery.reports.identity.look import heads, shown
from delivery.reports.packing import steady

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
HEAD_ROW = 19
FIRST_LINE = HEAD_ROW + 1
DISCOUNT = "$C$17"


def quote_xlsx(quote: Quote, language: str) -> bytes:
    """The workbook in one language: quantities and prices are values, amounts are formulas.

    In a draft quantities and months may be typed over; an issued quote is locked throughout.
    The same facts give the same bytes.
    """
    with override(language):
        frozen = facts_of(quote)
        facts = in_language(frozen, language.startswith("en"))
        look = bilingual.in_language(shown(frozen), language)
        book = Workbook()
        sheet = book.active
        sheet.title = _("Quotation")
        for style in named_styles(look):
            book.add_named_style(style)
        _head(sheet, facts)
        last = _lines(sheet, facts, is_draft=not quote.content_hash)
        row = _totals(sheet, facts, last)
        row = _payment(sheet, facts, row)
        _written(sheet, facts, row)
        place_logos(sheet, look)
        print_setup(sheet, HEAD_ROW, f"{facts['number']} V{facts['version']}.0",
                    heads(look, _("Quotation")))
    data = io.BytesIO()
    book.save(data)
    return steady(data.getvalue(), facts["quote_date"])


def safe_text(value: str) -> str:
    """Text that no spreadsheet takes for a formula, without characters it cannot hold."""
    value = CONTROL.sub("", value)
    return f"'{value}" if value.startswith(FORMULA_STARTS) else value


def _head(sheet: Worksheet, facts: dict) -> None:
    """Items 1 to 7 of DOMAIN 9.2, in rows 1 to 17."""
    customer, supplier = facts["customer"], facts["supplier"]
    sheet["A1"] = _("Quotation")
    sheet["A1"].style = "desk_title"
    rows = [
        (_("Number and version"), f"{facts['number']} V{facts['version']}.0"),
        (_("Date"), facts["quote_date"]),
        (_("Valid until"), facts["valid_until"]),
        (_("To"), customer["name"]),
        (_("Contact"), f"{customer['contact_name']} {customer['contact_phone']}"),
        (_("Address"), customer["address"]),
        (_("From"), supplier["name"]),
        (_("Unified social credit code"), supplier["credit_code"]),
        (_("Contact"), f"{supplier['contact_name']} {supplier['phone']} {supplier['email']}"),
        (_("Address"), supplier["address"]),
        (_("Bank and account"), f"{supplier['bank']} {supplier['bank_account']}"),
        (_("Project"), f"{facts['project']['code']} {facts['project']['name']}"),
        (_("Subject"), facts["subject"]),
        (_("Currency"), facts["currency"]),
        (_("Scope of services"), " ".join(entry["text"] for entry in facts["scope"])),
    ]
    for row, (label, value) in enumerate(rows, 2):
        sheet.cell(row, 2, label).style = "desk_label"
        sheet.cell(row, 3, safe_text(value.strip()))
    sheet.cell(17, 2, _("Discount")).style = "desk_label"
    sheet.cell(17, 3, Decimal(facts["discount_rate"])).style = "desk_rate"


def titles() -> tuple[str, ...]:
    """The columns of DOMAIN 9.2, in its order, with the months of what is paid monthly."""
    return ("#", _("Item"), _("Work or specification"), _("Category"), _("Grade"), _("Unit"),
            _("Quantity"), _("Months"), _("Unit price (excl. tax)"), _("Unit price (incl. tax)"),
            _("Tax rate"), _("Amount (excl. tax)"), _("Tax"), _("Amount (incl. tax)"),
            _("Before discount (excl. tax)"), _("Remark"))


def _lines(sheet: Worksheet, facts: dict, is_draft: bool) -> int:
    for column, title in enumerate(titles(), 1):
        sheet.cell(HEAD_ROW, column, title).style = "desk_head"
    row = HEAD_ROW
    figure = "desk_input" if is_draft else "desk_number"
    for number, line in enumerate(facts["lines"], 1):
        row += 1
        texts = (number, *(safe_text(line[name]) for name in (
            "name", "specification", "category_label", "grade_label", "unit_label")))
        values = [*((value, "desk_text") for value in texts),
                  (Decimal(line["quantity"]), figure), (Decimal(line["months"]), figure),
                  *_amounts(line, row), (safe_text(line["remark"]), "desk_text")]
        for column, (value, style) in enumerate(values, 1):
            sheet.cell(row, column, value).style = style
    return row


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


def _totals(sheet: Worksheet, facts: dict, last: int) -> int:
    """Subtotal, discount, net, tax, gross and the words, which go stale visibly."""
    row = last + 1
    sheet.cell(row, 2, _("Total")).style = "desk_total"
    for column in (12, 13, 14, 15):
        letter = get_column_letter(column)
        formula = f"=SUM({letter}{FIRST_LINE}:{letter}{last})" if facts["lines"] else 0
        sheet.cell(row, column, formula).style = "desk_total"
    for n, (label, formula) in enumerate((
            (_("Subtotal before discount"), f"=O{row}"), (_("Discount"), f"=O{row}-L{row}"),
            (_("Total excluding tax"), f"=L{row}"), (_("Tax"), f"=M{row}"),
            (_("Total including tax"), f"=N{row}")), 1):
        sheet.cell(row + n, 2, label).style = "desk_label"
        sheet.cell(row + n, 3, formula).style = "desk_total"
    sheet.cell(row + 6, 2, _("Amount in words")).style = "desk_label"
    stale = _("The quantities were changed; ask for the amount in words.").replace('"', '""')
    sheet.cell(row + 6, 3, f'=IF(ROUND(N{row}-{facts["totals"]["gross"]},2)=0,'
                           f'"{facts["words_shown"]}","{stale}")').style = "desk_total"
    return row


def _payment(sheet: Worksheet, facts: dict, total: int) -> int:
    row = first = total + 8
    sheet.cell(row, 2, _("Payment")).style = "desk_head"
    for number, term in enumerate(facts["payment"], 1):
        row += 1
        sheet.cell(row, 2, safe_text(term["name"])).style = "desk_text"
        sheet.cell(row, 3, Decimal(term["percent"]) / 100).style = "desk_rate"
        formula = (f"=ROUND($N${total}*C{row},2)" if number < len(facts["payment"])
                   else f"=$N${total}-SUM(D{first}:D{row - 1})")
        sheet.cell(row, 4, formula).style = "desk_number"
    return row + 2


def _written(sheet: Worksheet, facts: dict, row: int) -> None:
    """Items 13 to 20 of DOMAIN 9.2."""
    notes = [{"title": _("Assumptions and exclusions"), "text": facts["notes"]}]
    entries = [{"title": _("Invoice type"), "text": facts["invoice_label"]},
               *facts["before_notes"], *(notes if facts["notes"] else []), *facts["after_notes"]]
    if facts["source"]:
        entries.append({"title": _("Note on the price list"), "text": facts["source_note"]})
    for entry in entries:
        sheet.cell(row, 2, entry["title"]).style = "desk_label"
        cell = sheet.cell(row, 3, safe_text(entry["text"]))
        cell.style = "desk_note"
        sheet.merge_cells(start_row=row, start_column=3, end_row=row, end_column=16)
        sheet.row_dimensions[row].height = 15 * (1 + entry["text"].count("\n")
                                                 + len(entry["text"]) // 110)
        row += 1
    row += 1
    for column, side in ((2, _("For the supplier")), (9, _("Confirmed by the customer"))):
        for n, label in enumerate((side, _("Seal and signature"), _("Date"))):
            sheet.cell(row + n, column, f"{label}：" if n else side).style = "desk_label"
    sheet.row_dimensions[row + 1].height = 130  # a seal of 45 mm fits
