"""Which rows the audit log says have changed since a time."""

from datetime import datetime, timedelta

from django.db import connection, models
from django.db.models.expressions import RawSQL
from django.utils import timezone

from engagements.models import AuditArchive, AuditEntry

MOST_DAYS = 90  # each entry since then is looked into

_KEYS = {
    "postgresql": ("SELECT CAST(jsonb_object_keys({table}.rows -> %s) AS bigint)"
                   " FROM {table} WHERE {table}.at >= %s"),
    "sqlite": ("SELECT CAST(held.key AS integer) FROM {table}, json_each({table}.rows, %s) AS held"
               " WHERE {table}.at >= %s"),
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
    label = table._meta.label_lower
    path = label if connection.vendor == "postgresql" else f'$."{label}"'
    return RawSQL(_KEYS[connection.vendor].format(table=AuditEntry._meta.db_table),
                  (path, connection.ops.adapt_datetimefield_value(at)))
