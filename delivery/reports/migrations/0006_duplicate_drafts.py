from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("reports", "0005_wording"),
    ]

    operations = [
        migrations.AddField(
            model_name="document",
            name="duplicate",
            field=models.PositiveSmallIntegerField(db_default=0, default=0, editable=False),
        ),
    ]
