"""The engagement of the comparisons that are there already: that of their artifact."""

from django.db import migrations
from django.db.models import Max, OuterRef, Subquery

BATCH = 20_000  # keys


def fill(apps, _schema_editor) -> None:
    comparisons = apps.get_model("assessments", "Comparison").objects
    theirs = apps.get_model("workers", "Artifact").objects.filter(pk=OuterRef("artifact"))
    last = comparisons.aggregate(last=Max("pk"))["last"] or 0
    for first in range(0, last + 1, BATCH):
        comparisons.filter(pk__range=(first, first + BATCH - 1), engagement=None).update(
            engagement=Subquery(theirs.values("engagement")))


class Migration(migrations.Migration):
    dependencies = [("assessments", "0012_comparisons_by_engagement")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
