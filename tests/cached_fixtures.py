"""Fixtures that are built once per process and laid in place again for every other test.

`@cached_fixture` under `@pytest.fixture` keeps what a fixture wrote: rows, files, e-mails, open
notes of the audit log. Where the database holds the same rows as before it was built, the next
test gets those instead of a new build. A fixture that finds anything else is built as ever, and so
it is outside a test's transaction and on other databases than SQLite and PostgreSQL. PostgreSQL's
sequences go on after a test's rollback; here they begin anew behind the rows that are there.
"""

import functools
import inspect
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core import mail
from django.db import connection, models
from django.utils import timezone
from django.utils.translation import get_language

from engagements.audit_rows.tracking import PendingWrite, wait_for_entry

State = dict[str, frozenset[tuple]]  # rows by table, the key first
_built: dict[tuple, "World"] = {}


def cached_fixture(build: Callable) -> Callable:
    """A fixture that returns a row, several rows by name or in a tuple, or nothing.

    Its arguments are rows or hold none of their own: rows among them are read anew where the
    fixture has written them.
    """
    @functools.wraps(build)
    def fixture(**given):
        if connection.vendor not in STORES or not connection.in_atomic_block:
            return build(**given)
        store().restart_sequences()
        key = (build.__module__, build.__qualname__, get_language(), timezone.localdate(),
               store().state_hash())
        if key in _built:
            _built[key].lay()
        else:
            _built[key] = built(build, given)
        store().remember(_built[key].state_hash)
        return _built[key].value_among(given)

    assert not inspect.isgeneratorfunction(build)
    return fixture


@dataclass
class World:
    """What a fixture left: rows that are new or gone by table, files, e-mails, open notes."""

    new: dict[str, list[tuple]]
    gone: dict[str, list[tuple]]
    files: dict[str, tuple[bytes, int]]
    mails: list
    notes: list[PendingWrite]
    value: Any
    state_hash: int  # of all rows after it

    def lay(self) -> None:
        store().delete(self.gone)
        store().insert(self.new)
        store().restart_sequences(*self.new, *self.gone)
        for name, (content, mode) in self.files.items():
            path = Path(settings.VAR_DIR, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            path.chmod(mode)
        mail.outbox.extend(self.mails)
        for note in self.notes:
            wait_for_entry(copy(note))

    def value_among(self, given: dict) -> Any:
        """The fixture's value; the very objects that the test has already, where it has them."""
        mine = {Row(type(row), row.pk): row for row in _rows_in(given)}
        for place, row in mine.items():
            if store().key(place.key) in {
                    made[0] for made in self.new.get(row._meta.db_table, ())}:
                row.refresh_from_db()
        return _thawed(self.value, {**_read(_places_in(self.value) - set(mine)), **mine})


def built(build: Callable, given: dict) -> World:
    """Builds the fixture and keeps what it left."""
    before = store().rows()
    files, mails = _files(), len(mail.outbox)
    hooks = len(connection.run_on_commit)
    value = build(**given)
    store().restart_sequences()
    after = store().rows()
    return World(
        new={name: sorted(rows - before[name]) for name, rows in after.items()
             if rows - before[name]},
        gone={name: [(row[0],) for row in rows - after[name]] for name, rows in before.items()
              if rows - after[name]},
        files={name: (path.read_bytes(), path.stat().st_mode) for name, path in _files().items()
               if name not in files},
        mails=mail.outbox[mails:], value=_frozen(value), state_hash=hash_of(after),
        notes=[copy(hook) for _savepoints, hook, _is_robust in connection.run_on_commit[hooks:]
               if isinstance(hook, PendingWrite) and not hook.is_collected])


def hash_of(state: State) -> int:
    return hash(tuple(state.items()))


class Store:
    """The rows of the test's database, and what is known of them while nobody writes."""

    _known: tuple = ()
    _between_tests: int | None = None  # the hash of the rows that no test takes back
    _at_start: int | None = None  # how much was written when the test began
    _was_rolled_back = False
    was_flushed = False  # Django emptied the tables after a test that commits

    def begin_test(self, is_rolled_back: bool) -> None:
        """A test begins. After one that is not rolled back other rows may be there."""
        if not (is_rolled_back and self._was_rolled_back):
            self._between_tests = None
        if is_rolled_back and self.was_flushed:
            self.restart_after_flush()
            self.was_flushed = False
        self._was_rolled_back, self._at_start = is_rolled_back, self.writes()

    def state_hash(self) -> int:
        """Of all rows; read only where something was written since a world was laid."""
        if not self.is_known():
            is_untouched = self.writes() == self._at_start
            found = self._between_tests if is_untouched else None
            if found is None:
                found = hash_of(self.rows())
                self._between_tests = found if is_untouched else self._between_tests
            self.remember(found)
        return self._known[-1]

    def is_known(self) -> bool:
        return self._known[:-1] == self._moment()

    def remember(self, state_hash: int) -> None:
        self._known = (*self._moment(), state_hash)

    def _moment(self) -> tuple:
        """The test, by its folder, and how much the connection ever wrote."""
        return settings.VAR_DIR, self.writes()


class SqliteStore(Store):
    """Rows as SQLite stores them; the + keeps Python from reading more into the columns."""

    key = staticmethod(lambda value: value)

    def writes(self) -> int | None:
        """Rows; None before there is a connection."""
        return connection.connection and connection.connection.total_changes

    def restart_sequences(self, *_tables: str) -> None:
        """SQLite's go back with the transaction."""

    def restart_after_flush(self) -> None:
        """A flush leaves the numbers that were given, and the audit log would find rows that
        nothing speaks of. Tests that commit share servers, where a number must not come twice."""
        with closing(sqlite3.connect(connection.settings_dict["NAME"])) as database, database:
            for (table,) in database.execute("SELECT name FROM sqlite_sequence").fetchall():
                database.execute("UPDATE sqlite_sequence SET seq = (SELECT COALESCE(MAX(rowid), 0) "
                                 f'FROM "{table}") WHERE name = ?', [table])

    def rows(self) -> State:
        database = connection.connection
        return {table: frozenset(database.execute(query)) for table, query in self._queries.items()}

    @functools.cached_property
    def _queries(self) -> dict[str, str]:
        columns = {table: ", ".join(f'+"{name}"' for name in names)
                   for table, names in _columns().items()}
        return {table: f'SELECT {names} FROM "{table}"' for table, names in columns.items()}

    def delete(self, gone: dict[str, list[tuple]]) -> None:
        for table, keys in gone.items():
            connection.connection.executemany(
                f'DELETE FROM "{table}" WHERE "{_columns()[table][0]}" = ?', keys)

    def insert(self, new: dict[str, list[tuple]]) -> None:
        for table, rows in new.items():
            marks = ", ".join("?" * len(rows[0]))
            names = ", ".join(f'"{name}"' for name in _columns()[table])
            connection.connection.executemany(
                f'INSERT INTO "{table}" ({names}) VALUES ({marks})', rows)


class PostgresStore(Store):
    """Rows as PostgreSQL prints them, (key, row), both as text; one statement for all tables."""

    key = staticmethod(str)
    _READING = ("SELECT", "SAVEPOINT", "RELEASE", "SET CONSTRAINTS")

    def __init__(self) -> None:
        self._writes = 0
        connection.execute_wrappers.append(self._count)

    def restart_after_flush(self) -> None:
        """`restart_sequences` does."""

    def writes(self) -> int:
        """Statements that may have written; a rollback to a savepoint is one."""
        return self._writes

    def _count(self, execute: Callable, statement: Any, *rest: Any) -> Any:
        self._writes += not str(statement).lstrip(" (").startswith(self._READING)
        return execute(statement, *rest)

    def restart_sequences(self, *tables: str) -> None:
        """Those of the tables; all of them, where none is named and somebody wrote."""
        if tables:
            self._ask(self._restart_of(frozenset(tables)))
        elif not self.is_known():
            self._ask(self._restart_of(frozenset(self._owners)))

    def rows(self) -> State:
        found = {table: [] for table in _columns()}
        for table, key, row in self._ask(self._all_rows):
            found[table].append((key, row))
        return {table: frozenset(rows) for table, rows in found.items()}

    def delete(self, gone: dict[str, list[tuple]]) -> None:
        for table, keys in gone.items():
            key = _columns()[table][0]
            self._ask(f'DELETE FROM "{table}" WHERE "{key}"::text = ANY(%s)',
                      [[found for (found,) in keys]])

    def insert(self, new: dict[str, list[tuple]]) -> None:
        for table, rows in new.items():
            self._ask(f'INSERT INTO "{table}" SELECT (unnest(%s::"{table}"[])).*',
                      [[row for _key, row in rows]])

    @staticmethod
    def _ask(statement: str, values: list | None = None) -> list[tuple]:
        """Past Django, so that no test counts these queries."""
        with connection.connection.cursor() as cursor:
            cursor.execute(statement, values)
            return cursor.fetchall() if cursor.description else []

    @functools.cached_property
    def _all_rows(self) -> str:
        return " UNION ALL ".join(
            f"""SELECT '{table}', "{names[0]}"::text, row::text FROM "{table}" AS row"""
            for table, names in _columns().items())

    @functools.cached_property
    def _owners(self) -> dict[str, tuple[str, str]]:
        """Sequence and its column by table."""
        return {table: (sequence, column) for table, sequence, column in self._ask("""
            SELECT owner.oid::regclass::text, seq.oid::regclass::text, quote_ident(attname)
            FROM pg_class AS seq JOIN pg_depend ON objid = seq.oid AND deptype IN ('a', 'i')
            JOIN pg_class AS owner ON owner.oid = refobjid
            JOIN pg_attribute ON attrelid = refobjid AND attnum = refobjsubid
            WHERE seq.relkind = 'S'""")}

    @functools.cache  # noqa: B019  # one store lives as long as the process
    def _restart_of(self, tables: frozenset[str]) -> str:
        return "SELECT " + ", ".join(
            f"setval('{sequence}', COALESCE((SELECT max({column}) FROM {table}), 0) + 1, false)"
            for table, (sequence, column) in self._owners.items() if table in tables)


STORES = {"sqlite": SqliteStore, "postgresql": PostgresStore}


@functools.cache
def store() -> SqliteStore | PostgresStore:
    return STORES[connection.vendor]()


@functools.cache
def _columns() -> dict[str, list[str]]:
    """Columns of each table, the key first."""
    found = {}
    for table in apps.get_models(include_auto_created=True):
        if table._meta.managed and not table._meta.proxy:
            key = table._meta.pk.column
            found[table._meta.db_table] = [key, *(
                field.column for field in table._meta.local_concrete_fields
                if field.column != key)]
    return found


def _files() -> dict[str, Path]:
    """By place in the test's folder, without what processes count together."""
    folder = Path(settings.VAR_DIR)
    return {str(path.relative_to(folder)): path for path in folder.rglob("*")
            if path.is_file() and folder / "cache" not in path.parents}


def _rows_in(value: Any) -> Iterator[models.Model]:
    if isinstance(value, models.Model):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _rows_in(part)


@dataclass(frozen=True)
class Row:
    """Where a row is found again."""

    table: type[models.Model]
    key: Any


def _frozen(value: Any) -> Any:
    """Rows as their places."""
    if isinstance(value, models.Model):
        return Row(type(value), value.pk)
    if isinstance(value, dict):
        return {name: _frozen(part) for name, part in value.items()}
    if isinstance(value, tuple | list):
        return type(value)(map(_frozen, value))
    assert value is None or isinstance(value, str | int | bytes), f"{value!r} cannot be kept"
    return value


def _places_in(value: Any) -> set[Row]:
    if isinstance(value, Row):
        return {value}
    parts = value.values() if isinstance(value, dict) else value
    return set().union(*map(_places_in, parts)) if isinstance(value, dict | tuple | list) else set()


def _read(places: set[Row]) -> dict[Row, models.Model]:
    """One query for each table."""
    return {Row(table, key): row for table in {place.table for place in places}
            for key, row in table._base_manager.in_bulk(
                [place.key for place in places if place.table is table]).items()}


def _thawed(value: Any, rows: dict[Row, models.Model]) -> Any:
    if isinstance(value, Row):
        return rows[value]
    if isinstance(value, dict):
        return {name: _thawed(part, rows) for name, part in value.items()}
    if isinstance(value, tuple | list):
        return type(value)(_thawed(part, rows) for part in value)
    return value
