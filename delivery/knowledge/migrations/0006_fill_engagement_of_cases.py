"""The engagement of the solved cases that are there already: of the first thing that shows each."""

from collections import defaultdict

from django.db import migrations

from engagements.audit.migrated_rows import BATCH, record_rows


def fill(apps, _schema_editor) -> None:
    table = apps.get_model("knowledge", "SolvedCase")
    shown = apps.get_model("knowledge", "CaseEvidence").objects.order_by("case", "-pk")
    first = dict(shown.values_list("case", "engagement"))  # the first one is read last
    cases = defaultdict(list)
    for case, engagement in first.items():
        if engagement:
            cases[engagement].append(case)
    for engagement, keys in cases.items():
        for start in range(0, len(keys), BATCH):
            batch = keys[start:start + BATCH]
            table.objects.filter(pk__in=batch).update(engagement=engagement)
            record_rows(apps, table, batch, "case.engagement")


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0005_approved_cases")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
