"""Rows that the audit log vouches for: each entry holds those that were written before it.

A write notes its row in the transaction; `audit.record` takes the notes into its entry. What no
entry took by the end of the transaction gets one of its own. `differences` compares the rows of
today with what the log says last of each.

Every app's `vouched.py` names each of its tables: as one that the log vouches for, or as one that
it does not, with the reason.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db import models, transaction
from django.db.models.signals import post_delete, post_save

CHUNK = 500  # rows read at once
FEW = 50  # of all rows there are: what was read from a file may take megabytes
UNREADABLE = "unreadable"
LONGEST = 64  # characters; a longer value is kept as its SHA-256
Rows = dict[str, dict[str, dict[str, Any] | None]]  # by table, key, column; None: removed


@dataclass(frozen=True)
class FinalState:
    """Columns that change without a word while a row is under way, and are statements from then
    on that `column` has one of `values`. A settled row never gets under way again."""

    column: str
    values: frozenset[str]
    late: frozenset[str]  # `column` among them

    def is_over(self, columns: dict[str, Any]) -> bool:
        """Whether the row with these plain columns is settled."""
        return columns[self.column] in self.values

    def leaves_open(self, written: dict[str, Any]) -> bool:
        """Whether a write of these columns says itself that the row is still under way."""
        value = written.get(self.column, "")
        return (self.column in written and value not in self.values
                and not hasattr(value, "resolve_expression"))


@dataclass(frozen=True)
class Columns:
    """Which columns of a table are statements: not those `left_out`, and late ones in time."""

    left_out: frozenset[str]
    final_state: FinalState | None

    def are_written(self, written: dict[str, Any]) -> bool:
        """Whether a write of these columns touches a statement; of none at all: may be any."""
        silent = self.left_out
        if self.final_state and self.final_state.leaves_open(written):
            silent |= self.final_state.late
        return not written or not written.keys() <= silent

    def stated(self, row: dict[str, Any]) -> dict[str, Any]:
        """What an entry says of a row."""
        if self.final_state is None or self.final_state.is_over(row):
            return row
        return {name: value for name, value in row.items() if name not in self.final_state.late}


_vouched: dict[type[models.Model], Columns] = {}
_not_vouched: dict[type[models.Model], str] = {}


def track_rows(*tables: type[models.Model], without: Collection[str] = (),
              final_state: FinalState | None = None) -> None:
    """The log vouches for these tables from now on; call it when Django starts.

    Args:
        without: columns that are no statement of anybody: secrets, counters.
    Raises ImproperlyConfigured for a table whose writes of many rows would not be noted.
    """
    for table in tables:
        if not isinstance(table._default_manager.all(), AuditedQuerySet):
            raise ImproperlyConfigured(f"{table._meta.label} does not use AuditedQuerySet")
        _vouched[table] = Columns(frozenset(without), final_state)
        post_save.connect(_written, sender=table, dispatch_uid=table._meta.label)
        post_delete.connect(_written, sender=table, dispatch_uid=f"{table._meta.label} gone")


def do_not_track(reasons: dict[type[models.Model], str]) -> None:
    """Tables about whose rows the log says nothing, each with the reason."""
    _not_vouched.update(reasons)


def untracked_tables() -> dict[type[models.Model], str]:
    """With their reasons."""
    return dict(_not_vouched)


def tracked_tables() -> list[type[models.Model]]:
    """All tables that the log vouches for, by name."""
    return sorted(_vouched, key=lambda table: table._meta.label_lower)


def excluded_columns(table: type[models.Model]) -> frozenset[str]:
    """Columns of a vouched table that are no statements."""
    return _vouched[table].left_out


class AuditedQuerySet(models.QuerySet):
    """Writes of many rows at once, which send no signals, note their rows here."""

    def update(self, **values) -> int:
        """As Django's; on exactly the rows that were noted."""
        if not _speaks_of(self.model, values):
            return super().update(**values)
        return self._noted_update(values)

    @transaction.atomic(savepoint=False)
    def _noted_update(self, values: dict[str, Any]) -> int:
        keys = list(self.order_by().select_for_update(
            of=("self",), no_key=True).values_list("pk", flat=True))
        _note(self.model, keys)
        return super(AuditedQuerySet, self.filter(pk__in=keys)).update(**values)

    @transaction.atomic(savepoint=False)
    def bulk_create(self, objs, batch_size=None, **conflicts) -> list[models.Model]:
        """As Django's, but no conflict is passed over: such rows have no key to be noted by."""
        if any(conflicts.values()):
            raise NotImplementedError(f"{self.model._meta.label} is vouched for")
        made = super().bulk_create(objs, batch_size)
        _note(self.model, [row.pk for row in made])
        return made


def _written(sender: type[models.Model], instance: models.Model, update_fields=None, **_kwargs
             ) -> None:
    if update_fields is None or _speaks_of(
            sender, {name: getattr(instance, name) for name in update_fields}):
        _note(sender, [instance.pk])


def _speaks_of(table: type[models.Model], written: dict[str, Any]) -> bool:
    """Whether the log vouches for one of the columns that are written."""
    if table not in _vouched:
        return False
    return _vouched[table].are_written(
        {table._meta.get_field(name).attname: value for name, value in written.items()
         if name != "pk"})


def _note(table: type[models.Model], keys: Collection) -> None:
    if table in _vouched:
        for key in keys:
            transaction.on_commit(PendingWrite(table, key))


@dataclass
class PendingWrite:
    """A row was written; waits with the transaction, and is dropped with it."""

    table: type[models.Model]
    key: Any
    is_collected: bool = False

    def __call__(self) -> None:
        """The transaction ended; what no entry took gets an entry of its own."""
        if self.is_collected:
            return
        from engagements.audit import audit_log

        self.is_collected = True
        with transaction.atomic():
            row = self.table._base_manager.filter(pk=self.key).first()
            _note(self.table, [self.key])
            audit_log.record(actor=None, action="row.write", target=row or self.table(pk=self.key))


def depth() -> frozenset:
    """Where the transaction stands; `take` wants it from before its caller's own savepoint."""
    return frozenset(transaction.get_connection().savepoint_ids) - {None}


def take(depth: frozenset) -> Rows:
    """The rows noted so far, as they are now. Notes from outside the savepoint stay open: the
    entry may yet be rolled back without the row. Those from savepoints within it are done with."""
    noted: dict[type[models.Model], set] = {}
    for savepoints, note, _is_robust in transaction.get_connection().run_on_commit:
        if isinstance(note, PendingWrite) and not note.is_collected:
            noted.setdefault(note.table, set()).add(note.key)
            note.is_collected = depth <= frozenset(savepoints)
    return {table._meta.label_lower: _rows(table, keys) for table, keys in noted.items()}


def _rows(table: type[models.Model], keys: Collection) -> dict[str, dict | None]:
    ordered = sorted(keys)
    stated = _vouched[table].stated
    found = {key: stated(columns) for key, columns in _stored(table, ordered)}
    return {str(key): found.get(str(key)) for key in ordered}


def _stored(table: type[models.Model], keys: Iterable, chunk: int = CHUNK
            ) -> Iterator[tuple[str, dict]]:
    """Key and columns of the rows with ascending keys as the database holds them."""
    names = [field.attname for field in table._meta.concrete_fields
             if field.attname not in _vouched[table].left_out]
    for batch in batched(keys, chunk):
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
    if isinstance(value, bytes | memoryview):  # as drivers give the bytes of a column
        return _digest(value)
    text = (json.dumps(value, ensure_ascii=False, sort_keys=True)
            if isinstance(value, dict | list) else str(value))
    return text if len(text) <= LONGEST else _digest(text.encode())


def _digest(content: bytes | memoryview) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


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
    for table in tracked_tables():
        yield from _compared(table, known.get(table._meta.label_lower, {}))


def _compared(table: type[models.Model], known: dict[str, tuple[int, dict | None]]
              ) -> Iterator[Difference]:
    keys = table._base_manager.order_by("pk").values_list("pk", flat=True)
    for key, columns in _stored(table, keys.iterator(chunk_size=CHUNK), FEW):
        number, said = known.pop(key, (None, None))
        if said is None:
            yield Difference(table, key, "unknown", entry=number)
        elif wrong := _wrong(_vouched[table], columns, said):
            yield Difference(table, key, "changed", wrong, number)
    for key, (number, said) in known.items():
        if said is not None:
            yield Difference(table, key, "missing", entry=number)


def _wrong(declared: Columns, columns: dict[str, Any], said: dict[str, Any]) -> tuple[str, ...]:
    """Columns that are not what an entry says. A row that settled behind the application's back
    is wrong in what settles it; the entry was written before the row had an end."""
    wrong = tuple(name for name, value in columns.items() if name in said and said[name] != value)
    final_state = declared.final_state
    if final_state and final_state.column not in said and final_state.is_over(columns):
        return (*wrong, final_state.column)
    return wrong
