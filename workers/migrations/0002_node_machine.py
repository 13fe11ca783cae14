from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('workers', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='node',
            name='boot_id',
            field=models.CharField(blank=True, editable=False, max_length=36),
        ),
        migrations.AddField(
            model_name='node',
            name='machine_id',
            field=models.CharField(blank=True, editable=False, max_length=64),
        ),
    ]
