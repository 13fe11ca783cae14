"""Which rows the audit log says have changed since a time."""

from datetime import datetime, timedelta

from django.db import connection, models
from django.db.models import Func, Value
from django.db.models.expressions import RawSQL
from django.db.models.functions import Cast, Concat
from django.utils import timezone

from engagements.models import AuditArchive, AuditEntry

MOST_DAYS = 90  # each entry since then is looked into

_KEYS = {
    "postgresql": ("SELECT CAST(jsonb_object_keys({table}.rows -> %s) AS bigint)"
                   " FROM {table} WHERE {table}.at >= %s"),
    "sqlite": ("SELECT CAST(held.key AS integer) FROM {table}, json_each({table}.rows, %s) AS held"
               " WHERE {table}.at >= %s"),
}

# One object of all keys with the newest entry of each, made once per query, not once per row.
_NEWEST = {
    "postgresql": ("SELECT jsonb_object_agg(held.key, held.entry) FROM (SELECT"
                   " jsonb_object_keys({table}.rows -> %s) AS key, MAX({table}.id) AS entry"
                   " FROM {table} WHERE {table}.at >= %s GROUP BY 1) AS held"),
    "sqlite": ("SELECT json_group_object(key, entry) FROM (SELECT held.key AS key,"
               " MAX({table}.id) AS entry FROM {table}, json_each({table}.rows, %s) AS held"
               " WHERE {table}.at >= %s GROUP BY 1)"),
}


def known_from() -> datetime:
    """Since when changes can be asked for: MOST_DAYS ago, later where entries were archived."""
    known = timezone.now() - timedelta(days=MOST_DAYS)
    if AuditArchive.objects.exists():
        oldest = AuditEntry.objects.order_by("pk").values_list("at", flat=True).first()
        known = max(known, oldest or timezone.now())
    return known


def keys_changed_since(table: type[models.Model], at: datetime) -> RawSQL:
    """A query of the keys of a tracked table's rows that entries from this time on hold."""
    return _of_entries(_KEYS, table, at)


def newest_entry_since(table: type[models.Model], at: datetime) -> Cast:
    """Of a row of a tracked table the newest entry from this time on that holds it, or NULL."""
    newest, key = _of_entries(_NEWEST, table, at), Cast("pk", models.TextField())
    found = (Func(newest, key, template="(%(expressions)s)", arg_joiner=" ->> ")
             if connection.vendor == "postgresql" else
             Func(newest, Concat(Value('$."'), key, Value('"')), function="json_extract"))
    return Cast(found, models.BigIntegerField())


def _of_entries(texts: dict[str, str], table: type[models.Model], at: datetime) -> RawSQL:
    label = table._meta.label_lower
    path = label if connection.vendor == "postgresql" else f'$."{label}"'
    return RawSQL(texts[connection.vendor].format(table=AuditEntry._meta.db_table),
                  (path, connection.ops.adapt_datetimefield_value(at)), models.TextField())
