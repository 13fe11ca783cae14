"""What counted as of the source platform until now is declared so: files of baselines and repeats
with all that came with them, jobs of its stages, and what was computed from nothing else."""

from django.db import migrations
from django.db.models import Exists, OuterRef, Q

from engagements.audit.migrated_rows import update_rows

ACTION, SOURCE = "purpose.declare", "source"


def declare(apps, _schema_editor) -> None:
    jobs, files, inputs = (apps.get_model("workers", name).objects
                           for name in ("Job", "Artifact", "JobInput"))
    of_baselines = files.filter(Exists(apps.get_model("assessments", "Baseline").objects.filter(
        artifact=OuterRef("pk"))) | Exists(apps.get_model("assessments", "BaselineRun").objects
                                           .filter(artifact=OuterRef("pk"))))
    update_rows(apps, of_baselines.filter(job=None).exclude(purpose=SOURCE), ACTION, purpose=SOURCE)
    update_rows(apps, jobs.filter(
        Q(stage__in=("survey", "design")) | Q(pk__in=of_baselines.values("job"))).exclude(
        purpose=SOURCE), ACTION, purpose=SOURCE)
    read = inputs.filter(job=OuterRef("pk"))
    others = read.exclude(Q(artifact__job__purpose=SOURCE) | Q(
        artifact__isnull=False, artifact__job=None, artifact__purpose=SOURCE))
    computed = jobs.filter(Exists(read), ~Exists(others), node=None, nodes_wanted=1).exclude(
        purpose=SOURCE)
    while update_rows(apps, computed, ACTION, purpose=SOURCE):
        pass


class Migration(migrations.Migration):
    dependencies = [("assessments", "0016_rule_of_runs_of_criteria"),
                    ("workers", "0039_run_purposes")]

    operations = [migrations.RunPython(declare, migrations.RunPython.noop)]
