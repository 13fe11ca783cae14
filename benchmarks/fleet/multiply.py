"""Copies of rows by one INSERT … SELECT per table, on PostgreSQL and SQLite.

Copy k of a row has its key plus k × stride; a reference to a copied row moves with it, a reference
to any other row stays or follows a rule. A text that must be unique gets `-k`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from django.db import connection, models

from benchmarks.fleet.template import references

# JSON of many kilobytes: whole in the newest copies, which pages are asked for; else empty.
LONG_COLUMNS = {"reports_document.snapshot", "reports_document.words",
                "workers_storedreading.values", "engagements_auditentry.rows",
                "engagements_auditentry.data", "workers_job.results"}
LONG_VALUE = 2000  # characters
FULL_COPIES = 100
SHORTEST_NAME = 16  # characters of a column that has room for a number behind the name

Rule = Callable[[str, str], str]  # (column, SQL of k) → SQL of the copy's value


@dataclass
class Copies:
    """What is copied: rows by table, how often, and rules for columns (`table.column` → SQL).

    `first`: the number of the first copy; k runs from there.
    """

    rows: dict[type[models.Model], list[int]]
    count: int
    strides: dict[type[models.Model], int]
    rules: dict[str, Rule] = field(default_factory=dict)

    def make(self) -> None:
        for model, keys in self.rows.items():
            if keys:
                self._insert(model, keys)

    def _insert(self, model: type[models.Model], keys: list[int]) -> None:
        columns = [f.column for f in model._meta.concrete_fields]
        values = [self._value(model, f) for f in model._meta.concrete_fields]
        table = model._meta.db_table
        names = ", ".join(f'"{column}"' for column in columns)
        chosen = ", ".join(map(str, keys))
        with connection.cursor() as cursor:
            cursor.execute(
                f'WITH RECURSIVE series(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM series '
                f'WHERE k < {self.count}) '
                f'INSERT INTO "{table}" ({names}) SELECT {", ".join(values)} '
                f'FROM "{table}" AS t CROSS JOIN series '
                f'WHERE t."{model._meta.pk.column}" IN ({chosen})')

    def _value(self, model: type[models.Model], column: models.Field) -> str:
        name = f't."{column.column}"'
        rule = self.rules.get(f"{model._meta.db_table}.{column.column}")
        if rule:
            return rule(name, "series.k")
        if column.primary_key and not column.is_relation:
            return f"{name} + series.k * {self.strides[model]}"
        if column.is_relation:
            return self._reference(column, name)
        if self._is_name(column) and self._must_differ(model, column):
            return f"substr({name}, 1, {column.max_length - 8}) || '-' || series.k"
        if f"{model._meta.db_table}.{column.column}" in LONG_COLUMNS:
            return self._shortened(column, name)
        return name

    def _reference(self, column: models.ForeignKey, name: str) -> str:
        by_target = self.rules.get(column.related_model._meta.db_table)
        if by_target:
            return by_target(name, "series.k")
        if column.related_model not in self.rows:
            return name
        inside = ", ".join(map(str, self.rows[column.related_model]))
        moved = f"{name} + series.k * {self.strides[column.related_model]}"
        return f"CASE WHEN {name} IN ({inside}) THEN {moved} ELSE {name} END"

    def _is_name(self, column: models.Field) -> bool:
        return isinstance(column, models.CharField) and not column.choices and (
            column.max_length >= SHORTEST_NAME)

    def _must_differ(self, model: type[models.Model], column: models.Field) -> bool:
        """Whether the text is unique alone, or in a group in which no reference moves."""
        moving = {field.name for field in references(model) if field.related_model in self.rows}
        groups = [constraint.fields for constraint in model._meta.constraints
                  if isinstance(constraint, models.UniqueConstraint)]
        return (column.unique and not column.primary_key) or any(
            column.name in group and not moving & set(group) for group in groups)

    def _shortened(self, column: models.JSONField, name: str) -> str:
        text = f"{name}::text" if connection.vendor == "postgresql" else name
        empty = "'[]'" if column.default is list else "'{}'"
        empty += "::jsonb" if connection.vendor == "postgresql" else ""
        is_long = f"length({text}) > {LONG_VALUE}"
        return (f"CASE WHEN series.k < {self.count - FULL_COPIES} AND {is_long} "
                f"THEN {empty} ELSE {name} END")


@contextmanager
def without_reference_checks() -> Iterator[None]:
    """Rows refer to rows that come later in the same filling."""
    is_postgresql = connection.vendor == "postgresql"
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica" if is_postgresql
                       else "PRAGMA foreign_keys = OFF")
        yield
        cursor.execute("SET session_replication_role = origin" if is_postgresql
                       else "PRAGMA foreign_keys = ON")


def after_the_last(model: type[models.Model]) -> int:
    """A number above every key of the table."""
    last = models.QuerySet(model).aggregate(last=models.Max("pk"))["last"]
    return (last or 0) + 1
