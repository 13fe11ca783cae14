"""The portfolio as a workbook, sent row by row: memory does not grow with the engagements."""

from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _

from delivery.documents.office.streamed_workbook import streamed_workbook
from delivery.portal.portfolio.columns import Column
from delivery.portal.portfolio.groups import WHOLE, needs_whole, sorted_rows
from delivery.portal.portfolio.rows import rows_of
from engagements.text.text_joining import labelled
from engagements.web.paging import counted

BATCH = 500  # engagements whose figures are read together


def workbook_of(engagements, columns: list[Column], *, title: str, with_money: bool,
                sort: str = "", asked: str = "") -> Iterator[bytes]:
    """A workbook with a heading and a row for each engagement, piece by piece; the filter in words
    stands under them. Order by a computed column holds where the page has it: for WHOLE rows."""
    batches = _batches(engagements, columns, with_money, get_language())
    if needs_whole({"sort": sort}) and counted(engagements, WHOLE) <= WHOLE:
        rows = sorted_rows(rows_of(engagements, with_money=with_money), sort)
        batches = iter([[[_plain(column.value(row)) for column in columns] for row in rows]])
    return streamed_workbook(title, [str(column.label) for column in columns],
                             chain(batches, [[[]], [[labelled(_("Filter"), asked)]]]))


def _batches(engagements, columns: list[Column], with_money: bool, language: str
             ) -> Iterator[list[list[Any]]]:
    """In the language of the request, which may be over by then."""
    rows = engagements.iterator(chunk_size=BATCH)
    while some := list(islice(rows, BATCH)):
        with override(language):
            batch = [[_plain(column.value(row)) for column in columns]
                     for row in rows_of(some, with_money=with_money)]
        yield batch


def _plain(value: Any) -> Any:
    """A text that is translated when it is shown, as it reads now."""
    return str(value) if isinstance(value, Promise) else value
