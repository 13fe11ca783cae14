"""Engagements whose customer has accepted a quote get the draft of their agreement: its values are
drawn from survey, quote and terms whenever it is read, until a statement of work agrees on it."""

from django.db import migrations

from engagements.audit.migrated_rows import record_rows

BATCH, ACTION = 500, "agreement.draft"


def draft(apps, _schema_editor) -> None:
    agreements, quotes = (apps.get_model(*name)._base_manager for name in (
        ("agreement", "Agreement"), ("quotes", "Quote")))
    wanted = sorted(set(quotes.filter(state="accepted").values_list("engagement_id", flat=True))
                    - set(agreements.values_list("engagement_id", flat=True)))
    for start in range(0, len(wanted), BATCH):
        made = agreements.bulk_create(
            agreements.model(engagement_id=key) for key in wanted[start:start + BATCH])
        record_rows(apps, agreements.model, sorted(row.pk for row in made), ACTION)


class Migration(migrations.Migration):
    dependencies = [("agreement", "0001_agreement"), ("quotes", "0008_auditors_among_roles")]

    operations = [migrations.RunPython(draft, migrations.RunPython.noop)]
