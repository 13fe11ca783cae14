"""Rows that the audit log vouches for: each entry holds those that were written before it.

A write notes its row in the transaction; `audit.record` takes the notes into its entry. What no
entry took by the end of the transaction gets one of its own. `differences` compares the rows of
today with what the log says last of each.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db import models, transaction
from django.db.models.signals import post_delete, post_save

CHUNK = 500  # rows read at once
UNREADABLE = "unreadable"
LONGEST = 64  # characters; a longer value is kept as its SHA-256
_columns_left_out: dict[type[models.Model], frozenset[str]] = {}

Rows = dict[str, dict[str, dict[str, Any] | None]]  # by table, key, column; None: removed


def vouch_for(*tables: type[models.Model], without: Collection[str] = ()) -> None:
    """The log vouches for these tables from now on; call it when Django starts.

    Args:
        without: columns that are no statement of anybody: secrets, counters.
    """
    for table in tables:
        _columns_left_out[table] = frozenset(without)
        post_save.connect(_written, sender=table, dispatch_uid=table._meta.label)
        post_delete.connect(_written, sender=table, dispatch_uid=f"{table._meta.label} gone")


def vouched_tables() -> list[type[models.Model]]:
    """All tables that the log vouches for, by name."""
    return sorted(_columns_left_out, key=lambda table: table._meta.label_lower)


class VouchedQuerySet(models.QuerySet):
    """Writes of many rows at once, which send no signals, note their rows here."""

    @transaction.atomic
    def update(self, **values) -> int:
        """As Django's; on exactly the rows that were noted."""
        if not _speaks_of(self.model, values):
            return super().update(**values)
        keys = list(self.order_by().select_for_update(of=("self",)).values_list("pk", flat=True))
        _note(self.model, keys)
        return super(VouchedQuerySet, self.filter(pk__in=keys)).update(**values)

    def bulk_create(self, objs, *args, **kwargs) -> list[models.Model]:
        with transaction.atomic():
            made = super().bulk_create(objs, *args, **kwargs)
            _note(self.model, [row.pk for row in made])
        return made


def _written(sender: type[models.Model], instance: models.Model, update_fields=None, **_kwargs
             ) -> None:
    if update_fields is None or _speaks_of(sender, update_fields):
        _note(sender, [instance.pk])


def _speaks_of(table: type[models.Model], written: Collection[str]) -> bool:
    """Whether the log vouches for one of the columns that are written."""
    if table not in _columns_left_out:
        return False
    columns = {table._meta.get_field(name).attname for name in written if name != "pk"}
    return not columns or not columns <= _columns_left_out[table]


def _note(table: type[models.Model], keys: Collection) -> None:
    if table in _columns_left_out:
        for key in keys:
            transaction.on_commit(Note(table, key))


@dataclass
class Note:
    """A row was written; waits with the transaction, and is dropped with it."""

    table: type[models.Model]
    key: Any
    is_taken: bool = False

    def __call__(self) -> None:
        """The transaction ended; what no entry took gets an entry of its own."""
        if self.is_taken:
            return
        from engagements import audit

        self.is_taken = True
        with transaction.atomic():
            row = self.table._base_manager.filter(pk=self.key).first()
            _note(self.table, [self.key])
            audit.record(actor=None, action="row.write", target=row or self.table(pk=self.key))


def depth() -> frozenset:
    """Where the transaction stands; `take` wants it from before its caller's own savepoint."""
    return frozenset(transaction.get_connection().savepoint_ids) - {None}


def take(depth: frozenset) -> Rows:
    """The rows noted so far, as they are now. Notes from outside the savepoint stay open: the
    entry may yet be rolled back without the row. Those from savepoints within it are done with."""
    noted: dict[type[models.Model], set] = {}
    for savepoints, note, _is_robust in transaction.get_connection().run_on_commit:
        if isinstance(note, Note) and not note.is_taken:
            noted.setdefault(note.table, set()).add(note.key)
            note.is_taken = depth <= frozenset(savepoints)
    return {table._meta.label_lower: _rows(table, keys) for table, keys in noted.items()}


def _rows(table: type[models.Model], keys: Collection) -> dict[str, dict | None]:
    ordered = sorted(keys)
    found = dict(_stored(table, ordered))
    return {str(key): found.get(str(key)) for key in ordered}


def _stored(table: type[models.Model], keys: Iterable) -> Iterator[tuple[str, dict]]:
    """Key and columns of the rows with ascending keys as the database holds them."""
    names = [field.attname for field in table._meta.concrete_fields
             if field.attname not in _columns_left_out[table]]
    for batch in batched(keys, CHUNK):
        for row in _values(table._base_manager.filter(pk__in=batch).order_by("pk"), names):
            yield str(row[table._meta.pk.attname]), {name: plain(row[name]) for name in names}


def _values(rows: models.QuerySet, names: list[str]) -> list[dict[str, Any]]:
    """The columns of rows; what Django cannot read, as a number beyond its column's digits that
    SQLite keeps nevertheless, is UNREADABLE."""
    try:
        return list(rows.values(*names))
    except ArithmeticError:
        return [{name: _value(rows.filter(pk=key), name) for name in names}
                for key in rows.values_list("pk", flat=True)]


def _value(row: models.QuerySet, name: str) -> Any:
    try:
        return row.values_list(name, flat=True).get()
    except ArithmeticError:
        return UNREADABLE


def batched(keys: Iterable, size: int) -> Iterator[list]:
    """Lists of so many keys."""
    found = iter(keys)
    while batch := list(islice(found, size)):
        yield batch


def plain(value: Any) -> Any:
    """A column's value as the log keeps it: null, truth, whole number, or at most 71 letters."""
    if value is None or isinstance(value, bool | int):
        return value
    text = (json.dumps(value, ensure_ascii=False, sort_keys=True)
            if isinstance(value, dict | list) else str(value))
    if len(text) <= LONGEST:
        return text
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


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


def differences(stated: Iterator[tuple[int, Rows]]) -> Iterator[Difference]:
    """Compare every row of the vouched tables with the last entry that speaks of it.

    Args:
        stated: number and rows of the log's entries, oldest first.
    """
    known: dict[str, dict[str, tuple[int, dict | None]]] = {}
    for number, rows in stated:
        for label, found in rows.items() if isinstance(rows, dict) else ():
            known.setdefault(label, {}).update(
                {key: (number, columns) for key, columns in found.items()})
    for table in vouched_tables():
        yield from _compared(table, known.get(table._meta.label_lower, {}))


def _compared(table: type[models.Model], known: dict[str, tuple[int, dict | None]]
              ) -> Iterator[Difference]:
    keys = table._base_manager.order_by("pk").values_list("pk", flat=True)
    for key, columns in _stored(table, keys.iterator(chunk_size=CHUNK)):
        number, said = known.pop(key, (None, None))
        if said is None:
            yield Difference(table, key, "unknown", entry=number)
        elif wrong := tuple(name for name, value in columns.items()
                            if name in said and said[name] != value):
            yield Difference(table, key, "changed", wrong, number)
    for key, (number, said) in known.items():
        if said is not None:
            yield Difference(table, key, "missing", entry=number)
