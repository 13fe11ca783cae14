"""Rows whose every write the audit log holds: each entry contains the rows written before it.

A write of a tracked row leaves a PendingWrite in the transaction; `audit_log.record` collects them
into its entry. What no entry collected by the end of the transaction gets an entry of its own.
`engagements.audit.row_comparison` compares the rows of today with what the log last says of them.

Every app's `audit_config.py` names each of its tables, as tracked or, with a reason, as untracked.
"""

from collections import defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any
from weakref import ReferenceType, WeakKeyDictionary, ref

from django.core.exceptions import ImproperlyConfigured
from django.db import DEFAULT_DB_ALIAS, connections, models, transaction
from django.db.models.signals import post_delete, post_save, pre_save

from engagements.audit_rows.row_values import stored_rows
from engagements.audit_rows.secret_texts import refuse_secrets

Rows = dict[str, dict[str, dict[str, Any] | None]]  # by table, key, column; None: deleted


@dataclass(frozen=True)
class FinalState:
    """When columns that change often while a row is in progress become part of the record.

    The row is final once `column` has one of `values`, and never in progress again. Writes of the
    `late` columns (`column` among them) are tracked only from then on.
    """

    column: str
    values: frozenset[str]
    late: frozenset[str]

    def is_final(self, columns: dict[str, Any]) -> bool:
        """Whether the row with these plain columns is final."""
        return columns[self.column] in self.values

    def stays_open(self, written: dict[str, Any]) -> bool:
        """Whether a write of these columns itself says that the row is still in progress."""
        value = written.get(self.column, "")
        return (self.column in written and value not in self.values
                and not hasattr(value, "resolve_expression"))


@dataclass(frozen=True)
class TrackedColumns:
    """Which columns of a table are tracked: all but those `excluded`, and late ones in time."""

    excluded: frozenset[str]
    final_state: FinalState | None
    is_numbered: bool = False
    is_confidential: bool = False

    def are_written(self, written: dict[str, Any]) -> bool:
        """Whether a write of these columns touches a tracked one; {} stands for any columns."""
        untracked = self.excluded
        if self.final_state and self.final_state.stays_open(written):
            untracked |= self.final_state.late
        return not written or not written.keys() <= untracked

    def logged(self, row: dict[str, Any]) -> dict[str, Any]:
        """The columns of a row that an entry holds."""
        if self.final_state is None or self.final_state.is_final(row):
            return row
        return {name: value for name, value in row.items() if name not in self.final_state.late}


_tracked: dict[type[models.Model], TrackedColumns] = {}
_untracked: dict[type[models.Model], str] = {}
_recorder: Callable[..., Any] | None = None
_waiting: "WeakKeyDictionary[Any, list[ReferenceType[PendingWrite]]]" = WeakKeyDictionary()
Listener = Callable[[type[models.Model], Collection], None]
_listeners: dict[type[models.Model], list[Listener]] = defaultdict(list)


def register_recorder(record: Callable[..., Any]) -> None:
    """Set `audit_log.record`, which lies above the models and cannot be imported here."""
    global _recorder
    _recorder = record


def track_rows(*tables: type[models.Model], without: Collection[str] = (),
               final_state: FinalState | None = None, is_numbered: bool = False,
               is_confidential: bool = False) -> None:
    """Track the rows of these tables from now on; call it when Django starts.

    Args:
        without: columns that are nobody's statement: secrets, counters.
        is_numbered: people know the rows by their key; a number that is missing is named.
        is_confidential: prices, costs, internal notes, people: customers and auditors see that
            there was an entry, and not what it says.
    Raises:
        ImproperlyConfigured: the table's bulk writes would go unnoticed.
    """
    for table in tables:
        if not isinstance(table._default_manager.all(), AuditedQuerySet):
            raise ImproperlyConfigured(f"{table._meta.label} does not use AuditedQuerySet")
        _tracked[table] = TrackedColumns(frozenset(without), final_state, is_numbered,
                                         is_confidential)
        pre_save.connect(_row_given, sender=table, dispatch_uid=f"{table._meta.label} given")
        post_save.connect(_row_written, sender=table, dispatch_uid=table._meta.label)
        post_delete.connect(_row_written, sender=table,
                            dispatch_uid=f"{table._meta.label} deleted")


def on_rows_written(table: type[models.Model], listener: Listener) -> None:
    """Call the listener with a tracked table and the keys of its rows, after each write of them and
    in its transaction. For summaries of these rows; see `delivery.followers`."""
    _listeners[table].append(listener)


def _notify_listeners(table: type[models.Model], keys: Collection) -> None:
    for listener in _listeners[table] if keys else ():
        listener(table, keys)


def do_not_track(reasons: dict[type[models.Model], str]) -> None:
    """Tables whose rows the log does not hold, each with the reason."""
    _untracked.update(reasons)


def untracked_tables() -> dict[type[models.Model], str]:
    """With their reasons."""
    return dict(_untracked)


def tracked_tables() -> list[type[models.Model]]:
    """All tables whose rows are tracked, by name."""
    return sorted(_tracked, key=lambda table: table._meta.label_lower)


def columns_of(table: type[models.Model]) -> TrackedColumns:
    """Which columns of a tracked table are tracked."""
    return _tracked[table]


def open_tables() -> frozenset[str]:
    """Labels of the tables whose rows customers and auditors may read in the log."""
    return frozenset(table._meta.label_lower for table, columns in _tracked.items()
                     if not columns.is_confidential)


def excluded_columns(table: type[models.Model]) -> frozenset[str]:
    """Columns of a tracked table that are not tracked."""
    return _tracked[table].excluded


class AuditedQuerySet(models.QuerySet):
    """Queries of a tracked table: bulk writes, which send no signals, are noticed here."""

    def update(self, **values) -> int:
        """As Django's; on exactly the rows whose write is pending."""
        if not _is_tracked_write(self.model, values):
            return super().update(**values)
        refuse_secrets(self.model, values, excluded_columns(self.model))
        return self._tracked_update(values)

    @transaction.atomic(savepoint=False)
    def _tracked_update(self, values: dict[str, Any]) -> int:
        keys = list(self.order_by().select_for_update(
            of=("self",), no_key=True).values_list("pk", flat=True))
        _add_pending(self.model, keys)
        changed = super(AuditedQuerySet, self.filter(pk__in=keys)).update(**values)
        _notify_listeners(self.model, keys)
        return changed

    @transaction.atomic(savepoint=False)
    def bulk_create(self, objs, batch_size=None, **conflicts) -> list[models.Model]:
        """As Django's, without its handling of conflicts: ignored rows have no known key."""
        if any(conflicts.values()):
            raise NotImplementedError(f"{self.model._meta.label} is tracked")
        objs = list(objs)
        for row in objs if self.model in _tracked else ():
            refuse_secrets(self.model, vars(row), excluded_columns(self.model))
        made = super().bulk_create(objs, batch_size)
        _add_pending(self.model, [row.pk for row in made])
        _notify_listeners(self.model, [row.pk for row in made])
        return made


def _row_given(sender: type[models.Model], instance: models.Model, raw=False, update_fields=None,
               **_kwargs) -> None:
    if raw:  # of a fixture
        return
    names = vars(instance).keys() if update_fields is None else update_fields
    refuse_secrets(sender, {name: vars(instance)[name] for name in names if name in vars(instance)},
                   _tracked[sender].excluded,
                   sender._base_manager.filter(pk=instance.pk) if instance.pk else None)


def _row_written(sender: type[models.Model], instance: models.Model, update_fields=None,
                 **_kwargs) -> None:
    if update_fields is None or _is_tracked_write(
            sender, {name: getattr(instance, name) for name in update_fields}):
        _add_pending(sender, [instance.pk])
        if instance.pk is not None:
            _notify_listeners(sender, [instance.pk])


def _is_tracked_write(table: type[models.Model], written: dict[str, Any]) -> bool:
    """Whether one of the columns that are written is tracked."""
    if table not in _tracked:
        return False
    return _tracked[table].are_written(
        {table._meta.get_field(name).attname: value for name, value in written.items()
         if name != "pk"})


def _add_pending(table: type[models.Model], keys: Collection) -> None:
    if table in _tracked:
        for key in keys:
            wait_for_entry(PendingWrite(table, key))


@dataclass
class PendingWrite:
    """A row was written; waits with the transaction, and is dropped if that is rolled back.

    `entry`: lives as long as the log entry that holds the row is not rolled back.
    """

    table: type[models.Model]
    key: Any
    entry: "ReferenceType[Collected] | None" = None
    is_over: bool = False

    @property
    def is_collected(self) -> bool:
        """Whether an entry holds the row that was written."""
        return self.is_over or (self.entry is not None and self.entry() is not None)

    def __call__(self) -> None:
        """At the commit: what no entry collected gets an entry of its own."""
        if self.is_collected:
            return
        self.is_over = True
        with transaction.atomic():
            row = self.table._base_manager.filter(pk=self.key).first()
            _recorder(actor=None, action="row.write", target=row or self.table(pk=self.key),
                      written=[self])


class Collected:
    """An entry of the log holds rows; waits with the transaction, as they do."""

    def __call__(self) -> None:
        """Nothing follows at the commit."""


def wait_for_entry(write: PendingWrite) -> None:
    """Keep the write until the commit, or until what it was part of is rolled back.

    Only Django holds it: callbacks of a block that is rolled back are discarded
    (`transaction.on_commit`), so what still can be reached here is still written.
    """
    transaction.on_commit(write)
    _waiting_writes().append(ref(write))


def _waiting_writes() -> "list[ReferenceType[PendingWrite]]":
    return _waiting.setdefault(connections[DEFAULT_DB_ALIAS], [])


def pending_writes() -> list[PendingWrite]:
    """The writes of the open transaction that no entry holds."""
    waiting = _waiting_writes()
    found = [write for one in waiting
             if (write := one()) is not None and not write.is_collected]
    waiting[:] = map(ref, found)
    return found


def rows_of(writes: Collection[PendingWrite]) -> Rows:
    """The rows that were written, as they are now."""
    written: dict[type[models.Model], set] = {}
    for write in writes:
        written.setdefault(write.table, set()).add(write.key)
    return {table._meta.label_lower: _rows_now(table, keys) for table, keys in written.items()}


def mark_collected(writes: Collection[PendingWrite]) -> None:
    """An entry that is saved holds these rows. Where a savepoint takes the entry back and leaves
    the writes, they wait for another."""
    if writes:
        collected, waiting, held = Collected(), _waiting_writes(), list(map(ref, writes))
        transaction.on_commit(collected)
        entry = ref(collected, lambda _gone: waiting.extend(held))
        for write in writes:
            write.entry = entry


def _rows_now(table: type[models.Model], keys: Collection) -> dict[str, dict | None]:
    ordered, tracked = sorted(keys), _tracked[table]
    found = {key: tracked.logged(columns)
             for key, columns in stored_rows(table, ordered, tracked.excluded)}
    return {str(key): found.get(str(key)) for key in ordered}
