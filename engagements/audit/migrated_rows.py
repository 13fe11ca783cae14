"""What a data migration writes, with its entries in the log.

Nobody tracks the historical models of migrations, and a tracked row that changes without an entry
counts as changed behind the application's back.
"""

from collections.abc import Collection

from django.apps import apps as today
from django.db import models

from engagements.audit.audit_log import link
from engagements.audit_rows.row_values import stored_rows
from engagements.audit_rows.tracking import columns_of

BATCH = 500


def update_rows(apps, rows: models.QuerySet, action: str, **values) -> int:
    """Set columns of rows in batches, one entry for each; how many rows were written.

    Args:
        apps: the migration's registry.
        rows: of a historical model; a row that holds the values is none of them any more.
    """
    table, count = rows.model._base_manager, 0
    while keys := sorted(set(rows.order_by("pk").values_list("pk", flat=True)[:BATCH])):
        table.filter(pk__in=keys).update(**values)
        record_rows(apps, rows.model, keys, action)
        count += len(keys)
    return count


def record_rows(apps, table: type[models.Model], keys: Collection[int], action: str) -> None:
    """Append an entry that holds the rows with these ascending keys as they are now."""
    chains, entries = (apps.get_model("engagements", name)._base_manager
                       for name in ("AuditChain", "AuditEntry"))
    tracked = columns_of(today.get_model(table._meta.label))
    rows = {key: tracked.logged(columns)
            for key, columns in stored_rows(table, keys, tracked.excluded)}
    chains.get_or_create(pk=1)
    chain = chains.select_for_update(of=("self",), no_key=True).get(pk=1)
    # Where the end has no seal, `migrate` verifies the log in full at its end, and seals it then.
    link(chain, entries.model(
        action=action, target_type=table._meta.label_lower, target_id=str(keys[0]),
        data={"rows": len(keys)}, rows={table._meta.label_lower: rows}))
