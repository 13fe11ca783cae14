from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("assessments", "0017_purposes_of_source_files"),
    ]

    operations = [
        migrations.AlterField(
            model_name="verdict",
            name="outcome",
            field=models.CharField(
                choices=[("passed", "Passed"),
                         ("failed", "Failed"),
                         ("not_measured", "Not measured"),
                         ("not_provable", "Not provable")],
                max_length=14, verbose_name="verdict"),
        ),
    ]
