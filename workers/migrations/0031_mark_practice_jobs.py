"""Jobs that are there already and that were made from practice data are practice, and so is what
they left."""

from django.db import migrations
from django.db.models import Exists, OuterRef, Q

from engagements.audit.migrated_rows import update_rows

ACTION = "practice.mark"


def mark(apps, _schema_editor) -> None:
    jobs, files = (apps.get_model("workers", name).objects for name in ("Job", "Artifact"))
    practice = files.filter(is_practice=True, engagement=OuterRef("engagement"),
                            created_at__lte=OuterRef("created_at"))
    from_practice = jobs.filter(
        Q(inputs__artifact__is_practice=True) | Q(inputs__source_job__is_practice=True)
        | Q(inputs__source_node__is_practice=True) | Q(Exists(practice), kind="evi.bundle"),
        is_practice=False)
    left = files.filter(job__is_practice=True, is_practice=False)
    # What a job left is the input of others.
    while update_rows(apps, from_practice, ACTION, is_practice=True) + update_rows(
            apps, left, ACTION, is_practice=True):
        pass
    update_rows(apps, apps.get_model("engagements", "Engagement").objects.filter(
        artifacts__is_practice=True, has_practice_data=False), ACTION, has_practice_data=True)


class Migration(migrations.Migration):
    dependencies = [("workers", "0030_fill_inputs_read_in_place")]

    operations = [migrations.RunPython(mark, migrations.RunPython.noop)]
