"""The leases of cards that were there before the audit log tracked them."""

from itertools import islice

from django.db import migrations

from engagements.audit.migrated_rows import BATCH, record_rows


def record(apps, _schema_editor) -> None:
    table = apps.get_model("workers", "CardLease")
    keys = table._base_manager.order_by("pk").values_list("pk", flat=True).iterator()
    while batch := list(islice(keys, BATCH)):
        record_rows(apps, table, batch, "cards.leases_recorded")


class Migration(migrations.Migration):
    dependencies = [("workers", "0036_node_troubles"),
                    ("engagements", "0019_audit_chain_end")]

    operations = [migrations.RunPython(record, migrations.RunPython.noop)]
