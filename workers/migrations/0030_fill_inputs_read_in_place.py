"""The inputs of jobs that are there already and that were read where they are kept: stored files
that parameters name by number, and the job that a repetition repeats."""

from django.db import migrations

from engagements.audit.migrated_rows import record_rows

BATCH = 500
FILES = {"acc.loss_compare": ("baseline", "candidate"), "perf.throughput": ("log",),
         "perf.scaling": ("one", "many"), "perf.mfu": ("log",), "perf.mbu": ("result",)}
REPETITION = "evi.rerun"


def fill(apps, _schema_editor) -> None:
    jobs, files, inputs = (apps.get_model("workers", name).objects
                           for name in ("Job", "Artifact", "JobInput"))
    asked = jobs.filter(kind__in=[*FILES, REPETITION], inputs=None, gang=None).order_by("pk")
    last = 0
    while batch := list(asked.filter(pk__gt=last)[:BATCH]):
        last = batch[-1].pk
        numbers = {(job, name): job.parameters.get(name) for job in batch
                   for name in FILES.get(job.kind, ("job",))}
        known = {number for number in numbers.values() if isinstance(number, int)}
        found, first = files.in_bulk(known), jobs.in_bulk(known)
        made = inputs.bulk_create(filter(None, (
            _of_job(inputs.model, job, first.get(number)) if job.kind == REPETITION
            else _of_file(inputs.model, job, name, found.get(number))
            for (job, name), number in numbers.items())))
        if made:
            record_rows(apps, inputs.model, [row.pk for row in made], "job.inputs_recorded")


def _of_file(table, job, name, file):
    if file is None or file.engagement_id not in (None, job.engagement_id):
        return None
    return table(job=job, slot=name, reference=f"desk:file/{file.pk}", artifact=file,
                 name=file.name.rsplit("/", 1)[-1], way="in_place", files=1, size=file.size,
                 arrived=file.size)


def _of_job(table, job, first):
    if first is None or first.engagement_id != job.engagement_id:
        return None
    return table(job=job, slot="job", reference=f"desk:job/{first.pk}", source_job=first,
                 name=f"job-{first.pk}", way="in_place")


class Migration(migrations.Migration):
    dependencies = [("workers", "0029_reading_requests"),
                    ("engagements", "0018_english_names_of_people")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
