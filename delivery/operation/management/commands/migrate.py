"""Django's `migrate`, which makes an empty database of the models instead of its whole history."""

from django.core.management.commands import migrate
from django.db import connections

from delivery.operation.new_tables import make_tables

OTHER_PURPOSES = ("app_label", "migration_name", "fake", "fake_initial", "plan", "check_unapplied",
                  "run_syncdb", "prune")


class Command(migrate.Command):
    """On an empty database the tables are made of the models and each migration is marked as
    applied: a tenth of the processor time of running them. Every other database is migrated as
    ever. `tests/test_migrations.py` holds that both ways end in the same tables and rows.
    """

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("--one-by-one", action="store_true",
                            help="Run each migration on an empty database too.")

    def handle(self, *args, one_by_one, **options):
        connection = connections[options["database"]]
        is_plain = not (one_by_one or any(options[name] for name in OTHER_PURPOSES))
        if is_plain and not connection.introspection.table_names():
            make_tables(connection)
        return super().handle(*args, **options)
