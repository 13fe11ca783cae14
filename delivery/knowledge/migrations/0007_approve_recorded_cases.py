"""Whoever recorded a case before texts were approved shared it by that: it counts as approved by
them where the audit log proves that they recorded it with the text that it has today."""

from django.db import migrations

from engagements.audit.migrated_rows import record_rows
from engagements.audit_rows.row_values import plain_value
from bundle_verifier.canonical import content_hash

TABLE = "knowledge.solvedcase"
TEXTS = ("title", "diagnosis", "error_code", "operator", "tool", "log_pattern", "versions",
         "cause", "cure")


def approve(apps, _schema_editor) -> None:
    table = apps.get_model("knowledge", "SolvedCase")
    entries = apps.get_model("engagements", "AuditEntry").objects.filter(
        action="case.add", target_type=TABLE)
    for case in table.objects.filter(approved_at=None).order_by("pk").iterator():
        entry = entries.filter(target_id=str(case.pk), actor=case.recorded_by_id).first()
        if entry and _has_the_text(entry.rows.get(TABLE, {}).get(str(case.pk), {}), case):
            case.approved_by_id, case.approved_at = entry.actor_id, entry.at
            case.approved_hash = content_hash({name: getattr(case, name) for name in TEXTS}, 1)
            case.save(update_fields=["approved_by", "approved_at", "approved_hash"])
            record_rows(apps, table, [case.pk], "case.approve")


def _has_the_text(logged: dict, case) -> bool:
    return all(name in logged and logged[name] == plain_value(getattr(case, name))
               for name in TEXTS)


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0006_fill_engagement_of_cases")]

    operations = [migrations.RunPython(approve, migrations.RunPython.noop)]
