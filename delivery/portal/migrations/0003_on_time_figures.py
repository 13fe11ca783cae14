from django.db import migrations, models


def remove_accepted(apps, schema_editor):
    """Figures of acceptances by quarter, which "due" and "in_time" replace; `prepare` makes those."""
    apps.get_model("portal", "ChartFigure").objects.filter(
        chart__in=("accepted", "on_time")).delete()


class Migration(migrations.Migration):

    dependencies = [
        ("portal", "0002_chart_figures"),
    ]

    operations = [
        migrations.AlterField(
            model_name="chartfigure",
            name="chart",
            field=models.CharField(choices=[
                ("pipeline", "Pipeline"), ("value", "Value"), ("planned", "Planned"),
                ("used", "Used"), ("due", "Due"), ("in_time", "In Time"),
                ("verdicts", "Verdicts")], max_length=10),
        ),
        migrations.RunPython(remove_accepted, migrations.RunPython.noop),
    ]
