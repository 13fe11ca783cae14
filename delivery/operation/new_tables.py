"""An empty database, made of the models."""

from contextlib import contextmanager

from django.apps import apps
from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor


def make_tables(connection: BaseDatabaseWrapper) -> None:
    """Make the table of each model and mark each migration as applied, all of it or nothing.

    Args:
        connection: to a database without tables.
    """
    executor = MigrationExecutor(connection)
    with _without_key_checks(connection), transaction.atomic(using=connection.alias):
        with connection.schema_editor() as editor:
            for model in apps.get_models():
                if model._meta.can_migrate(connection):
                    editor.create_model(model)
        executor.recorder.ensure_schema()
        for migration in executor.loader.disk_migrations:
            executor.recorder.record_applied(*migration)


@contextmanager
def _without_key_checks(connection):
    """SQLite makes tables in a transaction only where foreign keys were off before it began."""
    is_off = connection.disable_constraint_checking()
    try:
        yield
    finally:
        if is_off:
            connection.enable_constraint_checking()
