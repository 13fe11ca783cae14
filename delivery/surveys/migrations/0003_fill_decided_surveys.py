"""The surveys on which somebody has decided already."""

from django.db import migrations


def fill(apps, _schema_editor) -> None:
    decided = apps.get_model("surveys", "Decision").objects.values("survey")
    apps.get_model("surveys", "Survey").objects.filter(pk__in=decided).update(is_decided=True)


class Migration(migrations.Migration):
    dependencies = [("surveys", "0002_decided_surveys")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
