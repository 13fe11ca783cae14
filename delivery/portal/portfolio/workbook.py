"""The portfolio as a workbook, sent row by row: memory does not grow with the engagements."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import get_language, override

from delivery.documents.office.streamed_workbook import streamed_workbook
from delivery.portal.portfolio.columns import Column
from delivery.portal.portfolio.rows import rows_of

BATCH = 500  # engagements whose figures are read together


def workbook_of(engagements, columns: list[Column], *, title: str, with_money: bool
                ) -> Iterator[bytes]:
    """A workbook with a heading and a row for each engagement, piece by piece."""
    return streamed_workbook(title, [str(column.label) for column in columns],
                             _batches(engagements, columns, with_money, get_language()))


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
