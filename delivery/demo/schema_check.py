"""Whether the tables of the database are those of this version."""

from collections.abc import Iterator
from pathlib import Path

from django.apps import apps
from django.db import connection


def differences() -> Iterator[tuple[str, str]]:
    """Columns that only the models or only the tables have, as (table, column).

    A table that is missing altogether is given with an empty column.
    """
    with connection.cursor() as cursor:
        tables = set(connection.introspection.table_names(cursor))
        for model in apps.get_models(include_auto_created=True):
            if not model._meta.managed or model._meta.proxy:
                continue
            table = model._meta.db_table
            if table not in tables:
                yield table, ""
                continue
            found = {column.name for column in
                     connection.introspection.get_table_description(cursor, table)}
            wanted = {field.column for field in model._meta.local_concrete_fields}
            for column in sorted(found ^ wanted):
                yield table, column


def sentence(found: list[tuple[str, str]]) -> str:
    """What is wrong with the database and what to do; nothing is ever deleted for the user."""
    table, column = found[0]
    what = f"column {column} of table {table}" if column else f"table {table}"
    more = f" and {len(found) - 1} more" if found[1:] else ""
    name = connection.settings_dict["NAME"]
    place = f"The file {name}" if connection.vendor == "sqlite" else f"The database {name}"
    return (f"{place} was made by another version of Delivery Desk: it differs in {what}{more}. "
            "It was left as it is. Start with an empty one: "
            f"{_empty()} ./desk run. To keep the old data, run the version that made it.")


def _empty() -> str:
    if connection.vendor == "sqlite":
        return f"DESK_VAR_DIR={Path(connection.settings_dict['NAME']).parent.name}-new"
    return "DATABASE_URL=postgresql://…/another_name"
