"""Measurements and verdicts that are there already and that rest on practice data are practice."""

from django.db import migrations
from django.db.models import Q

from engagements.audit.migrated_rows import BATCH, record_rows, update_rows

ACTION = "practice.mark"


def mark(apps, _schema_editor) -> None:
    measurements, verdicts = (apps.get_model("assessments", name).objects
                              for name in ("Measurement", "Verdict"))
    update_rows(apps, measurements.filter(artifact__is_practice=True, is_practice=False), ACTION,
                is_practice=True)
    update_rows(apps, verdicts.filter(
        Q(measurement__is_practice=True) | Q(criterion__baseline__artifact__is_practice=True),
        is_practice=False), ACTION, is_practice=True)
    _mark_verdicts_on_several_runs(apps, verdicts.filter(
        is_practice=False, facts__runs__1__isnull=False).order_by("pk"))


def _mark_verdicts_on_several_runs(apps, verdicts) -> None:
    files, last = apps.get_model("workers", "Artifact").objects, 0
    while batch := list(verdicts.filter(pk__gt=last)[:BATCH]):
        last = batch[-1].pk
        runs = {row.pk: {run.get("artifact") for run in row.facts["runs"]} for row in batch}
        practice = set(files.filter(pk__in=set().union(*runs.values()), is_practice=True)
                       .values_list("pk", flat=True))
        if keys := [pk for pk, artifacts in runs.items() if artifacts & practice]:
            verdicts.model.objects.filter(pk__in=keys).update(is_practice=True)
            record_rows(apps, verdicts.model, keys, ACTION)


class Migration(migrations.Migration):
    dependencies = [("assessments", "0013_fill_engagement_of_comparisons"),
                    ("workers", "0031_mark_practice_jobs")]

    operations = [migrations.RunPython(mark, migrations.RunPython.noop)]
