"""A price list from xlsx in three steps: upload, columns, confirmation. Prices appear last."""

from datetime import date
from typing import BinaryIO

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from delivery.quotes.models import PriceImport, PriceLine, RateCard
from delivery.quotes.prices.table import FIELDS, guess_columns, guess_header, price_table
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from engagements.models import User


def start_import(*, actor: User, upload: BinaryIO, file_name: str, name: str, valid_from: date,
                 valid_to: date | None = None) -> PriceImport:
    """Read the workbook and guess its columns; no price list exists yet.

    Raises InvalidInput for a file that cannot be read (`read_price_sheet`), a name that is taken,
    a period that ends before it begins.
    """
    from delivery.quotes.prices.workbook import read_price_sheet  # openpyxl: not at start

    require(actor, Can.PRICE)
    _check_name(name)
    if valid_to and valid_to < valid_from:
        raise InvalidInput(_("The price list begins on %(day)s; it cannot end before.")
                           % {"day": valid_from})
    sheet = read_price_sheet(upload, file_name)
    header = guess_header(sheet.rows)
    with transaction.atomic():
        made = PriceImport.objects.create(
            name=name.strip(), valid_from=valid_from, valid_to=valid_to,
            file_name=file_name[-160:], sha256=sheet.sha256, sheet=sheet.title, rows=sheet.rows,
            remarks=sheet.remarks, header_row=header, created_by=actor,
            columns=guess_columns(sheet.rows[header - 1]))
        audit_log.record(actor=actor, action="price_import.start", target=made,
                         data={"file": made.file_name, "sha256": made.sha256})
    return made


def _check_name(name: str) -> None:
    if not name.strip() or RateCard.objects.filter(name=name.strip()).exists():
        raise InvalidInput(_("A price list of this name already exists, or the name is empty."))


@transaction.atomic
def map_columns(*, actor: User, source: PriceImport, header_row: int, columns: dict[str, int]
                ) -> PriceImport:
    """Choose the row of the headings and a column (from 0) per field. Writes an audit entry."""
    require(actor, Can.PRICE)
    source = _open(source)
    if not 1 <= header_row <= len(source.rows):
        raise InvalidInput(_("The sheet has rows 1 to %(n)d.") % {"n": len(source.rows)})
    if set(columns) - set(FIELDS) or any(c < 0 for c in columns.values()):
        raise InvalidInput(_("There is no such column."))
    if len(set(columns.values())) < len(columns):
        raise InvalidInput(_("One column can serve one field only."))
    source.header_row, source.columns = header_row, columns
    source.save()
    audit_log.record(actor=actor, action="price_import.map", target=source,
                     data={"header_row": header_row, "columns": columns})
    return source


def _open(source: PriceImport) -> PriceImport:
    source = PriceImport.objects.select_for_update(of=("self",), no_key=True).get(pk=source.pk)
    if source.card_id:
        raise WrongState(_("This import has become the price list “%(card)s”.")
                         % {"card": source.card})
    return source


@transaction.atomic
def confirm_import(*, actor: User, source: PriceImport) -> RateCard:
    """Create the price list, all of it or nothing.

    Its printed total is kept and never used; where it differs from the lines, quotes that draw on
    the list must explain it (R-QUO-01). Raises InvalidInput listing the faults of the rows.
    """
    require(actor, Can.PRICE)
    source = _open(source)
    table = price_table(source)
    if table.errors:
        raise InvalidInput(" ".join(table.errors[:5]), errors=table.errors[:100])
    _check_name(source.name)
    try:
        with transaction.atomic():
            card = RateCard.objects.create(
                name=source.name, valid_from=source.valid_from, valid_to=source.valid_to,
                source=f"{source.file_name} ({source.sheet})"[:240],
                stated_total=table.printed_total)
    except IntegrityError:
        raise InvalidInput(_("A price list of this name already exists, or the name is empty."))
    for line in table.lines:
        line.card = card
    PriceLine.objects.bulk_create(table.lines, batch_size=500)
    source.card = card
    source.save(update_fields=["card"])
    audit_log.record(actor=actor, action="rate_card.import", target=card, data={
        "lines": len(table.lines), "printed_total": str(table.printed_total),
        "sha256": source.sha256,
        "computed_total": str(table.computed), "difference": str(table.difference)})
    return card


@transaction.atomic
def discard_import(*, actor: User, source: PriceImport) -> None:
    """Drop an upload that became no price list."""
    require(actor, Can.PRICE)
    source = _open(source)
    PriceImport.objects.filter(pk=source.pk).delete()
    audit_log.record(actor=actor, action="price_import.discard", target=source)
