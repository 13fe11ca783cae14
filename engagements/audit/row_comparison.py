"""Comparing the rows of today with what the audit log last says of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from heapq import merge
from itertools import chain, islice
from typing import Any

from django.db import connection, models

from engagements.audit.known_rows import KnownRows
from engagements.audit_rows.row_values import ROWS_PER_QUERY, is_logged, stored_rows
from engagements.audit_rows.tracking import Rows, TrackedColumns, columns_of, tracked_tables

ROWS_AT_ONCE = 50  # of all rows there are: one that holds a file's readings may take megabytes


@dataclass(frozen=True)
class Difference:
    """A row that is not what the log says of it.

    `problem`: changed (in `columns`), missing, or unknown (no entry speaks of it).
    """

    table: type[models.Model]
    key: str
    problem: str
    columns: tuple[str, ...] = ()
    entry: int | None = None

    @property
    def row(self) -> models.Model | None:
        """The row itself, if it is still there."""
        return self.table._base_manager.filter(pk=self.key).first()


@dataclass(frozen=True)
class Gap:
    """Numbers that the database gave to rows of a numbered table, and of which nothing is left.

    PostgreSQL gives the number of a write that is rolled back to no other one, too.
    """

    table: type[models.Model]
    first: int
    last: int


def differences(entries: Iterator[tuple[int, Rows]], gap: Callable[[Gap], None] | None = None
                ) -> Iterator[Difference]:
    """Compare every row of the tracked tables with the last entry that speaks of it.

    Args:
        entries: number and rows of the log's entries, oldest first.
        gap: called with each gap in the numbers of numbered tables.
    """
    with KnownRows() as known:
        for number, rows in entries:
            if isinstance(rows, dict):
                known.add(number, rows)
        for table in tracked_tables():
            yield from _differences_of(table, known)
            if gap and columns_of(table).is_numbered:
                for found in _gaps_of(table, known):
                    gap(found)


def _differences_of(table: type[models.Model], known: KnownRows) -> Iterator[Difference]:
    label, tracked = table._meta.label_lower, columns_of(table)
    keys = table._base_manager.order_by("pk").values_list("pk", flat=True)
    for key, columns in stored_rows(table, keys.iterator(chunk_size=ROWS_PER_QUERY),
                                    tracked.excluded, ROWS_AT_ONCE):
        number, logged = known.of(label, key) or (None, None)
        if logged is None:
            yield Difference(table, key, "unknown", entry=number)
        elif changed := _changed_columns(tracked, columns, logged):
            yield Difference(table, key, "changed", changed, number)
    for batch in batched(known.existing(label), ROWS_PER_QUERY):
        there = {str(key) for key in table._base_manager.filter(
            pk__in=[key for key, _number in batch]).values_list("pk", flat=True)}
        yield from (Difference(table, key, "missing", entry=number)
                    for key, number in batch if key not in there)


def _gaps_of(table: type[models.Model], known: KnownRows) -> Iterator[Gap]:
    keys = table._base_manager.order_by("pk").values_list("pk", flat=True)
    given = last_given_number(table)
    end = max(given, keys.last() or 0)
    before = 0
    for number in chain(merge(keys.iterator(chunk_size=ROWS_PER_QUERY),
                              known.numbers(table._meta.label_lower, end)), [given + 1]):
        if number > before + 1:
            yield Gap(table, before + 1, number - 1)
        before = max(before, number)


def last_given_number(table: type[models.Model]) -> int:
    """The last number that the database gave to a row, which need not be there any more."""
    name, column = table._meta.db_table, table._meta.pk.column
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_sequence_last_value("
                           "pg_get_serial_sequence(%s, %s)::regclass)", [f'"{name}"', column])
        else:
            cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [name])
        found = cursor.fetchone()
    return (found and found[0]) or 0


def batched(rows: Iterator[Any], size: int) -> Iterator[list[Any]]:
    """Lists of that many rows, the last one shorter."""
    while batch := list(islice(rows, size)):
        yield batch


def _changed_columns(tracked: TrackedColumns, columns: dict[str, Any], logged: dict[str, Any]
                     ) -> tuple[str, ...]:
    """Columns that differ from the log. A row that became final without an entry differs in the
    column that says so, since its last entry was written before."""
    changed = tuple(name for name, value in columns.items()
                    if name in logged and not is_logged(value, logged[name]))
    final_state = tracked.final_state
    if final_state and final_state.column not in logged and final_state.is_final(columns):
        return (*changed, final_state.column)
    return changed
