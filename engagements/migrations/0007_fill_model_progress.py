"""Summaries of the models that are there already."""

from django.db import migrations

DONE, LET_THROUGH = ("passed", "waived", "skipped"), ("passed", "waived")
AGEING = ("in_progress", "submitted", "sent_back")
BATCH = 500


def fill(apps, _schema_editor) -> None:
    models, progress = (apps.get_model("engagements", name)
                        for name in ("MigratedModel", "ModelProgress"))
    rows = models.objects.order_by("pk").select_related("engagement").prefetch_related(
        "stages__transitions")
    batch = []
    for model in rows.iterator(chunk_size=BATCH):
        batch.append(_summary(progress, model))
        if len(batch) == BATCH:
            progress.objects.bulk_create(batch)
            batch = []
    progress.objects.bulk_create(batch)


def _summary(progress, model):
    records = sorted(model.stages.all(), key=lambda record: record.position)
    current = next((record for record in records if record.state not in DONE), None)
    row = progress(
        model=model, engagement=model.engagement, record=current,
        in_scope=sum(record.state != "skipped" for record in records),
        passed=sum(record.state in LET_THROUGH for record in records),
        is_dropped=model.dropped_at is not None,
        is_under_way=model.dropped_at is None and model.engagement.state == "active")
    if current:
        moves = sorted(current.transitions.all(), key=lambda move: (move.at, move.pk))
        row.stage, row.state = current.stage, current.state
        row.moved_by_id = moves[-1].actor_id if moves else None
        if current.state in AGEING:
            row.open_since = (moves[-1].at if moves else current.submitted_at
                              or current.started_at or row.open_since)
    return row


class Migration(migrations.Migration):
    dependencies = [("engagements", "0006_model_progress")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
