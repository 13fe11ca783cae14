"""Parts that have arrived lie on the disk of one portal, where nobody looks any more."""

from django.db import migrations


def begin_again(apps, _schema_editor) -> None:
    apps.get_model("workers", "PendingUpload").objects.filter(artifact=None).update(received=0)


class Migration(migrations.Migration):
    dependencies = [("workers", "0033_upload_parts")]

    operations = [migrations.RunPython(begin_again, migrations.RunPython.noop)]
