"""The library of measured figures reads everything again: which figures are practice data, and
which are the target platform's, is known better now."""

from django.db import migrations


def read_anew(apps, _schema_editor) -> None:
    apps.get_model("knowledge", "FiguresRead").objects.update(measurement=0, verdict=0, baseline=0)


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0003_wording"),
                    ("assessments", "0014_mark_practice_readings")]

    operations = [migrations.RunPython(read_anew, migrations.RunPython.noop)]
