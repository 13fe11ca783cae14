"""The engagement of the readings that are there already: that of their artifact."""

from django.db import migrations
from django.db.models import Max, OuterRef, Subquery

BATCH = 20_000  # keys


def fill(apps, _schema_editor) -> None:
    readings = apps.get_model("workers", "StoredReading").objects
    theirs = apps.get_model("workers", "Artifact").objects.filter(pk=OuterRef("artifact"))
    last = readings.aggregate(last=Max("pk"))["last"] or 0
    for first in range(0, last + 1, BATCH):
        readings.filter(pk__range=(first, first + BATCH - 1), engagement=None).update(
            engagement=Subquery(theirs.values("engagement")))


class Migration(migrations.Migration):
    dependencies = [("workers", "0026_readings_by_engagement")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
