from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("workers", "0041_alarms_said"),
    ]

    operations = [
        migrations.AlterField(
            model_name="job",
            name="state",
            field=models.CharField(
                choices=[("queued", "Queued"),
                         ("staging", "Bringing files"),
                         ("leasing", "Leasing cards"),
                         ("starting", "Starting"),
                         ("running", "Running"),
                         ("collecting", "Collecting files"),
                         ("reading", "Reading results"),
                         ("succeeded", "Ran"),
                         ("failed", "Failed"),
                         ("cancelled", "Cancelled"),
                         ("timed_out", "Timed out"),
                         ("lost", "Lost"),
                         ("unknown", "Node unreachable")],
                default="queued", max_length=12, verbose_name="state"),
        ),
    ]
