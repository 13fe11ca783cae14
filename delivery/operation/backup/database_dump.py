"""A database as one file that both back ends load.

The file is gzip of JSON lines: first {"format": 2, "migrations": those that had been applied}, then
one row each as [table's label, {column: value}]. Rows are written through the models of that
version, so the file stays good when today's models have other columns. Credentials stay encrypted
as they are stored. Format 1 (of the upgrade test) is the list of migrations alone as first line,
with credentials in clear.
"""

import gzip
import json
from base64 import b64encode
from collections.abc import Iterator
from datetime import datetime
from itertools import groupby, islice
from pathlib import Path

from django.apps import apps
from django.apps.registry import Apps
from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection, models, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from delivery.operation.new_tables import make_tables
from workers.encrypted_field import EncryptedTextField

LEFT_OUT = {"sessions.session", "axes.accessattempt", "axes.accesslog", "axes.accessfailurelog",
            "contenttypes.contenttype", "auth.permission", "engagements.signin",
            "authtoken.token", "engagements.idempotentrequest"}  # made anew, or of no value later
BATCH = 500
FORMAT = 2
Migrations = list[tuple[str, str]]


class ExactEncoder(DjangoJSONEncoder):
    """Django's drops the microseconds of an instant."""

    def default(self, value):
        return value.isoformat() if isinstance(value, datetime) else super().default(value)


def dump(path: Path) -> dict[str, int]:
    """Write the database in use to a file; the number of rows of each table.

    Rows without a value for later (LEFT_OUT) stay away. What others write meanwhile is a matter of
    the transaction that this is called in.
    """
    applied = sorted(applied_migrations())
    counts = {}
    with gzip.GzipFile(path, "wb", mtime=0) as stream:
        head = {"format": FORMAT, "migrations": applied}
        stream.write(json.dumps(head).encode() + b"\n")
        for table in tables(stored_apps()):
            counts[table._meta.label_lower] = 0
            for row in table._base_manager.order_by("pk").values_list(
                    *(field.attname for field in table._meta.concrete_fields)).iterator():
                stream.write(_line(table, row))
                counts[table._meta.label_lower] += 1
    return counts


def applied_migrations() -> set[tuple[str, str]]:
    """Of this code, those that the database has had; all of them where none are recorded (tables
    made without migrations, as the tests do)."""
    nodes = set(MigrationLoader(None).graph.nodes)
    return (set(MigrationRecorder(connection).applied_migrations()) & nodes) or nodes


def stored_apps() -> Apps:
    """The models as the tables are now: before an upgrade not those of this code."""
    loader = MigrationLoader(None)
    missing = set(loader.graph.nodes) - applied_migrations()
    return loader.project_state(_last(loader, applied_migrations())).apps if missing else apps


def _last(loader: MigrationLoader, applied: set[tuple[str, str]]) -> Migrations:
    """Of these migrations those that none of the same app follows."""
    return [entry for entry in sorted(applied) if not any(
        child.key in applied and child.key[0] == entry[0]
        for child in loader.graph.node_map[entry].children)]


def _line(table: type[models.Model], row: tuple) -> bytes:
    values = {field.attname: _plain(field, value)
              for field, value in zip(table._meta.concrete_fields, row, strict=True)}
    text = json.dumps([table._meta.label_lower, values], cls=ExactEncoder,
                      ensure_ascii=False)
    return text.encode() + b"\n"


def _plain(field: models.Field, value):
    if isinstance(field, EncryptedTextField):
        return field.get_prep_value(value)
    return b64encode(value).decode() if isinstance(value, bytes | memoryview) else value


def load(path: Path) -> dict[str, int]:
    """Migrate an empty database to the file's migrations and write its rows; how many of each
    table.

    Foreign keys are checked when the transaction ends.
    """
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        head = json.loads(next(stream))
        is_encrypted = isinstance(head, dict)
        applied = head["migrations"] if is_encrypted else head
        released = _migrated([tuple(entry) for entry in applied])
        counts = {}
        with transaction.atomic():
            for label, rows in groupby(map(json.loads, stream), key=lambda row: row[0]):
                counts[label] = _write(released.get_model(label),
                                       (values for _label, values in rows), is_encrypted)
    _reset_sequences(released)
    return counts


def _migrated(applied: Migrations) -> Apps:
    """The models as the last of these migrations left them, with their tables."""
    executor = MigrationExecutor(connection)
    graph = executor.loader.graph
    last = _last(executor.loader, set(applied) & set(graph.nodes))
    if sorted(last) == sorted(graph.leaf_nodes()) and not connection.introspection.table_names():
        make_tables(connection)
    else:
        executor.migrate(last)
    state = MigrationExecutor(connection).loader.project_state(last)
    for label in LEFT_OUT & {model._meta.label_lower for model in state.apps.get_models()}:
        state.apps.get_model(label)._base_manager.all().delete()
    return state.apps


def _write(table: type[models.Model], rows: Iterator[dict], is_encrypted: bool) -> int:
    for field in table._meta.concrete_fields:
        field.auto_now = field.auto_now_add = False  # the stored instant stays
    table._base_manager.all().delete()  # what a migration put in
    count = 0
    for values in batched(rows, BATCH):
        made = table._base_manager.bulk_create(
            table(**{field.attname: _value(field, row[field.attname], is_encrypted)
                     for field in table._meta.concrete_fields}) for row in values)
        count += len(made)
    return count


def _value(field: models.Field, value, is_encrypted: bool):
    if is_encrypted and isinstance(field, EncryptedTextField):
        return field.from_db_value(value, None, connection)
    return field.to_python(value)


def batched(rows: Iterator, size: int) -> Iterator[list]:
    """The rows in lists of at most so many."""
    while batch := list(islice(rows, size)):
        yield batch


def _reset_sequences(apps: Apps) -> None:
    from django.core.management.color import no_style

    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), list(tables(apps))):
            cursor.execute(statement)


def tables(apps: Apps) -> list[type[models.Model]]:
    """The tables of these models but LEFT_OUT, by name."""
    found = {model._meta.label_lower: model for model in apps.get_models(include_auto_created=True)
             if model._meta.managed and not model._meta.proxy}
    return [found[label] for label in sorted(found.keys() - LEFT_OUT)]
