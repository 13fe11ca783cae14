"""What an entry of the audit log says: facts, and the rows it holds with their values before."""

from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.utils.translation import gettext_lazy as _

from delivery.portal.audit.table_names import table_name
from engagements.audit import log_extracts
from engagements.models import AuditEntry, User

MOST_ROWS = 20  # shown of an entry: the values before are looked for row by row


@dataclass(frozen=True)
class RowChange:
    """A row that an entry holds. `was`: the entry that spoke of it before; None for a new one, or
    where that entry is archived. `columns`: label, value before, value now."""

    table: str
    key: str
    was: int | None
    is_removed: bool
    columns: list[tuple[str, Any, Any]]


def withhold(user: User, entries: list[AuditEntry]) -> None:
    """Take from confidential entries what an auditor does not read; `is_withheld` says so."""
    for entry in entries:
        entry.is_withheld = user.is_outside and not log_extracts.is_open(entry)
        if entry.is_withheld:
            entry.target_label, entry.target_id, entry.data, entry.rows = "", "", {}, {}


def facts_of(entry: AuditEntry) -> list[tuple[str, Any, Any]]:
    """Name, value before and value of what the entry's data says; before: where it is a pair."""
    named = [pair for name, value in sorted(entry.data.items())
             for pair in (value.items() if isinstance(value, dict) else [(name, value)])]
    return [(name, *(value if isinstance(value, list) and len(value) == 2 else (None, value)))
            for name, value in named]


def changes_of(entry: AuditEntry) -> list[RowChange]:
    """The first MOST_ROWS rows of the entry, with what changed in them."""
    rows = [(label, key, now) for label, found in entry.rows.items() for key, now in found.items()]
    return [_change(entry, *row) for row in rows[:MOST_ROWS]]


def _change(entry: AuditEntry, label: str, key: str, now: dict | None) -> RowChange:
    before = AuditEntry.objects.filter(
        pk__lt=entry.pk, engagement=entry.engagement_id,
        **{f"rows__{label}__has_key": key}).order_by("-pk").first()
    old = (before and before.rows[label][key]) or {}
    return RowChange(_table_label(label), key, before and before.pk, now is None, [
        (_column_label(label, name), old.get(name), value)
        for name, value in sorted((now or {}).items())
        if old.get(name) != value and (old or value not in (None, "", {}, []))])


def _table_label(label: str) -> str:
    try:
        return table_name(str(apps.get_model(label)._meta.verbose_name))
    except LookupError:  # a table of an older version
        return label


def _column_label(label: str, name: str) -> str:
    try:
        columns = apps.get_model(label)._meta.concrete_fields
    except LookupError:
        return name
    return next((str(column.verbose_name) for column in columns if column.attname == name), name)


NOT_SHOWN = _("Contents are withheld: prices, costs, internal notes and people's data are not part "
              "of an audit. Number, time, action and hash stand in the log.")
