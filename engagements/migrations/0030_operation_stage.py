"""Each model gets the record of the operation stage after acceptance: out of scope, as of a new
model."""

from django.db import migrations, models

from engagements.audit.migrated_rows import BATCH, record_rows

STAGES = [
    ("survey", "Survey"), ("design", "Design"), ("env", "Environment preparation"),
    ("train_adapt", "Training adaptation"), ("train_tune", "Training tuning"),
    ("infer_migrate", "Inference migration"), ("infer_tune", "Inference tuning"),
    ("accept", "Acceptance"), ("operation", "Integration and operation")]
ITEM = {"text": "监控指标、告警与联系人已移交客户运维",
        "text_en": "Figures, alarms and contacts handed over to the customer's operation",
        "needs_evidence": True}


def add_records(apps, _schema_editor) -> None:
    models_, records, items = (apps.get_model("engagements", name)
                               for name in ("MigratedModel", "StageRecord", "ChecklistItem"))
    without = models_._base_manager.exclude(stages__stage="operation").order_by("pk")
    while keys := list(without.values_list("pk", flat=True)[:BATCH]):
        records._base_manager.bulk_create([records(
            model_id=key, stage="operation", position=8, state="skipped") for key in keys])
        made = list(records._base_manager.filter(
            model__in=keys, stage="operation").order_by("pk").values_list("pk", flat=True))
        items._base_manager.bulk_create([items(record_id=key, **ITEM) for key in made])
        record_rows(apps, records, made, "stage.operation_added")
        record_rows(apps, items, list(items._base_manager.filter(record__in=made).order_by(
            "pk").values_list("pk", flat=True)), "stage.operation_added")


class Migration(migrations.Migration):
    dependencies = [("engagements", "0029_audience_of_tokens")]

    operations = [
        migrations.AlterField("modelprogress", "stage", models.CharField(
            blank=True, choices=STAGES, max_length=16)),
        migrations.AlterField("stagerecord", "stage", models.CharField(
            choices=STAGES, max_length=16, verbose_name="stage")),
        migrations.RunPython(add_records, migrations.RunPython.noop)]
