"""A database of a released version as one file that both back ends load.

The file is gzip of JSON lines: first the migrations that had been applied, then one row each as
[table's label, {column: value}]. Rows are written through the models of that version, so the file
stays good when today's models have other columns.

It is made by tests/delivery/evidence/verification/write_release_dump.py.
"""

import gzip
import json
from base64 import b64encode
from collections.abc import Iterator
from datetime import datetime
from itertools import groupby
from pathlib import Path

from django.apps import apps
from django.apps.registry import Apps
from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection, models, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

LEFT_OUT = {"sessions.session", "axes.accessattempt", "axes.accesslog", "axes.accessfailurelog",
            "contenttypes.contenttype", "auth.permission"}  # made anew, or of no value later
BATCH = 500
Migrations = list[tuple[str, str]]


class ExactEncoder(DjangoJSONEncoder):
    """Django's drops the microseconds of an instant."""

    def default(self, value):
        return value.isoformat() if isinstance(value, datetime) else super().default(value)


def dump(path: Path) -> dict[str, int]:
    """Write the database in use to a file; the number of rows of each table.

    Rows without a value for later (LEFT_OUT) stay away.
    """
    applied = sorted(MigrationLoader(None).graph.nodes)
    counts = {}
    with gzip.GzipFile(path, "wb", mtime=0) as stream:
        stream.write(json.dumps(applied).encode() + b"\n")
        for table in tables(apps):
            counts[table._meta.label_lower] = 0
            for row in table._base_manager.order_by("pk").values_list(
                    *(field.attname for field in table._meta.concrete_fields)).iterator():
                stream.write(_line(table, row))
                counts[table._meta.label_lower] += 1
    return counts


def _line(table: type[models.Model], row: tuple) -> bytes:
    values = {field.attname: b64encode(value).decode()
              if isinstance(value, bytes | memoryview) else value
              for field, value in zip(table._meta.concrete_fields, row, strict=True)}
    text = json.dumps([table._meta.label_lower, values], cls=ExactEncoder,
                      ensure_ascii=False)
    return text.encode() + b"\n"


def load(path: Path) -> None:
    """Migrate an empty database to the file's migrations and write its rows.

    Foreign keys are checked when the transaction ends.
    """
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        released = _migrated([tuple(entry) for entry in json.loads(next(stream))])
        with transaction.atomic():
            for label, rows in groupby(map(json.loads, stream), key=lambda row: row[0]):
                _write(released.get_model(label), (values for _label, values in rows))
    _reset_sequences(released)


def _migrated(applied: Migrations) -> Apps:
    """The models as the last of these migrations left them, with their tables."""
    executor = MigrationExecutor(connection)
    known = set(applied) & set(executor.loader.graph.nodes)
    last = [entry for entry in sorted(known) if not any(
        child.key in known and child.key[0] == entry[0]
        for child in executor.loader.graph.node_map[entry].children)]
    executor.migrate(last)
    state = MigrationExecutor(connection).loader.project_state(last)
    for label in LEFT_OUT & {model._meta.label_lower for model in state.apps.get_models()}:
        state.apps.get_model(label)._base_manager.all().delete()
    return state.apps


def _write(table: type[models.Model], rows: Iterator[dict]) -> None:
    for field in table._meta.concrete_fields:
        field.auto_now = field.auto_now_add = False  # the stored instant stays
    table._base_manager.all().delete()  # what a migration put in
    batch = []
    for values in rows:
        batch.append(table(**{field.attname: field.to_python(values[field.attname])
                              for field in table._meta.concrete_fields}))
        if len(batch) == BATCH:
            table._base_manager.bulk_create(batch)
            batch = []
    table._base_manager.bulk_create(batch)


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
