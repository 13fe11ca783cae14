"""Reads a table of cloud resources as text: pasted, exported as CSV, or copied from a sheet."""

import csv
import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from django.utils.translation import gettext as _

from engagements.errors import InvalidInput

MAX_ROWS = 500
TOTAL = re.compile(r"^(?:总计|合计|total)\b?[:：]?\s*(.*)$", re.IGNORECASE)
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


@dataclass(frozen=True)
class ResourceRow:
    """One resource; `fee` is the printed monthly fee of the whole line, not of one piece."""

    name: str
    specification: str
    quantity: Decimal
    fee: Decimal


def parse_resource_list(text: str) -> tuple[list[ResourceRow], Decimal | None]:
    """Rows of a resource table and the total it prints, None if it prints none.

    Columns are name, specification, quantity and fee, separated by tabs or commas; repeated
    headings and empty lines are passed over. Raises InvalidInput naming the row it cannot read.
    """
    rows, stated = [], None
    for number, cells in enumerate(_cells(text), 1):
        total = TOTAL.match(cells[0]) if cells else None
        if total:
            stated = _total(cells, total[1], number)
        elif cells and not _is_heading(cells):
            rows.append(_row(cells, number))
    if not rows:
        raise InvalidInput(_("No line of the list could be read: give name, specification, "
                             "quantity and monthly fee, separated by tabs or commas."))
    if len(rows) > MAX_ROWS:
        raise InvalidInput(_("A list may have at most %(n)d lines.") % {"n": MAX_ROWS})
    return rows, stated


def _cells(text: str) -> list[list[str]]:
    separator = "\t" if "\t" in text else ","
    table = csv.reader(text.lstrip("\ufeff").splitlines(), delimiter=separator)
    found = []
    for row in table:
        cells = [re.sub(r"\s+", " ", cell).strip() for cell in row]
        while cells and not cells[-1]:
            cells.pop()
        found.append(cells)
    return found


def _is_heading(cells: list[str]) -> bool:
    return len(cells) >= 4 and not any(NUMBER.search(cell) for cell in cells[-2:])


def _row(cells: list[str], number: int) -> ResourceRow:
    if len(cells) < 4 or not cells[0]:
        raise InvalidInput(_("Row %(n)d has no name, specification, quantity and fee.")
                           % {"n": number})
    quantity, fee = (_number(cell, number) for cell in cells[-2:])
    if quantity <= 0 or fee < 0:
        raise InvalidInput(_("Row %(n)d has a quantity or a fee below zero.") % {"n": number})
    return ResourceRow(cells[0][:120], ", ".join(cells[1:-2])[:240], quantity, fee)


def _total(cells: list[str], behind: str, number: int) -> Decimal:
    printed = NUMBER.search(behind) or NUMBER.search(cells[-1])
    if not printed:
        raise InvalidInput(_("“%(text)s” in row %(n)d is no number.")
                           % {"text": " ".join(cells), "n": number})
    return _number(printed[0], number)


def _number(text: str, row: int) -> Decimal:
    try:
        value = Decimal(text.replace(",", "").lstrip("¥￥").strip())
        if not value.is_finite() or abs(value) >= 10**10:
            raise InvalidOperation
        return value.quantize(Decimal("0.01"))
    except InvalidOperation:
        raise InvalidInput(_("“%(text)s” in row %(n)d is no number.")
                           % {"text": text, "n": row}) from None
